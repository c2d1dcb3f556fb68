"""Transfer encodings are undone, however damaged they arrive."""

import base64
import binascii
import quopri

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.transfer import decode_transfer, encoding_name

OCTETS = st.binary(max_size=300)


@pytest.mark.parametrize(
    ("encoded", "octets"),
    [
        (b"aGVsbG8=", b"hello"),
        (b"aGVs\r\nbG8=\r\n", b"hello"),
        (b"aGVsbG8", b"hello"),
        (b"aGVs!b G8=", b"hello"),
        (b"aGVsbG8=\r\nd29ybGQ=", b"helloworld"),
        (b"aGVsbG8hIQ==aGk=", b"hello!!hi"),
        (b"aGVsbG8hQ", b"hello!"),
        (b"aGVsbG8=\r\n\r\n-- \r\nfooter of a list, no base64!", b"hello"),
        (b"aGVsbG8h\r\n\r\n_____\r\nfooter of a list", b"hello!"),
        (b"aGVsbG8h\r\n--\r\nfooter, plain", b"hello!"),
        (b"", b""),
        (b"====", b""),
        (b"=", b""),
    ],
)
def test_base64(encoded: bytes, octets: bytes) -> None:
    assert decode_transfer(encoded, "base64") == octets


@pytest.mark.parametrize(
    ("encoded", "octets"),
    [
        (b"a=3Db=3db", b"a=b=b"),
        (b"soft=\r\nbreak", b"softbreak"),
        (b"soft= \t\r\nbreak=\nagain", b"softbreakagain"),
        (b"trailing \t\r\nblanks  ", b"trailing\r\nblanks"),
        (b"=20\r\n", b" \r\n"),
        (b"100=ZZ % =3d", b"100=ZZ % ="),
        (b"==41", b"=A"),
        (b"a=\rb", b"a=\rb"),
        (b"end=", b"end"),
        (b"end=4", b"end=4"),
        (b"a_b", b"a_b"),
        (b"\xc3\xa9", b"\xc3\xa9"),
    ],
)
def test_quoted_printable(encoded: bytes, octets: bytes) -> None:
    assert decode_transfer(encoded, "quoted-printable") == octets


@pytest.mark.parametrize(
    "encoded",
    [
        b"begin 644 cat.txt\r\n#0V%T\r\n`\r\nend\r\n",
        b"preamble\nbegin 644 cat\n#0V%T\n \nend\nepilogue",
        b"#0V%T\n",
        b"begin-base64 644 cat.txt\nQ2F0\n====\n",
    ],
)
def test_uuencode(encoded: bytes) -> None:
    assert decode_transfer(encoded, "x-uuencode") == b"Cat"


def test_a_line_of_uuencode_that_is_broken_loses_only_itself() -> None:
    assert decode_transfer(b"begin 644 x\n#0V%T\n#\xff\xff\xff\xff\n#0V%T\nend\n", "uuencode") == b"CatCat"


@pytest.mark.parametrize(
    ("encoding", "octets"), [(" BASE64 ", b"Cat"), ("7bit", b"Q2F0"), ("8-bit", b"Q2F0"), ("", b"Q2F0")]
)
def test_an_encoding_nobody_knows_changes_nothing(encoding: str, octets: bytes) -> None:
    assert decode_transfer(b"Q2F0", encoding) == octets


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "7bit"),
        (b"", "7bit"),
        (b" Base64 ", "base64"),
        (b'"quoted-printable"', "quoted-printable"),
        (b"8bit; x", "8bit"),
        (b"(as usual) base64 (really)", "base64"),
    ],
)
def test_the_name_of_an_encoding_is_trimmed(value: bytes | None, name: str) -> None:
    assert encoding_name(value) == name


@given(OCTETS)
def test_what_python_encodes_is_decoded(octets: bytes) -> None:
    assert decode_transfer(base64.encodebytes(octets), "base64") == octets
    text = octets.replace(b"\r", b"")  # of line ends that are mixed Python's encoder makes one kind
    assert decode_transfer(quopri.encodestring(text, quotetabs=True), "quoted-printable") == text
    lines = b"".join(binascii.b2a_uu(octets[at : at + 45]) for at in range(0, len(octets), 45))
    assert decode_transfer(b"begin 644 x\n" + lines + b"`\nend\n", "x-uue") == octets


@given(OCTETS, st.integers(0, 400))
def test_base64_cut_anywhere_gives_the_beginning(octets: bytes, length: int) -> None:
    cut = decode_transfer(base64.encodebytes(octets)[:length], "base64")
    assert octets.startswith(cut)
    assert len(cut) >= min(length - length // 77 - 4, len(octets)) * 3 // 4 - 3


@given(st.binary(max_size=200), st.sampled_from(["base64", "quoted-printable", "x-uuencode", "x"]))
def test_any_octets_are_decoded_to_no_more_than_they_are(octets: bytes, encoding: str) -> None:
    assert len(decode_transfer(octets, encoding)) <= len(octets) + 1
