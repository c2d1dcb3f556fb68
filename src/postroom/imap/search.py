"""SEARCH, ESEARCH and SORT: a query as a program of keys, and the UIDs that answer it (RFC 9051, 4731, 9394, 5256)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from postroom.imap.connection import Connection
from postroom.imap.faults import RefusedFault
from postroom.imap.reply import Reply
from postroom.imap.wire import CLOSE, OPEN, Argument, Atom, Token, as_int
from postroom.mail.query.tree import (
    All,
    And,
    Before,
    Body,
    Condition,
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

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SYSTEM = {
    "\\seen": "SEEN",
    "\\answered": "ANSWERED",
    "\\flagged": "FLAGGED",
    "\\deleted": "DELETED",
    "\\draft": "DRAFT",
}
_FIELDS = frozenset({"from", "to", "cc", "bcc", "subject"})
"""Header fields with a key of their own."""
_KEYWORD = re.compile(r"[!#$&'+,./0-9:;<=>?@A-Z^_`a-z|}~-]{1,100}")
_RANGE = re.compile(r"(\d{1,10})(?::(\d{1,10}))?", re.ASCII)
_MANY = 5_000
"""Numbers of an answer that are worth a thread."""
_UNSORTED = "XAPPLEPUSHSERVICE"
"""Its server, iCloud, offers SORT and pays no heed to what is to be sorted by."""

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hits:
    """UIDs that answer a search, as ascending ranges apart from each other, which need not all exist.

    `cut` tells that there are more, all below these.
    """

    ranges: tuple[Range, ...]
    cut: bool = False

    def __len__(self) -> int:
        return sum(high - low + 1 for low, high in self.ranges)

    def __iter__(self) -> Iterator[int]:
        return (uid for low, high in self.ranges for uid in range(low, high + 1))

    def __reversed__(self) -> Iterator[int]:
        return (uid for low, high in reversed(self.ranges) for uid in range(high, low - 1, -1))


async def uid_search(connection: Connection, query: Query, low: int, high: int, *, newest: int | None = None) -> Hits:
    """UIDs between `low` and `high` that the server says fit, or about so many of the newest if it can do that.

    A `Since` or `Before` asks for whole days in the server's zone. Raises `RefusedFault`.
    """
    if query == Or(()):
        return Hits(())
    window = [Atom(f"UID {low}:{high}"), *program(query)]
    for option in _return_options(connection.capabilities, newest):
        hits = await _extended(connection, option, window, low, high)
        if hits is not None and len(hits) <= _exists(connection):
            return Hits(hits.ranges, cut="PARTIAL" in option and len(hits) >= (newest or 0))
    reply = await connection.run("UID SEARCH", *_charset(window), *window)
    return await _hits(_numbers(reply, "SEARCH"), low, high)


async def uid_sort(connection: Connection, query: Query, criteria: str) -> list[int] | None:
    """UIDs that the server says fit, in the order of `criteria` (RFC 5256); None if it cannot sort.

    Raises `RefusedFault`.
    """
    if "SORT" not in connection.capabilities or _UNSORTED in connection.capabilities:
        return None
    if query == Or(()):
        return []
    reply = await connection.run("UID SORT", Atom(f"({criteria}) UTF-8"), *program(query))
    return list(dict.fromkeys(uid for word in _numbers(reply, "SORT") if (uid := as_int(word)) is not None))


def _exists(connection: Connection) -> int:
    return connection.selected.exists if connection.selected else 0


def _return_options(capabilities: frozenset[str], newest: int | None) -> Iterator[str]:
    """RFC 9394 alone counts from the end."""
    if newest is not None and "PARTIAL" in capabilities:
        yield f"RETURN (PARTIAL -1:-{newest})"
    elif "ESEARCH" in capabilities or "IMAP4REV2" in capabilities:
        yield "RETURN (ALL)"


async def _extended(
    connection: Connection, option: str, window: Sequence[Argument], low: int, high: int
) -> Hits | None:
    """None if the server does not understand, or if its answer is too long or too odd to be read."""
    try:
        reply = await connection.run("UID SEARCH", Atom(option), *_charset(window), *window)
    except RefusedFault as fault:
        if not fault.unknown:
            raise
        return None
    if any(broken.kind == "ESEARCH" for broken in reply.garbled):
        return None
    sets = [words for response in reply.of("ESEARCH") if (words := _sets(response.values))]
    numbers = [word for words in sets for word in words]
    return await _hits([*numbers, *_numbers(reply, "SEARCH")], low, high)


def _sets(values: Sequence[Token]) -> list[Token]:
    """The sequence sets after ALL and in PARTIAL, cut at their commas (RFC 4731 3.1, RFC 9394 3.1)."""
    found: list[Token] = []
    for name, value in pairwise(values):
        kind = name.upper() if isinstance(name, bytes) else b""
        if kind == b"PARTIAL" and isinstance(value, list):
            value = value[1] if len(value) > 1 else None
        if kind in (b"ALL", b"PARTIAL") and isinstance(value, bytes):
            found += value.split(b",")
    return found


def _numbers(reply: Reply, kind: str) -> list[Token]:
    return [value for response in reply.of(kind) for value in response.values]


async def _hits(words: list[Token], low: int, high: int) -> Hits:
    if len(words) < _MANY:
        return _read_hits(words, low, high)
    return await asyncio.to_thread(_read_hits, words, low, high)


def _read_hits(words: Iterable[Token], low: int, high: int) -> Hits:
    """Ranges within the window; whatever else a server names was not asked for."""
    found: list[Range] = []
    for word in words:
        match = _RANGE.fullmatch(word.decode("ascii", "replace")) if isinstance(word, bytes) else None
        if match:
            first, last = sorted((int(match[1]), int(match[2] or match[1])))
            first, last = max(first, low), min(last, high)
            if first <= last:
                found.append((first, last))
    return Hits(tuple(_joined(sorted(found))))


def _joined(ranges: Iterable[Range]) -> Iterator[Range]:
    current: Range | None = None
    for low, high in ranges:
        if current and low <= current[1] + 1:
            current = (current[0], max(current[1], high))
            continue
        if current:
            yield current
        current = (low, high)
    if current:
        yield current


def _charset(keys: Sequence[Argument]) -> list[Argument]:
    """CHARSET only when it is needed: some servers refuse any (RFC 9051 6.4.4)."""
    texts = (argument for argument in keys if isinstance(argument, str))
    return [] if all(text.isascii() for text in texts) else [Atom("CHARSET UTF-8")]


# -- a query as keys: words of ours are atoms, whatever a caller wrote is a string argument


def program(query: Query) -> list[Argument]:
    """Keys whose conjunction is the query; none for every message."""
    if isinstance(query, All):
        return []
    terms = query.terms if isinstance(query, And) else (query,)
    return [argument for term in terms for argument in _key(term)]


def _key(query: Query) -> list[Argument]:
    """One key."""
    match query:
        case All():
            return [Atom("ALL")]
        case And(terms):
            return [OPEN, *(argument for term in terms for argument in _key(term)), CLOSE] if terms else [Atom("ALL")]
        case Or(terms):
            return _either(terms)
        case Not(Flag(name)):
            return [Atom("UN" + _flag(name))]
        case Not(term):
            return [Atom("NOT"), *_key(term)]
        case _:
            return _condition(query)


def _either(terms: Sequence[Query]) -> list[Argument]:
    """OR takes two keys; of more, the last two are one."""
    if not terms:
        return [Atom("NOT ALL")]
    *others, last = terms
    return [*(argument for term in others for argument in (Atom("OR"), *_key(term))), *_key(last)]


def _condition(condition: Condition) -> list[Argument]:
    match condition:
        case Header(name, text):
            key: list[Argument] = [Atom(name.upper())] if name in _FIELDS and text else [Atom("HEADER"), name]
            return [*key, text]
        case Body(text):
            return [Atom("BODY"), text]
        case Text(text):
            return [Atom("TEXT"), text]
        case Flag(name):
            return [Atom(_flag(name))]
        case Uids(ranges):
            return [Atom("UID " + ",".join(f"{low}:{high}" for low, high in ranges))]
        case _:
            return [Atom(_day_or_size(condition))]


def _day_or_size(condition: Condition) -> str:
    match condition:
        case Since(moment):
            return f"SINCE {_date(moment)}"
        case Before(moment):
            return f"BEFORE {_date(moment)}"
        case SentSince(day):
            return f"SENTSINCE {_date(day)}"
        case SentBefore(day):
            return f"SENTBEFORE {_date(day)}"
        case Larger(octets):
            return f"LARGER {octets}"
        case Smaller(octets):
            return f"SMALLER {octets}"
        case _:
            raise ValueError("no server has a key for this condition")


def _flag(name: str) -> str:
    if name.lower() in _SYSTEM:
        return _SYSTEM[name.lower()]
    if not _KEYWORD.fullmatch(name):
        raise ValueError("a keyword is an atom")
    return f"KEYWORD {name}"


def _date(day: date) -> str:
    """In English whatever the locale, so never by strftime."""
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year:04}"
