"""Header blocks are cut into fields, and words are decoded, as damaged as they come."""

import re
import time
from email.header import Header

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.header import MAX_FIELDS, decode_words, one_line, parse_fields, split, with_line_feeds
from postroom.mail.lines import plain_lines
from postroom.mail.model import Field

NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1, max_size=60)
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def values(block: bytes) -> list[tuple[str, bytes]]:
    return [(field.name, field.value) for field in parse_fields(block)]


@pytest.mark.parametrize(
    ("message", "block", "body"),
    [
        (b"A: 1\r\nB: 2\r\n\r\nbody", b"A: 1\r\nB: 2\r\n", b"body"),
        (b"A: 1\nB: 2\n\nbody", b"A: 1\nB: 2\n", b"body"),
        (b"A: 1\r\nB: 2\n\r\nbody", b"A: 1\r\nB: 2\n", b"body"),
        (b"A: 1\r\n", b"A: 1\r\n", b""),
        (b"\r\nbody", b"", b"body"),
        (b"A: 1\r\r\nB: 2\r\r\n\r\r\nbody", b"A: 1\r\r\nB: 2\r\r\n", b"body"),
        (b"A: 1\rB: 2\r\rbody\r", b"A: 1\nB: 2\n", b"body\n"),
        (b"A: 1\nbody\n\nmore", b"A: 1\nbody\n", b"body\n\nmore"),
        (b"A: 1\n \nbody at once\n", b"A: 1\n \nbody at once\n", b"body at once\n"),
        (b"body\n\nmore", b"body\n", b"body\n\nmore"),
        (b"A: 1\nno field\nSubject: 2\n\nbody", b"A: 1\nno field\nSubject: 2\n", b"body"),
        (b"A: 1\nno field\nSubject: 2\nbody", b"A: 1\nno field\nSubject: 2\nbody", b"body"),
        (b"A: 1\n--b\nSubject: 2\n\nbody", b"A: 1\n--b\nSubject: 2\n", b"--b\nSubject: 2\n\nbody"),
        (b"A: 1\n\xc3\xa9: 2\n: 3\n\nbody", b"A: 1\n\xc3\xa9: 2\n: 3\n", b"body"),
        (b"\n", b"", b""),
        (b"", b"", b""),
        (b"From ana Tue Mar  3\nA: 1\n\nbody", b"A: 1\n", b"body"),
        (b">From ana\r\n\r\nbody", b"", b"body"),
        (b"\xef\xbb\xbfA: 1\n\nbody", b"A: 1\n", b"body"),
        (b"From : ana@example.org\n\nbody", b"From : ana@example.org\n", b"body"),
    ],
)
def test_the_first_empty_line_or_what_can_be_no_field_parts_header_and_body(
    message: bytes, block: bytes, body: bytes
) -> None:
    assert split(message) == (block, body)


def test_a_folded_value_is_one_value() -> None:
    assert values(b"Subject: one\r\n two\r\n\tthree\r\nTo: x\r\n") == [
        ("Subject", b"one two\tthree"),
        ("To", b"x"),
    ]


def test_a_line_that_is_no_field_takes_nothing_else_with_it() -> None:
    assert values(b"A: 1\nno colon here\n and its folds\nB c: 2\n: 3\nD : 4\n") == [("A", b"1"), ("D", b"4")]


