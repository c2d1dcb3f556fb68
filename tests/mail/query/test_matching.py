"""Whether a message fits: yes, no, or not to be told without more of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from postroom.mail.model import Authentication, Fetched, Reading, Shown
from postroom.mail.parse import parse_head
from postroom.mail.query.matching import ROW_FIELDS, fold, matches
from postroom.mail.query.program import read_program
from postroom.mail.query.sorting import ORDERS, base_subject
from postroom.mail.query.tree import Before, HasAttachment, SentSince, Since
from postroom.mailbox.reading import _FIELDS
from postroom.policy.visibility import show

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HEAD = parse_head(
    b"From: =?utf-8?q?Ana_M=C3=BCller?= <ana@example.org>\r\n"
    b'To: "Quill, Dana" <dana@example.net>, bo@example.org\r\n'
    b"Subject: =?utf-8?b?5pWZ6IKy?= and\r\n more\r\n"
    b"Date: Sun, 1 Mar 2026 23:30:00 -0800\r\n"
)


def row(**more: object) -> Shown:
    fetched = Fetched("INBOX", 7, 17, HEAD, NOON, 1_000, frozenset({"\\Seen", "$Work"}), True)
    shown = show(replace(fetched, **more), "7-17")  # type: ignore[arg-type]
    assert shown
    return shown


def read(text: str, html: str | None = None, *, truncated: bool = False) -> Shown:
    reading = Reading((), text, html, "", "", None, (), None, Authentication(), (), (), truncated)
    return replace(row(), reading=reading)


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("FROM MÜLLER", True),
        ('FROM "Müller <ana@"', True),
        ("FROM bo", False),
        ('TO "quill, dana"', True),
        ('TO "net>bo"', False),
        ("CC ana", False),
        ("SUBJECT 教育", True),
        ('SUBJECT "and more"', True),
        ("SUBJECT utf-8", False),
        ('HEADER Cc ""', False),
        ('HEADER Date ""', True),
        ("HEADER Date Mar", True),
        ("HEADER List-Id x", None),
        ("NOT HEADER List-Id x", None),
        ("BODY x", None),
        ("TEXT 教育", True),
        ("TEXT zebra", None),
        ("OR BODY x SEEN", True),
        ("BODY x UNSEEN", False),
        ("NOT (BODY x SEEN)", None),
        ("KEYWORD $work", True),
        ("UNKEYWORD later", True),
        ("LARGER 999 SMALLER 1001", True),
        ("LARGER 1000", False),
        ("UID 1:6,8", False),
        ("UID 7:*", True),
        ("SENTON 1-Mar-2026", True),
        ("SENTON 2-Mar-2026", False),
        ("ON 1-Mar-2026", True),
    ],
)
def test_a_row_tells_what_it_can(program: str, verdict: bool | None) -> None:
    assert matches(read_program(program), row(), 7) is verdict


@pytest.mark.parametrize(
    ("program", "verdict"),
    [("BODY NEEDLE", True), ("BODY müller", False), ("TEXT müller", True), ("HEADER List-Id x", False)],
)
def test_a_message_tells_the_rest(program: str, verdict: bool) -> None:
    assert matches(read_program(program), read("A needle in hay"), 7) is verdict
    assert matches(read_program("BODY bold"), read("x", "<b>bold</b>"), 7) is True


def test_what_was_cut_off_is_unknown() -> None:
    assert matches(read_program("BODY needle"), read("hay", truncated=True), 7) is None


def test_dates_are_exact_to_the_second() -> None:
    assert matches(Since(NOON), row(), 7) is True
    assert matches(Since(NOON + timedelta(seconds=1)), row(), 7) is False
    assert matches(Before(NOON), row(), 7) is False
    assert matches(Before(NOON + timedelta(seconds=1)), row(), 7) is True


def test_what_the_server_did_not_tell_is_unknown() -> None:
    blank = row(received_at=None, size=None, has_attachments=None)
    for program in ("SINCE 1-Mar-2026", "NOT SINCE 1-Mar-2026", "LARGER 5"):
        assert matches(read_program(program), blank, 7) is None
    assert matches(HasAttachment(), blank, 7) is None
    unread = row(head=parse_head(b""), incomplete="could not be read")
    assert matches(read_program("FROM ana"), unread, 7) is None
    assert matches(SentSince(date(2026, 3, 1)), unread, 7) is None


def test_a_message_that_names_no_day_is_of_1970_as_on_dovecot() -> None:
    undated = row(head=parse_head(b"Date: whenever\r\n"))
    assert matches(read_program("SENTBEFORE 2-Jan-1970"), undated, 7) is True


@pytest.mark.parametrize(
    ("one", "other"), [("ÅNGSTRÖM", "ångström"), ("e\u0301", "É"), ("ﬁ", "FI"), ("поезд", "ПОЕЗД"), ("ǆ", "ǅ")]
)
def test_texts_are_compared_as_rfc_5051_says(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_a_row_has_the_fields_that_are_searched_in_it() -> None:
    assert set(_FIELDS.lower().split()) >= ROW_FIELDS


@pytest.mark.parametrize(
    ("subject", "base"),
    [
        ("Re: [list] Re: fwd: Plans  (fwd)", "Plans"),
        ("[fwd: Re: Plans]", "Plans"),
        ("[a] [b]", "[b]"),
        ("Re:", ""),
        ("Regards", "Regards"),
        ("re[2]: x", "x"),
        ("[" * 5_000, "[" * 1_000),
        ("(fwd) " * 100, ""),
    ],
)
def test_the_base_of_a_subject_is_what_rfc_5256_says(subject: str, base: str) -> None:
    assert base_subject(subject) == base


def test_numbers_sort_as_numbers_even_before_1970() -> None:
    early, late = row(head=parse_head(b"Date: 1 Jan 1950 00:00:00 +0000")), row()
    assert ORDERS["date"].key(early) < ORDERS["date"].key(late)
    assert ORDERS["size"].key(row(size=9)) < ORDERS["size"].key(row(size=10))
