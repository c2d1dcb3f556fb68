"""The head of a message: first fields, clean lines, ids."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.date import format_utc
from postroom.mail.head import MAX_IDS, message_ids, parse_head
from postroom.mail.model import Address


def test_a_head_is_read_whole() -> None:
    head = parse_head(
        b"From: Dana <dana@example.org>\r\nTo: a@example.org,\r\n b@example.org\r\nCC: c@example.org\r\n"
        b"Reply-To: <>\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\n noir\r\nDate: Tue, 03 Mar 2026 09:15:00 +0100\r\n"
        b"Message-ID: <m@example.org>\r\nIn-Reply-To: <r@example.org>\r\n"
        b"References: <p@example.org>\r\n <r@example.org>\r\n"
    )
    assert head.from_ == (Address("Dana", "dana@example.org"),)
    assert [address.address for address in head.to] == ["a@example.org", "b@example.org"]
    assert [address.address for address in head.cc] == ["c@example.org"]
    assert head.reply_to == ()
    assert head.subject == "Café noir"
    assert head.date is not None
    assert format_utc(head.date) == "2026-03-03T08:15:00Z"
    assert (head.message_id, head.in_reply_to) == ("<m@example.org>", "<r@example.org>")
    assert head.references == ("<p@example.org>", "<r@example.org>")


def test_raw_words_are_in_the_charset_of_the_body() -> None:
    fields = 'From: "张伟" <zw@example.org>\nSubject: 测试\n'.encode("gbk")
    head = parse_head(fields + b"Content-Type: text/plain; charset=gb2312\n")
    assert (head.subject, head.from_) == ("测试", (Address("张伟", "zw@example.org"),))
    assert parse_head(fields).subject == "²âÊÔ"


def test_what_is_missing_is_none_or_empty() -> None:
    head = parse_head(b"")
    assert (head.subject, head.date, head.message_id, head.in_reply_to) == (None, None, None, None)
    assert (head.from_, head.to, head.cc, head.reply_to, head.references) == ((), (), (), (), ())


def test_an_empty_subject_is_not_a_missing_one() -> None:
    assert parse_head(b"Subject:\r\n").subject == ""


def test_of_a_field_that_stands_twice_the_first_counts() -> None:
    head = parse_head(
        b"subject: one\nFrom: a@example.org\nSUBJECT: two\nFrom: b@example.org\nDate: x\nDate: 3 Mar 2026 9:15 Z\n"
    )
    assert (head.subject, head.from_[0].address, head.date) == ("one", "a@example.org", None)
    assert len(head.fields) == 6


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        (b"Your note of Tuesday <a@example.org>", ("<a@example.org>",)),
        (b'"quoted <x>" <a@example.org>', ("<x>", "<a@example.org>")),
        (b"<a@example.org><b@example.org>", ("<a@example.org>", "<b@example.org>")),
        (b"<a @\texample.org>", ("<a@example.org>",)),
        (b'<a.b@mail.example" <support@mail.example>>', ("<support@mail.example>",)),
        (b"bare@example.org", ("<bare@example.org>",)),
        (b"two words", ()),
        (b"<>", ()),
        (b"", ()),
    ],
)
def test_ids_are_found_among_phrases(value: bytes, ids: tuple[str, ...]) -> None:
    assert message_ids(value) == ids


@pytest.mark.parametrize(
    ("value", "id_"),
    [
        (b"<a@example.org> <b@example.org>", "<a@example.org>"),
        (b'Message from Bo <bo@example.org> of "Fri, 02 Jan" <a@example.org>', "<a@example.org>"),
        (b"a phrase", None),
    ],
)
def test_an_address_in_a_phrase_is_not_what_was_answered(value: bytes, id_: str | None) -> None:
    assert parse_head(b"In-Reply-To: " + value + b"\r\n").in_reply_to == id_


def test_of_too_many_references_the_first_and_the_latest_are_kept() -> None:
    ids = message_ids(b" ".join(b"<%d@example.org>" % number for number in range(MAX_IDS + 100)))
    assert len(ids) == MAX_IDS
    assert (ids[0], ids[1], ids[-1]) == ("<0@example.org>", "<101@example.org>", "<1099@example.org>")


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"Subject", b"From", b"Date", b"Message-ID", b"References"]),
            st.binary(max_size=60),
        )
    )
)
def test_any_fields_give_clean_one_line_values(fields: list[tuple[bytes, bytes]]) -> None:
    head = parse_head(b"".join(name + b": " + value + b"\r\n" for name, value in fields))
    for text in (head.subject, head.message_id, *head.references, *(address.name for address in head.from_)):
        assert text is None or not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", text)


_PRINTABLE = st.characters(min_codepoint=0x20, max_codepoint=0x7E, exclude_characters="<>")


@given(st.lists(st.text(_PRINTABLE, min_size=1, max_size=20), max_size=5))
def test_ids_are_the_same_whether_written_as_usual_or_not(inner: list[str]) -> None:
    value = " ".join(f"<{text}>" for text in inner).encode()
    assert message_ids(value) == message_ids(b"a phrase " + value + b" another")
