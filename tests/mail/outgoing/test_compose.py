"""A message that is meant becomes octets that say it, and nothing else."""

import re
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.base.errors import GatewayError
from postroom.mail.filename import safe_filename
from postroom.mail.header import decode_words, parse_fields, split
from postroom.mail.lines import one_line
from postroom.mail.outgoing.address import of_parts, read_addresses, strict_address
from postroom.mail.outgoing.check import CompositionFault, check
from postroom.mail.outgoing.compose import checked, compose, new_message_id
from postroom.mail.outgoing.file import outgoing_file
from postroom.mail.outgoing.model import Outgoing, OutgoingFile
from postroom.mail.parse import assemble, leaf_octets, split_message

SENDER = strict_address("Ana <ana@example.org>")
ID = new_message_id(SENDER, UUID(int=7))
NOW = datetime(2026, 3, 3, 9, 5, 7, tzinfo=UTC)
PLAIN = Outgoing(SENDER, read_addresses("bo@example.com", "to"), subject="Hello", text="Hi.", message_id=ID, date=NOW)


def values(octets: bytes) -> dict[str, str]:
    return {field.name: field.value.decode() for field in parse_fields(split(octets)[0])}


def test_an_ordinary_message_is_as_plain_as_it_can_be() -> None:
    assert compose(PLAIN) == (
        b"From: Ana <ana@example.org>\r\nTo: bo@example.com\r\nSubject: Hello\r\n"
        b"Date: Tue, 03 Mar 2026 09:05:07 +0000\r\nMessage-ID: <00000000000000000000000000000007@example.org>\r\n"
        b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n"
        b"\r\nHi.\r\n"
    )


def test_the_same_message_is_always_the_same_octets() -> None:
    meant = replace(PLAIN, html="<p>Hi", files=(outgoing_file("a.pdf", b"%PDF"),))
    assert compose(meant) == compose(meant)


def test_the_date_is_in_utc_wherever_the_clock_stands() -> None:
    there = replace(PLAIN, date=datetime(2026, 3, 3, 23, 0, tzinfo=timezone(timedelta(hours=-5))))
    assert values(compose(there))["Date"] == "Wed, 04 Mar 2026 04:00:00 +0000"


def test_bcc_stands_in_a_draft_and_never_on_the_wire() -> None:
    meant = replace(PLAIN, bcc=read_addresses("boss@example.net", "bcc"))
    assert b"boss@example.net" not in compose(meant)
    assert values(compose(meant, draft=True))["Bcc"] == "boss@example.net"
    assert [one.address for one in meant.recipients] == ["bo@example.com", "boss@example.net"]


def test_a_message_for_bcc_alone_says_that_its_recipients_are_undisclosed() -> None:
    meant = replace(PLAIN, to=(), bcc=read_addresses("boss@example.net", "bcc"))
    octets = compose(meant)
    assert values(octets)["To"] == "undisclosed-recipients:;"
    check(octets, meant)


@pytest.mark.parametrize(
    "subject",
    [
        "Re: x\r\nBcc: evil@attacker.example",
        "x\nBcc: evil@attacker.example",
        "x\rBcc: evil@attacker.example",
        "x\x00y",
        "x\u2028Bcc: evil@attacker.example",
        "x\x85y",
        "tab\there",
        "x\ud800",
        "s" * 2_001,
    ],
)
def test_a_subject_of_more_than_one_plain_line_is_refused(subject: str) -> None:
    with pytest.raises(GatewayError) as told:
        checked(replace(PLAIN, subject=subject))
    assert told.value.details["argument"] == "subject"


def test_a_subject_loses_byte_order_marks_which_decoders_drop_from_encoded_words() -> None:
    assert checked(replace(PLAIN, subject="\ufeffGr\ufeffüße")).subject == "Grüße"


VECTORS = [
    "Re: =?utf-8?q?x=0D=0ABcc:_evil@attacker.example?=",
    "=?utf-8?b?eA0KQmNjOiBldmlsQGF0dGFja2VyLmV4YW1wbGU=?=",
    "=?utf-8?q?x?= =?utf-8?q?=0D=0ABcc:_evil@attacker.example?=",
    "=?us-ascii?Q?=0ABcc=3A evil@attacker.example?=",
    "=?utf-8?q?unfinished",
    "a =?utf-8?q?=0D?= b",
    "=?iso-8859-1?q?=85Bcc:_evil?=",
    "=?utf-8*en?q?=0D=0AX-Evil:_1?=",
]


@pytest.mark.parametrize("text", VECTORS)
def test_encoded_words_that_a_caller_writes_are_text_and_never_decoded_to_a_field(text: str) -> None:
    meant = checked(replace(PLAIN, subject=text, to=(of_parts(text.replace("@", " "), "bo@example.com"),)))
    octets = compose(meant)
    check(octets, meant)
    assert "Bcc" not in values(octets)
    assert "X-Evil" not in values(octets)
    assert decode_words(values(octets)["Subject"].encode()) == text


