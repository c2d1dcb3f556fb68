"""A search as a tree of conditions: one meaning for filter arguments, IMAP programs and query languages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias

MAX_DEPTH = 64
"""Levels that a parser may build: what walks a tree may recurse."""
MAX_CONDITIONS = 200
"""Conditions that a parser may build."""
ADDRESS_FIELDS = frozenset({"from", "to", "cc", "bcc", "reply-to", "sender"})
"""Header fields that are searched as decoded names and addresses, not as written."""


@dataclass(frozen=True, slots=True)
class All:
    """Every message."""


@dataclass(frozen=True, slots=True)
class And:
    """All of these; every message if there are none."""

    terms: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of these; no message if there are none."""

    terms: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Not:
    term: Query


@dataclass(frozen=True, slots=True)
class Header:
    """A header field holds this text (RFC 9051 6.4.4); an empty text asks only whether there is such a field."""

    name: str
    """In lower case, such as `from` or `list-id`."""
    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """The body holds this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """The header or the body holds this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Flag:
    """The message bears a system flag such as `\\Seen`, or a keyword; case does not count."""

    name: str


@dataclass(frozen=True, slots=True)
class Since:
    """Received (INTERNALDATE) at this moment or later, exact to the second."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class Before:
    """Received (INTERNALDATE) earlier than this moment."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class SentSince:
    """The day that the Date field names, whatever its time and zone, is this one or later (RFC 9051 6.4.4).

    A message that names none that can be read counts as one of 1970.
    """

    day: date


@dataclass(frozen=True, slots=True)
class SentBefore:
    """The day that the Date field names, whatever its time and zone, is earlier."""

    day: date


@dataclass(frozen=True, slots=True)
class Larger:
    """RFC822.SIZE is more than so many octets."""

    octets: int


@dataclass(frozen=True, slots=True)
class Smaller:
    """RFC822.SIZE is less than so many octets."""

    octets: int


@dataclass(frozen=True, slots=True)
class Uids:
    """The UID lies in one of these ranges, both ends included, each low before high."""

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class HasAttachment:
    """There is a part that is not the message's own words."""


Condition: TypeAlias = (
    Header | Body | Text | Flag | Since | Before | SentSince | SentBefore | Larger | Smaller | Uids | HasAttachment
)
Query: TypeAlias = All | And | Or | Not | Condition


def both(*terms: Query) -> Query:
    """The conjunction, as flat as it can be."""
    flat: list[Query] = []
    for term in terms:
        flat += term.terms if isinstance(term, And) else () if isinstance(term, All) else (term,)
    if len(flat) == 1:
        return flat[0]
    return And(tuple(flat)) if flat else All()
