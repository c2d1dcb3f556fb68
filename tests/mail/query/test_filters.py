"""Filter arguments: each means one condition, and a value that cannot be used is told by its argument's name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from postroom.base.errors import GatewayError
from postroom.mail.query.filters import filter_query, read_moment
from postroom.mail.query.tree import All, And, Body, Flag, HasAttachment, Header, Larger, Not, Query, Smaller, Text


@pytest.mark.parametrize(
    ("given", "query"),
    [
        ({}, All()),
        ({"from": "ana", "to": None}, Header("from", "ana")),
        ({"subject": "a", "cc": "b"}, And((Header("subject", "a"), Header("cc", "b")))),
        ({"body": "x", "text": "y"}, And((Body("x"), Text("y")))),
        ({"unseen": True}, Not(Flag("\\Seen"))),
        ({"unseen": False}, Flag("\\Seen")),
        ({"seen": False, "flagged": True}, And((Not(Flag("\\Seen")), Flag("\\Flagged")))),
        ({"has_attachment": False}, Not(HasAttachment())),
        ({"larger_than": 0, "smaller_than": 5}, And((Larger(0), Smaller(5)))),
        ({"subject": "e\u0301"}, Header("subject", "é")),
    ],
)
def test_a_filter_means_a_condition(given: dict[str, Any], query: Query) -> None:
    assert filter_query(given) == query


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-03-01", datetime(2026, 3, 1)),
        ("1-Mar-2026", datetime(2026, 3, 1)),
        ("01-MAR-2026", datetime(2026, 3, 1)),
        ("2026-03-01T10:20:30", datetime(2026, 3, 1, 10, 20, 30)),
        ("2026-03-01 10:20", datetime(2026, 3, 1, 10, 20)),
        ("2026-03-01T00:30:00+02:00", datetime(2026, 2, 28, 22, 30)),
        ("2026-03-01T00:30:00 02:00", datetime(2026, 2, 28, 22, 30)),
        ("2026-03-01T23:30:00-0800", datetime(2026, 3, 2, 7, 30)),
        ("20260301T102030Z", datetime(2026, 3, 1, 10, 20, 30)),
    ],
)
def test_a_moment_is_utc_unless_it_says_otherwise(written: str, moment: datetime) -> None:
    assert read_moment("since", written) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("from", ""),
        ("subject", "  "),
        ("text", "a\r\nA1 LOGOUT"),
        ("body", "a\0"),
        ("to", "\ud800"),
        ("cc", "x" * 1_001),
        ("since", "yesterday"),
        ("since", "2026-02-30"),
        ("before", "31-Feb-2026"),
        ("before", "1-Mär-2026"),
        ("since", "0001-01-01T00:00:00+14:00"),
        ("since", "1" * 100_000),
        ("larger_than", -1),
        ("smaller_than", 2**53),
    ],
)
def test_a_bad_value_is_told_by_its_argument(argument: str, value: Any) -> None:
    with pytest.raises(GatewayError) as told:
        filter_query({argument: value})
    assert told.value.code == "validation_error"
    assert told.value.details["argument"] == argument


def test_seen_and_unseen_at_once_is_a_mistake_that_is_heard_of() -> None:
    with pytest.raises(GatewayError, match="unseen: contradicts seen"):
        filter_query({"seen": False, "unseen": False})
    assert filter_query({"seen": True, "unseen": False}) == And((Flag("\\Seen"), Flag("\\Seen")))