@pytest.mark.parametrize("text", VECTORS)
def test_encoded_words_in_a_file_name_stay_in_it(text: str) -> None:
    try:
        file = outgoing_file(text, b"x")
    except GatewayError:
        return
    meant = replace(PLAIN, files=(file,))
    check(compose(meant), meant)


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ('a.pdf"\r\nX-Evil: 1\r\n\r\n<script>', "text/html"),
        ("a.pdf", "text/html\r\nX-E: 2"),
        ("../a.pdf", None),
        ("", None),
        ("a.pdf", "multipart/mixed"),
        ("a.pdf", "pdf"),
        ("a.pdf", "text/plain; charset=utf-8; x=y"),
        ("invoice\u202efdp.exe", None),
    ],
)
def test_a_file_name_or_type_that_says_more_than_that_is_refused(name: str, type_: str | None) -> None:
    with pytest.raises(GatewayError) as told:
        outgoing_file(name, b"x", type_)
    assert told.value.details["argument"] == "attachments"


def test_types_come_from_the_name_and_texts_say_their_charset() -> None:
    assert outgoing_file("a.pdf", b"%PDF").content_type == "application/pdf"
    assert outgoing_file("a.csv", "é".encode()).content_type == "text/csv; charset=utf-8"
    assert outgoing_file("a.csv", b"\xe9").content_type == "text/csv"
    assert outgoing_file("a", b"x").content_type == "application/octet-stream"
    assert outgoing_file("a", b"x", 'Text/CSV; Charset="UTF-8"').content_type == "text/csv; charset=utf-8"


def test_readers_without_rfc_2231_see_a_name_that_looks_alike() -> None:
    octets = compose(replace(PLAIN, files=(outgoing_file("Größe.pdf", b"x"),)))
    assert b'filename="Gro_e.pdf"' in octets
    assert b"filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf" in octets


@pytest.mark.parametrize("argument", ["text", "html"])
@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_a_body_with_nul_or_half_a_character_is_refused(argument: str, text: str) -> None:
    with pytest.raises(GatewayError) as told:
        checked(replace(PLAIN, **{argument: text}))
    assert told.value.details["argument"] == f"body_{argument}"


def test_dots_from_lines_and_bare_line_ends_are_one_body() -> None:
    text = ".\n.start\nmiddle\n..\r\n.\r\nMAIL FROM:<evil@attacker.example>\r\nFrom here\nend\rcr\n"
    octets = compose(replace(PLAIN, text=text))
    body = split(octets)[1]
    assert not re.search(rb"(?m)^(\.|From )", body)
    content = assemble(split_message(octets))
    assert content.text == re.sub(r"\r\n|\r", "\n", text)


@pytest.mark.parametrize("text", ["x" * 998, "x" * 999, "é" * 5000, "word " * 400, "x" * 77 + " \n", "日本語" * 900])
def test_no_line_is_too_long_and_no_blank_is_lost(text: str) -> None:
    octets = compose(replace(PLAIN, text=text))
    assert octets.isascii()
    assert max(map(len, octets.split(b"\r\n"))) <= 78
    assert assemble(split_message(octets)).text == text.rstrip("\n") + "\n"


def test_a_message_that_is_attached_stays_one_where_it_may_and_is_a_file_where_not() -> None:
    inner = compose(PLAIN)
    octets = compose(replace(PLAIN, files=(outgoing_file("m.eml", inner, "message/rfc822"),)))
    assert leaf_octets(octets, "2", cut=False) == inner
    assert b"Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 7bit" in octets
    lone = b"Subject: \xff\n\nbody"
    octets = compose(replace(PLAIN, files=(outgoing_file("m.eml", lone, "message/rfc822"),)))
    assert leaf_octets(octets, "2", cut=False) == lone
    assert b"Content-Type: application/octet-stream" in octets


def test_no_boundary_stands_in_what_it_bounds() -> None:
    first = compose(replace(PLAIN, files=(outgoing_file("a", b""),)))
    (boundary,) = re.findall(rb'boundary="([^"]+)"', first)
    inner = b"Subject: x\r\n\r\n--" + boundary + b"--\r\n"
    meant = replace(PLAIN, files=(outgoing_file("m.eml", inner, "message/rfc822"),))
    octets = compose(meant)
    assert boundary not in re.findall(rb'boundary="([^"]+)"', octets)
    assert leaf_octets(octets, "2", cut=False) == inner
    check(octets, meant)


def test_an_image_that_the_html_shows_stands_beside_it() -> None:
    image = outgoing_file("logo.png", b"\x89PNG", content_id="logo@x")
    meant = replace(PLAIN, html='<img src="cid:logo@x">', files=(image, outgoing_file("a.pdf", b"%PDF")))
    content = assemble(split_message(compose(meant)))
    assert [(part.filename, part.inline) for part in content.attachments] == [("logo.png", True), ("a.pdf", False)]
    check(compose(meant), meant)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=300)
