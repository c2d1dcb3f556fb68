"""SEARCH, ESEARCH and SORT: a query as a program of keys, and the UIDs that answer it (RFC 9051, 4731, 9394, 5256)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from postroom.imap.connection import Connection
from postroom.imap.faults import RefusedFault
from postroom.imap.reply import Reply
from postroom.imap.wire import CLOSE, OPEN, Argument, Atom, Token, as_int, as_text
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
_SET = re.compile(rb"([1-9]\d{0,9})(?::([1-9]\d{0,9}))?")
"""A number or a range."""
_NOT_THIS = {None, "CANNOT"}
"""Codes of a NO that may mean the form of the answer that was asked for."""
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

    def up_to(self, last: int) -> Hits:
        """Those that are no higher."""
        return Hits(tuple((low, min(high, last)) for low, high in self.ranges if low <= last), self.cut)

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
        words = await _extended(connection, option, window)
        hits = None if words is None else await _hits(words, low, high)
        if hits is not None and len(hits) <= _exists(connection):
            return Hits(hits.ranges, cut="PARTIAL" in option and len(hits) >= (newest or 0))
    return await _hits(await _plain(connection, window), low, high)


async def uids_between(connection: Connection, low: int, high: int) -> list[int]:
    """UIDs that exist between `low` and `high`, ascending. A bare `*` would name a message below `low`."""
    words = await _plain(connection, [Atom(f"UID {low}:{high}")])
    hits = await _hits(words, low, high)
    # A range, which SEARCH does not have, may span more than memory holds.
    if len(hits) > len(words) + _exists(connection):
        raise _unreadable()
    return list(hits)


async def uid_sort(connection: Connection, query: Query, criteria: str) -> list[int] | None:
    """UIDs that the server says fit, in the order of `criteria` (RFC 5256); None if it cannot sort.

    Raises `RefusedFault`.
    """
    if "SORT" not in connection.capabilities or _UNSORTED in connection.capabilities:
        return None
    if query == Or(()):
        return []
    reply = await connection.run("UID SORT", Atom(f"({criteria}) UTF-8"), *program(query))
    if not reply.of("SORT"):
        return None
    numbers = (as_int(word) for response in reply.of("SORT") for word in response.values)
    return list(dict.fromkeys(uid for uid in numbers if uid is not None))


def _exists(connection: Connection) -> int:
    return connection.selected.exists if connection.selected else 0


def _return_options(capabilities: frozenset[str], newest: int | None) -> Iterator[str]:
    """RFC 9394 alone counts from the end."""
    if newest is not None and "PARTIAL" in capabilities:
        yield f"RETURN (PARTIAL -1:-{newest})"
    if not capabilities.isdisjoint(("ESEARCH", "IMAP4REV2")):
        yield "RETURN (ALL)"


async def _extended(connection: Connection, option: str, window: Sequence[Argument]) -> list[bytes] | None:
    """None if the server does not understand, or if its answer is too long or too odd to be read."""
    try:
        return _answered(await connection.run("UID SEARCH", Atom(option), *_charset(window), *window))
    except RefusedFault as fault:
        if not (fault.unknown or fault.code in _NOT_THIS):
            raise
        return None


async def _plain(connection: Connection, window: Sequence[Argument]) -> list[bytes]:
    """Raises `RefusedFault` also for an answer that says that messages fit and not which."""
    reply = await connection.run("UID SEARCH", *_charset(window), *window)
    words = _answered(reply)
    if words is None and (reply.of("ESEARCH") or reply.garbled):
        raise _unreadable()
    return words or []


def _unreadable() -> RefusedFault:
    return RefusedFault("the answer to a search cannot be read", None, unknown=True)


def _answered(reply: Reply) -> list[bytes] | None:
    """The numbers and sets of a reply, whether it uses SEARCH or ESEARCH; None if not all of it can be read."""
    if any(broken.kind in ("SEARCH", "ESEARCH") for broken in reply.garbled):
        return None
    plain = [_numbers(response.values) for response in reply.of("SEARCH")]
    extended = [_sets(response.values) for response in reply.of("ESEARCH") if _is_of(reply, response.values)]
    told = [words for words in (*plain, *extended) if words is not None]
    if not told or len(told) < len(plain) + len(extended):
        return None
    return [word for words in told for word in words]


def _numbers(values: Sequence[Token]) -> list[bytes]:
    return [word for value in values if isinstance(value, bytes) for word in value.split(b",")]


def _is_of(reply: Reply, values: Sequence[Token]) -> bool:
    """Whether an ESEARCH response answers this command; one that names none does (RFC 9051 7.3.4)."""
    named = values[0] if values and isinstance(values[0], list) else []
    return len(named) < 2 or named[1] == reply.status.tag


def _sets(values: Sequence[Token]) -> list[bytes] | None:
    """The sequence sets of ALL and PARTIAL, cut at their commas (RFC 4731 3.1, RFC 9394 3.1).

    None if there are none though messages fit, and for message numbers: those are told without the word UID.
    """
    rest = list(values[1:] if values and isinstance(values[0], list) else values)
    if not rest or _word(rest[0]) != "UID" or len(rest) % 2 == 0:
        return None
    told = dict(zip(map(_word, rest[1::2]), rest[2::2], strict=True))
    partial = told.get("PARTIAL")
    if isinstance(partial, list) and len(partial) == 2:
        told["ALL"] = b"" if partial[1] is None else partial[1]
    found = told.get("ALL", b"" if told.keys() <= {"MODSEQ", "COUNT"} and not as_int(told.get("COUNT")) else None)
    words = found.split(b",") if isinstance(found, bytes) and found else []
    return words if found is not None and (found == b"" or (words and all(map(_SET.fullmatch, words)))) else None


def _word(token: Token) -> str:
    return (as_text(token) or "").upper()


async def _hits(words: Sequence[bytes], low: int, high: int) -> Hits:
    if len(words) < _MANY:
        return _read_hits(words, low, high)
    return await asyncio.to_thread(_read_hits, words, low, high)


def _read_hits(words: Iterable[bytes], low: int, high: int) -> Hits:
    """Ranges within the window; whatever else a server names was not asked for."""
    found: list[Range] = []
    for word in words:
        match = _SET.fullmatch(word)
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
