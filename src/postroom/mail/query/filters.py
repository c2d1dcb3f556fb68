"""The filter arguments of search and inbox as a query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from postroom.base.errors import invalid
from postroom.mail.query.tree import (
    Before,
    Body,
    Flag,
    HasAttachment,
    Header,
    Larger,
    Not,
    Query,
    Since,
    Smaller,
    Text,
    both,
)

LONGEST_TEXT = 1_000
"""Characters of a text to look for."""
LARGEST_SIZE = 2**53 - 1
"""Octets past which a number is not exact for those who write JSON."""
_LONGEST_DATE = 64
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IMAP_DATE = re.compile(r"(\d{1,2})-([A-Za-z]{3})-(\d{4})", re.ASCII)
_LOST_PLUS = re.compile(r"(?<=:\d\d) (?=\d\d:?\d\d\Z)", re.ASCII)
"""A `+02:00` in a query string whose plus was not escaped."""


def filter_query(values: Mapping[str, Any]) -> Query:
    """The conjunction of the given filters, by argument name; None is a filter not given.

    Texts are strings, sizes numbers of octets; a false flag asks for the opposite. Raises `validation_error` naming
    the argument.
    """
    given = {name: value for name, value in values.items() if value is not None}
    if given.get("seen") is not None and given.get("seen") == given.get("unseen"):
        raise invalid("unseen", "contradicts seen; give one of them")
    return both(*(_FILTERS[name](name, value) for name, value in given.items()))


def read_text(argument: str, value: str) -> str:
    """A text to look for, in NFC. Raises `validation_error`."""
    if not value.strip():
        raise invalid(argument, "must not be empty")
    return checked_text(argument, value)


def checked_text(argument: str, value: str) -> str:
    """As `read_text`, but it may be empty."""
    if len(value) > LONGEST_TEXT:
        raise invalid(argument, f"must have at most {LONGEST_TEXT:,} characters")
    if any(letter in "\r\n\0" or "\ud800" <= letter <= "\udfff" for letter in value):
        raise invalid(argument, "must be one line of text")
    return unicodedata.normalize("NFC", value)


def read_moment(argument: str, value: str) -> datetime:
    """A date or a time in ISO 8601, or a date such as `1-Jan-2026`; UTC without a zone. Raises `validation_error`."""
    text = value.strip()
    try:
        if len(text) > _LONGEST_DATE:
            raise ValueError
        day = imap_date(text)
        moment = datetime(day.year, day.month, day.day) if day else datetime.fromisoformat(_LOST_PLUS.sub("+", text))  # noqa: DTZ001 - the zone follows
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise invalid(
            argument, "must be a date or time such as 2026-01-31, 2026-01-31T09:00:00Z or 31-Jan-2026"
        ) from None


def imap_date(text: str) -> date | None:
    """A date as IMAP writes it (RFC 9051 9, date-text), or None for another form. Raises ValueError for no such day."""
    match = _IMAP_DATE.fullmatch(text)
    if not match or match[2].lower() not in MONTHS:
        return None
    return date(int(match[3]), MONTHS.index(match[2].lower()) + 1, int(match[1]))


def _header(name: str, value: str) -> Query:
    return Header(name, read_text(name, value))


def _flag(flag: str) -> Callable[[str, bool], Query]:
    return lambda _name, wanted: Flag(flag) if wanted else Not(Flag(flag))


def _unseen(_name: str, wanted: bool) -> Query:
    return Not(Flag("\\Seen")) if wanted else Flag("\\Seen")


def _has_attachment(_name: str, wanted: bool) -> Query:
    return HasAttachment() if wanted else Not(HasAttachment())


def _octets(argument: str, value: int) -> int:
    if not 0 <= value <= LARGEST_SIZE:
        raise invalid(argument, "must be a number of octets, 0 or more")
    return value


_FILTERS: Mapping[str, Callable[[str, Any], Query]] = {
    "from": _header,
    "to": _header,
    "cc": _header,
    "subject": _header,
    "body": lambda name, value: Body(read_text(name, value)),
    "text": lambda name, value: Text(read_text(name, value)),
    "since": lambda name, value: Since(read_moment(name, value)),
    "before": lambda name, value: Before(read_moment(name, value)),
    "unseen": _unseen,
    "seen": _flag("\\Seen"),
    "flagged": _flag("\\Flagged"),
    "answered": _flag("\\Answered"),
    "has_attachment": _has_attachment,
    "larger_than": lambda name, value: Larger(_octets(name, value)),
    "smaller_than": lambda name, value: Smaller(_octets(name, value)),
}