def test_the_number_of_fields_is_bounded() -> None:
    assert len(parse_fields(b"A: 1\n" * (MAX_FIELDS + 5))) == MAX_FIELDS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"=?utf-8?Q?Caf=C3=A9?= =?utf-8?Q?_Noir?= and =?utf-8?q?tea?=", "Café Noir and tea"),
        (b"=?UTF-8?B?0J7RgtGH0Q==?=\r\n =?utf-8?B?kdGC?=", "Отчёт"),
        (b"=?utf-8?q?=C3?= =?utf-8?b?qQ?=", "é"),
        (b"=?utf-8?B?R3LDvMOfZQ?= ok", "Grüße ok"),
        (b"x =?utf-8?q??= y", "x  y"),
        (b"=?utf-8*en?q?a?=", "a"),
        (b"pre=?utf-8?q?fix?=ed", "prefixed"),
        (b"=?iso-8859-1?Q?Svar:_#1_(?=", "Svar: #1 ("),
        (b"=?utf-8?q?two words?=", "two words"),
        (b"=?utf-8?q?why?not?=", "why?not"),
        (b"=?utf-8?q?never ends", "=?utf-8?q?never ends"),
        (b"=?utf-8?q?lost =?utf-8?q?found?=", "=?utf-8?q?lost found"),
        (b"=?utf-8?q?lost =?utf-8?q?=C3=A9?=", "=?utf-8?q?lost é"),
        (b"=?utf-8?x?what?=", "=?utf-8?x?what?="),
        (b"=?UTF-8?B?0J7RgtGH0Q==?= =?utf8?B?kdGC?=", "Отчёт"),
        (b"=?gbk?B?u+HS6bw=?= =?gb18030?B?zdKq?=", "会议纪要"),
        (b"=?utf-8?B?0J7RgtGH0?= =?utf-8?B?ZHRgg==?=", "Отчёт"),
        (b"=?utf-8?B?w6k?= =?utf-8?B?w6k?=", "éé"),
        (b"=?utf-7?Q?+AOk?= =?utf-7?Q?abc?=", "éabc"),
        (b"=?iso-2022-jp?B?GyRCNw==?= =?iso-2022-jp?B?bhsoQg==?=", "月"),
        (b"Caf\xc3\xa9", "Café"),
        (b"Caf\xe9", "Café"),
        (b"a=3Db", "a=3Db"),
    ],
)
def test_words_are_decoded_in_every_shape(value: bytes, text: str) -> None:
    assert decode_words(value.replace(b"\r\n", b"")) == text


@given(NAMES, st.sampled_from(["utf-8", "utf-16"]))
def test_a_value_that_python_encodes_is_read_back(text: str, charset: str) -> None:
    encoded = Header(text, charset, maxlinelen=60).encode(linesep="\r\n").replace("\r\n", "")
    decoded = decode_words(encoded.encode("ascii"))
    assert decoded == text or (charset == "utf-8" and encoded == text)


@given(st.binary(max_size=300))
def test_any_value_becomes_one_clean_line(value: bytes) -> None:
    text = one_line(decode_words(value))
    assert not CONTROLS.search(text)
    assert text == text.strip()


@given(st.lists(st.sampled_from([b"=?utf-8?q?", b"=?gb2312?B?", b"?=", b"=", b"?", b" ", b"=41", b"w6k=", b"\xff"])))
def test_broken_words_never_raise(pieces: list[bytes]) -> None:
    one_line(decode_words(b"".join(pieces))).encode("utf-8")


@given(st.lists(st.tuples(st.from_regex(r"[A-Za-z-]{1,20}", fullmatch=True), st.binary(max_size=40))))
def test_well_formed_fields_are_all_found(pairs: list[tuple[str, bytes]]) -> None:
    fields = [Field(name, value.translate(None, b"\r\n").strip(b" \t")) for name, value in pairs]
    block = b"".join(field.name.encode() + b": " + field.value + b"\r\n" for field in fields)
    assert list(parse_fields(block)) == fields


@given(st.binary(max_size=300))
def test_any_octets_are_split_and_parsed(message: bytes) -> None:
    block, body = split(message)
    # A body that no empty line parts from the header begins inside the block.
    assert block in with_line_feeds(message)
    assert with_line_feeds(message).endswith(body)
    assert all("\n" not in field.name and b"\n" not in field.value for field in parse_fields(block))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\nb", "a b"),
        ("a\u2028b\x0bc\x1cd\x85e", "a b c d e"),
        ("a  b", "a  b"),
        ("a \t b", "a b"),
        ("\x1b[2Ja\x07\x9b\x7f", "[2Ja"),
        ("a\x00 b", "a b"),
        ("\ud800a\udfff", "a"),
        ("\u202ea", "\u202ea"),
    ],
)
def test_a_one_line_value_has_no_controls_and_no_second_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_body_has_plain_line_ends_and_neither_nul_nor_surrogates() -> None:
    assert plain_lines("a\r\r\nb\r\nc\rd\x00\x1b[8m\ud800e") == "a\nb\nc\nd\x1b[8me"


def test_a_long_header_of_strange_lines_is_parted_in_linear_time() -> None:
    for line in (b"no field\n", b"From: a\nno field\n", b"--", b"\n--b", b"\r"):
        started = time.process_time()
        split(line * (500_000 // len(line)))
        assert time.process_time() - started < 1
