"""What is inside archives and documents is told within bounds, whatever their directories say."""

from __future__ import annotations

import io
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.inside import Inside, look_inside


def archive(*members: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    octets = io.BytesIO()
    with zipfile.ZipFile(octets, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content)
    return octets.getvalue()


def names(octets: bytes) -> list[str] | None:
    told = look_inside(octets, "application/zip").members
    return None if told is None else [member.name for member in told]


def test_members_of_an_archive_are_told_with_what_they_are() -> None:
    told = look_inside(archive(("a.txt", b"words"), ("b/c.pdf", b"%PDF-1.4")), "application/zip")
    assert told.members is not None
    assert [(one.name, one.size, one.sniffed) for one in told.members] == [
        ("a.txt", 5, "text/plain"),
        ("b/c.pdf", 8, "application/pdf"),
    ]
    assert (told.encrypted, told.macros) == (False, False)


@pytest.mark.parametrize(
    "members",
    [
        [("bomb", b"\0" * 60_000_000)],
        [(f"{number}", b"x") for number in range(101)],
        [("../up", b"x")],
        [("/etc/passwd", b"x")],
        [("C:\\x", b"x")],
        [("a/../../b", b"x")],
    ],
    ids=["expands too far", "too many", "up", "absolute", "drive", "up within"],
)
def test_what_is_over_a_bound_or_leads_elsewhere_is_unknown(members: list[tuple[str, bytes]]) -> None:
    assert names(archive(*members)) is None


def test_members_that_lie_over_each_other_are_unknown() -> None:
    whole = archive(("a", b"x" * 5_000), compression=zipfile.ZIP_STORED)
    central = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entry = whole[central:end]
    twice = bytearray(whole[:central] + entry + entry + whole[end:])
    at = twice.index(b"PK\x05\x06")
    twice[at + 8 : at + 12] = (2).to_bytes(2, "little") * 2
    twice[at + 12 : at + 16] = (2 * len(entry)).to_bytes(4, "little")
    assert names(bytes(twice)) is None


def test_a_locked_archive_and_a_document_with_programs_are_told() -> None:
    locked = bytearray(archive(("a", b"x")))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + flags] |= 1
    assert look_inside(bytes(locked), "application/zip").encrypted is True
    assert look_inside(archive(("word/vbaProject.bin", b"x")), "application/zip").macros is True


PDF = b"%PDF-1.7\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n"


def stream(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return b"3 0 obj <</Filter /FlateDecode /Length %d>> stream\n%s\nendstream endobj\n" % (len(packed), packed)


@pytest.mark.parametrize(
    ("octets", "encrypted", "macros"),
    [
        (PDF, False, False),
        (PDF + stream(b"BT (Hello) Tj ET"), False, False),
        (PDF + b"<</OpenAction 5 0 R>>", False, True),
        (PDF + b"<</S /JavaScript /JS (app.alert)>>", False, True),
        (PDF + b"<</S /J#61vaScript>>", False, True),
        (PDF + stream(b"<</S /JavaScript /JS (x)>>"), False, True),
        (PDF + b"trailer <</Encrypt 9 0 R>>", True, None),
        (PDF + stream(b"\0" * 60_000_000), False, None),
        (PDF + b"<</Type /ObjStm /Filter /LZWDecode>>", False, None),
    ],
)
def test_a_pdf_that_acts_or_is_locked_is_told(octets: bytes, encrypted: bool, macros: bool | None) -> None:
    told = look_inside(octets, "application/pdf")
    assert (told.encrypted, told.macros) == (encrypted, macros)


@given(st.binary(max_size=400), st.sampled_from(["application/pdf", "application/zip", "text/plain"]))
def test_nothing_raises(octets: bytes, sniffed: str) -> None:
    assert isinstance(look_inside(b"PK\x03\x04" + octets, sniffed), Inside)
    assert isinstance(look_inside(b"%PDF-" + octets, sniffed), Inside)
