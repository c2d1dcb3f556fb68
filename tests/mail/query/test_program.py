"""Raw IMAP search programs: every key means what RFC 9051 says, and nothing in one can become a second command."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import GatewayError
from postroom.imap.search import program as keys_of
from postroom.imap.wire import write_command
from postroom.mail.query.program import read_program
from postroom.mail.query.pushdown import split, wholly
from postroom.mail.query.tree import (
    All,
    And,
    Before,
    Body,
    Flag,
    Header,
    Larger,
    Not,
    Or,
    Query,
    SentBefore,
    SentSince,
    Since,
    Smaller,
    Text,
    Uids,
)

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("program", "query"),
    [
        ("ALL", All()),
        ("UNSEEN", Not(Flag("\\Seen"))),
        ("seen Answered", And((Flag("\\Seen"), Flag("\\Answered")))),
        ("UNDELETED UNDRAFT FLAGGED", And((Not(Flag("\\Deleted")), Not(Flag("\\Draft")), Flag("\\Flagged")))),
        ("KEYWORD $Work UNKEYWORD later", And((Flag("$Work"), Not(Flag("later"))))),
        ('FROM "a \\"b\\" \\\\"', Header("from", 'a "b" \\')),
        ("TO ana CC bo BCC cy", And((Header("to", "ana"), Header("cc", "bo"), Header("bcc", "cy")))),
        ("SUBJECT 教育", Header("subject", "教育")),
        ('HEADER List-Id ""', Header("list-id", "")),
        ('BODY x TEXT "y z"', And((Body("x"), Text("y z")))),
        ('TEXT ""', All()),
        ("LARGER 10 SMALLER 20", And((Larger(10), Smaller(20)))),
        ("SINCE 1-Mar-2026", Since(MARCH)),
        ('BEFORE "01-mar-2026"', Before(MARCH)),
        ("ON 1-Mar-2026", And((Since(MARCH), Before(datetime(2026, 3, 2, tzinfo=UTC))))),
        ("SENTON 1-Mar-2026", And((SentSince(date(2026, 3, 1)), SentBefore(date(2026, 3, 2))))),
        ("UID 5,9:7,20:*", Uids(((5, 5), (7, 9), (20, 2**32 - 1)))),
        ("OR SEEN NOT FLAGGED", Or((Flag("\\Seen"), Not(Flag("\\Flagged"))))),
        ("NOT (SEEN FLAGGED)", Not(And((Flag("\\Seen"), Flag("\\Flagged"))))),
        ("OR OR SEEN DRAFT (ANSWERED)", Or((Or((Flag("\\Seen"), Flag("\\Draft"))), Flag("\\Answered")))),
        ("(((SEEN)))", Flag("\\Seen")),
        ("FROM not NOT TO or", And((Header("from", "not"), Not(Header("to", "or"))))),
    ],
)
def test_a_key_means_what_the_standard_says(program: str, query: Query) -> None:
    assert read_program(program) == query


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("", "must not be empty"),
        ("   ", "must not be empty"),
        ("SUBJET x", "at character 1: 'SUBJET' is no search key; did you mean SUBJECT?"),
        ("SEEN 教育", "at character 6: '教育' is no search key; for a text write TEXT"),
        ('"two words"', "at character 1: a text without a key"),
        ("SEEN 1:5", "at character 6: message sequence numbers change under you; write UID"),
        ("SEEN *", "message sequence numbers"),
        ("UID 0", "UID takes uids from 1"),
        ("UID *", "the newest message is the first"),
        ("UID 1:9999999999", "UID takes uids from 1"),
        ("UID x", "UID takes uids such as"),
        ("CHARSET UTF-8 SEEN", "leave CHARSET out"),
        ("RETURN (ALL) SEEN", "leave RETURN out"),
        ("UID SEARCH SEEN", "UID takes uids such as"),
        ("SEARCH SEEN", "without a command"),
        ("X-GM-RAW x", "use FROM, SUBJECT"),
        ("RECENT", "RECENT depends on the session"),
        ("SINCE 2026-01-01", "SINCE takes a date such as 31-Jan-2026"),
        ("SINCE 31-Feb-2026", "SINCE takes a date"),
        ("SINCE 1-Mär-2026", "SINCE takes a date"),
        ("LARGER 10k", "LARGER takes a number of octets"),
        ("LARGER 99999999999999999", "LARGER takes a number"),
        ("KEYWORD a(b", "at character 11: 'b' is no search key"),
        ('KEYWORD "a(b"', "takes a keyword"),
        ("KEYWORD \\Seen", "a backslash outside quotes"),
        ("HEADER a:b x", "takes the name of a header field"),
        ("FROM", "at character 5: FROM lacks its value"),
        ("FROM (SEEN)", "FROM lacks its value"),
        ("NOT", "at character 1: NOT lacks a key after it"),
        ("SEEN OR SEEN", "OR lacks a key after it"),
        ("(SEEN", "at character 1: ( lacks its )"),
        ("SEEN)", "a ) that closes nothing"),
        ("(NOT)", "a ) that closes nothing"),
        ("()", "an empty pair of parentheses"),
        ('FROM "a', "at character 5: a quote"),
        ('FROM "a"b', "a blank is missing here"),
        ('FROM "a\\x"', "a quote"),
        ("FROM {3}", "a literal; write the text in quotes"),
        ("FROM {3}\r\nana", "a control character"),
        ("SEEN\r\nA1 LOGOUT", "at character 5: a control character"),
        ("SEEN\nA1 LOGOUT", "a control character"),
        ("FROM a\0b", "a control character"),
        ("FROM \ud800", "a control character"),
        ("(" * 65 + "SEEN" + ")" * 65, "more than 64 levels of nesting"),
        ("NOT " * 10_000 + "SEEN", "at most 16,000 characters"),
        ("NOT " * 3_000 + "SEEN", "more than 64 levels of nesting"),
        ("SEEN " * 201, "more than 200 conditions"),
        ("SEEN " * 20_000, "at most 16,000 characters"),
        (f"FROM {'x' * 1_001}", "at most 1,000 characters"),
    ],
)
def test_a_mistake_is_told_with_its_place(program: str, reason: str) -> None:
    with pytest.raises(GatewayError) as told:
        read_program(program)
    assert told.value.code == "validation_error"
    assert told.value.details["argument"] == "search"
    assert reason in told.value.message


def test_nesting_up_to_the_limit_is_taken() -> None:
    assert read_program("(" * 64 + "SEEN" + ")" * 64) == Flag("\\Seen")


WORDS = st.sampled_from(
    ["SEEN", "NOT", "OR", "(", ")", "FROM", "ana", '"x y"', '"', "\\", "{3}", "{3+}", "UID", "1:*", "*", "HEADER", "x",
     "SINCE", "1-Mar-2026", "LARGER", "7", "KEYWORD", "$a", "TEXT", "é", "\t", "\r\n", "\0", "BODY"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=30).map(" ".join)))
def test_whatever_is_written_is_refused_or_becomes_one_command(program: str) -> None:
    try:
        query = read_program(program)
    except GatewayError:
        return
    out = write_command(b"P1", "UID SEARCH", keys_of(split(query, wholly).asked), literal_plus=False)
    for number, segment in enumerate(out.segments):
        line = segment if not number else segment[int(out.segments[number - 1].rpartition(b"{")[2][:-3]) :]
        assert line.count(b"\n") == line.count(b"\r") == 1
        assert line.endswith(b"\r\n")