LINE = TEXT.map(one_line)
NAMES = LINE.filter(lambda name: safe_filename(name) == name)
FILES = st.lists(
    st.builds(lambda name, octets: outgoing_file(name, octets), NAMES, st.binary(max_size=300)), max_size=3
)
PEOPLE = st.lists(
    st.builds(
        lambda name, local, domain: of_parts(name[:200].replace("@", ""), f"{local}@{domain}"),
        LINE,
        st.text(string.ascii_letters + string.digits + "!#$&'*+/=?^_{|}~-", min_size=1, max_size=30),
        st.sampled_from(["example.org", "bücher.example", "x.example"]),
    ),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(PEOPLE, PEOPLE, PEOPLE, LINE, st.none() | TEXT, st.none() | TEXT, FILES)
def test_whatever_is_meant_our_own_reader_gives_it_back(
    to: list[object], cc: list[object], bcc: list[object], subject: str, text: str, html: str, files: list[OutgoingFile]
) -> None:
    people = {name: tuple(some) for name, some in (("to", to), ("cc", cc), ("bcc", bcc))}
    meant = checked(replace(PLAIN, **people, subject=subject, text=text, html=html, files=tuple(files)))
    octets = compose(meant)
    check(octets, meant)
    check(compose(meant, draft=True), meant, draft=True)
    assert octets.isascii()
    content = assemble(split_message(octets))
    told = {body.is_html: body.text for body in content.bodies}
    for wanted, is_html in ((text if text is not None or html is not None else "", False), (html, True)):
        assert (told.get(is_html) is None) == (wanted is None)
        if wanted is not None:
            plain = re.sub(r"\r\n|\r", "\n", wanted)
            assert told[is_html].removesuffix("\n") == plain.removesuffix("\n")
    assert [part.filename for part in content.attachments] == [one.filename for one in files]
    for part, file in zip(content.attachments, files, strict=True):
        assert leaf_octets(octets, part.section, cut=False) == file.octets


@settings(max_examples=200, deadline=None)
@given(LINE, PEOPLE)
def test_header_lines_stay_short_and_whole(subject: str, to: list[object]) -> None:
    block = split(compose(replace(PLAIN, subject=subject, to=tuple(to))))[0]
    assert max(map(len, block.splitlines())) <= 120
    words = re.findall(rb"=\?utf-8\?[qb]\?[^?]*\?=", block)
    assert all(len(word) <= 75 for word in words)
    for word in words:
        assert "\ufffd" not in decode_words(word) or "\ufffd" in subject + "".join(map(str, to))


def test_what_was_not_meant_is_found_whatever_it_is() -> None:
    meant = replace(PLAIN, cc=read_addresses("cy@example.com", "cc"), subject="Grüße", references=("<a@b>", "<c@d>"))
    octets = compose(meant)
    check(octets, meant)
    damages = {
        "its lines": octets.replace(b"Hi.\r\n", b"Hi.\n"),
        "its header fields": octets.replace(b"Subject:", b"Bcc: evil@attacker.example\r\nSubject:"),
        "the addresses of To": octets.replace(b"bo@example.com", b"bo@example.com, evil@attacker.example"),
        "the addresses of Cc": octets.replace(b"cy@example.com", b"evil@attacker.example"),
        "the addresses of From": octets.replace(b"<ana@example.org>", b"<evil@example.org>"),
        "the subject": octets.replace(b"Subject: ", b"Subject: x"),
        "a header line that is no field": octets.replace(b"Subject:", b"no field\r\nSubject:"),
        "References": octets.replace(b"<c@d>", b"<e@f>"),
        "Message-ID": octets.replace(b"7@example.org>", b"8@example.org>"),
        "the date": octets.replace(b"09:05:07", b"09:05:08"),
        "octets beyond ASCII": octets.replace(b"Hi.", "Hí".encode()),
    }
    for what, damaged in damages.items():
        assert damaged != octets
        with pytest.raises(CompositionFault) as told:
            check(damaged, meant)
        assert told.value.what == what


def test_parts_that_were_not_meant_are_found() -> None:
    meant = replace(PLAIN, files=(outgoing_file("a.pdf", b"x"),))
    octets = compose(meant)
    with pytest.raises(CompositionFault, match="parts"):
        check(octets, replace(meant, html="<p>"))
    with pytest.raises(CompositionFault, match="names of its files"):
        check(octets.replace(b"a.pdf", b"b.exe"), meant)


def test_local_parts_beyond_ascii_stand_in_utf8_and_nothing_else_does() -> None:
    meant = replace(PLAIN, to=(strict_address("Ünal <用户@example.org>", utf8=True),), text="é")
    octets = compose(meant)
    check(octets, meant)
    assert "<用户@example.org>".encode() in octets
    assert split(octets)[1].isascii()
