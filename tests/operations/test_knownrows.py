"""A row told before is told again for an equal message alone, and what is held for that is little."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from postroom.mail.model import Shown
from postroom.mail.parse import parse_head
from postroom.operations import knownrows
from postroom.operations.knownrows import KnownRows
from postroom.operations.rows import brief_row, named_brief_row, row_for_program
from tests.operations.test_room import enormous

HEAD = b"From: Dana Quill <dana@example.org>\r\nSubject: Hello\r\n"


def message(uid: int = 5) -> Shown:
    return Shown(
        f"{uid}-17", "INBOX", parse_head(HEAD), None, 9, frozenset(), False, (), None, None, parse_head(HEAD).threading
    )


def test_an_equal_message_gets_the_row_that_was_made_before() -> None:
    known = KnownRows()
    assert known.row(row_for_program, "work", message()) is known.row(row_for_program, "work", message())


@pytest.mark.parametrize(
    "change",
    [
        {"flags": frozenset({"\\Seen"})},
        {"labels": ("project-x",)},
        {"received_at": datetime(2026, 3, 3, tzinfo=UTC)},
        {"head": parse_head(HEAD.replace(b"Hello", b"Hidden"))},
    ],
)
def test_a_message_that_differs_in_anything_gets_a_row_of_its_own(change: dict[str, object]) -> None:
    known, changed = KnownRows(), replace(message(), **change)
    known.row(row_for_program, "work", message())
    assert known.row(row_for_program, "work", changed) == row_for_program(changed, "work")


def test_forms_and_mailboxes_are_not_mixed_up() -> None:
    known = KnownRows()
    for make in (row_for_program, brief_row, named_brief_row):
        for mailbox in ("work", "home"):
            assert known.row(make, mailbox, message()) == make(message(), mailbox)


def test_a_large_message_is_not_held() -> None:
    known, shown = KnownRows(), replace(enormous(), reading=None)
    assert known.row(brief_row, "work", shown) is not known.row(brief_row, "work", shown)


def test_the_row_that_was_used_longest_ago_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knownrows, "MOST_ROWS", 2)
    known = KnownRows()
    first, second = (known.row(brief_row, "work", message(uid)) for uid in (1, 2))
    assert known.row(brief_row, "work", message(1)) is first
    known.row(brief_row, "work", message(3))
    assert known.row(brief_row, "work", message(1)) is first
    assert known.row(brief_row, "work", message(2)) is not second
