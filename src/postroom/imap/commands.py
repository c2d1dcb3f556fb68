"""One short function per command the gateway uses: arguments in, values out (RFC 9051 section 6)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal

from postroom.imap.connection import Connection
from postroom.imap.faults import RefusedFault
from postroom.imap.incoming import Sink
from postroom.imap.names import decode_name
from postroom.imap.reply import Reply
from postroom.imap.wire import (
    MAX_UID,
    Atom,
    Garbled,
    Token,
    Untagged,
    as_int,
    as_text,
    read_quoted,
    sequence_set,
)


@dataclass(frozen=True, slots=True)
class Listed:
    """One LIST response: the name as the server spells it, its delimiter, its attributes in lower case."""

    name: bytes
    delimiter: str | None
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Where the login's own folders begin, such as `INBOX.`, and where those of others do (RFC 2342)."""

    personal: bytes = b""
    foreign: tuple[bytes, ...] = ()


@dataclass(slots=True)
class Items:
    """What FETCH told about one message; what it did not tell is None or absent."""

    uid: int
    flags: frozenset[str] | None = None
    internal_date: datetime | None = None
    size: int | None = None
    structure: Token = None
    header: bytes | None = None
    labels: tuple[str, ...] | None = None
    """Of Gmail (X-GM-EXT-1), decoded; its own begin with a backslash."""
    sections: dict[tuple[str, int], bytes] = field(default_factory=dict)
    """Octets by section and by the offset they begin at."""


@dataclass(slots=True)
class FetchAnswer:
    """Messages by UID, the UIDs of those that could not be read, and whether other messages may be missing.

    They may be if the server ended the answer with a refusal, which is `refused`, or told of messages without a UID.
    """

    messages: Mapping[int, Items]
    garbled: frozenset[int]
    partial: bool = False
    refused: RefusedFault | None = None


async def list_folders(connection: Connection) -> list[Listed]:
    """Every folder the login may see, with SPECIAL-USE (RFC 6154) attributes where the server has them."""
    reply = await _listing(connection)
    folders = [_listed(response) for response in reply.of("LIST")]
    folders += [_salvaged(broken) for broken in reply.garbled if broken.kind == "LIST"]
    return [folder for folder in folders if folder and folder.name]


async def _listing(connection: Connection) -> Reply:
    everything = Atom('"" "*"')
    if {"SPECIAL-USE", "LIST-EXTENDED"} <= connection.capabilities:
        try:
            return await connection.run("LIST", everything, Atom("RETURN (SPECIAL-USE)"))
        except RefusedFault:
            pass
    return await connection.run("LIST", everything)


def _listed(response: Untagged) -> Listed | None:
    if len(response.values) < 3:
        return None
    attributes, delimiter, name = response.values[:3]
    if not isinstance(name, bytes) or not isinstance(attributes, list | None):
        return None
    words = frozenset((as_text(word) or "").lower() for word in attributes or ())
    return Listed(name, as_text(delimiter) or None, words)


_LISTED = re.compile(rb'\(([^)]*)\) *(NIL|"(?:\\.|[^"\\])?") *(.+)\Z', re.I | re.S)


def _salvaged(broken: Garbled) -> Listed | None:
    """A name with blanks but no quotes, or with bare quotes inside its quotes: all to the line's end is the name."""
    match = _LISTED.match(broken.octets)
    if not match:
        return None
    attributes, delimiter, name = match.groups()
    if len(name) > 1 and name.startswith(b'"') and name.endswith(b'"'):
        name = read_quoted(name[1:-1])
    shown = None if delimiter.upper() == b"NIL" else as_text(read_quoted(delimiter[1:-1]))
    return Listed(name, shown or None, frozenset((as_text(word) or "").lower() for word in attributes.split()))


async def namespaces(connection: Connection) -> Namespaces:
    """Whose folders lie where (RFC 2342), as far as the server says so."""
    if "NAMESPACE" not in connection.capabilities:
        return Namespaces()
    try:
        reply = await connection.run("NAMESPACE")
    except RefusedFault:
        return Namespaces()
    for response in reply.of("NAMESPACE"):
        personal, *others = [_prefixes(value) for value in response.values[:3]] or [[]]
        foreign = [prefix for prefixes in others for prefix in prefixes if prefix]
        return Namespaces(personal[0] if personal else b"", tuple(foreign))
    return Namespaces()


def _prefixes(namespace: Token) -> list[bytes]:
    spaces = namespace if isinstance(namespace, list) else []
    return [space[0] for space in spaces if isinstance(space, list) and space and isinstance(space[0], bytes)]


async def uid_fetch(
    connection: Connection, uids: Collection[int] | Literal["*"], items: str, sink: Sink | None = None
) -> FetchAnswer:
    """FETCH by UID; a range means all from its start on. Answers of other messages come in between, each with its UID.

    Flags that were not asked for are news: some servers tell in this way what others changed. A refusal does not
    raise: what came before it counts (RFC 2180 4.1.2), and the answer holds it.
    """
    wanted = uids if isinstance(uids, str) else _spelled(uids)
    reply, refused = await connection.run_leniently("UID FETCH", Atom(wanted), Atom(f"({items})"), sink=sink)
    asked = () if isinstance(uids, str) else uids
    answer = read_fetch(reply, next(iter(asked)) if len(asked) == 1 else None)
    if any(
        uid not in asked or (told.flags is not None and "FLAGS" not in items) for uid, told in answer.messages.items()
    ):
        connection.news += wanted != "*"
    return replace(answer, partial=True, refused=refused) if refused else answer


def _spelled(uids: Collection[int]) -> str:
    return f"{uids.start}:*" if isinstance(uids, range) else sequence_set(uids)


def read_fetch(reply: Reply, alone: int | None = None) -> FetchAnswer:
    """All FETCH responses of a reply, merged by UID; those without a UID are unsolicited flag news.

    `alone` is the UID if only one was asked for: a message told without a UID, which is wrong, then is that one.
    """
    messages: dict[int, Items] = {}
    nameless: list[Mapping[str, Token]] = []
    for response in reply.of("FETCH"):
        pairs = _pairs(response.values)
        uid = as_int(pairs.get("UID"))
        if uid is not None and 0 < uid <= MAX_UID:
            _merge(messages.setdefault(uid, Items(uid)), pairs)
        elif any(name.startswith("BODY[") for name in pairs):
            nameless.append(pairs)
    if alone is not None and len(nameless) == 1 and alone not in messages:
        _merge(messages.setdefault(alone, Items(alone)), nameless.pop())
    named = {broken.uid for broken in reply.garbled if broken.kind == "FETCH"}
    garbled = frozenset(uid for uid in named if uid is not None)
    return FetchAnswer(messages, garbled, partial=None in named or bool(nameless))


@lru_cache(maxsize=256)
def _item_name(item: bytes) -> str:
    """Few names come over and over again."""
    return (as_text(item) or "").upper()


def _pairs(values: list[Token]) -> dict[str, Token]:
    """Items by name. A flag where a name should be is passed over: some servers leave out the parentheses."""
    items = values[0] if values and isinstance(values[0], list) else []
    pairs: dict[str, Token] = {}
    rest = iter(items)
    for item in rest:
        name = _item_name(item) if isinstance(item, bytes) else ""
        if name.startswith("\\"):
            continue
        value = next(rest, None)
        if name.startswith("BODY[") and isinstance(value, bytes) and _ORIGIN.match(value):
            value = next(rest, None)
        pairs[name] = value
    return pairs


_ORIGIN = re.compile(rb"<\d{1,10}>\Z")


_LARGEST_SIZE = 2**53 - 1
"""Past it a number is not exact for those who read our JSON, and no message has such a size."""


def _merge(into: Items, pairs: Mapping[str, Token]) -> None:
    for name, value in pairs.items():
        if name == "FLAGS" and isinstance(value, list):
            into.flags = _flags(tuple(flag for flag in value if isinstance(flag, bytes)))
        elif name == "INTERNALDATE" and isinstance(value, bytes):
            into.internal_date = read_internal_date(value)
        elif name == "RFC822.SIZE":
            size = as_int(value)
            into.size = size if size is not None and size <= _LARGEST_SIZE else None
        elif name == "X-GM-LABELS":
            labels = value if isinstance(value, list) else [value]
            into.labels = tuple(decode_name(label) for label in labels if isinstance(label, bytes))
        elif name == "BODYSTRUCTURE":
            into.structure = value
        elif name.startswith("BODY[HEADER") and isinstance(value, bytes):
            into.header = value
        elif name.startswith("BODY[") and isinstance(value, bytes):
            into.sections[_section(name)] = value


@lru_cache(maxsize=256)
def _flags(flags: tuple[bytes, ...]) -> frozenset[str]:
    """\\Recent tells of this session and of no message (gone in RFC 9051); what has a blank in it is no flag."""
    words = (text for flag in flags if (text := as_text(flag)) and text != "\\Recent")
    return frozenset(word for word in words if word.isprintable() and " " not in word)


def _section(name: str) -> tuple[str, int]:
    """`BODY[2.MIME]` is ("2.MIME", 0), `BODY[2]<256>` is ("2", 256)."""
    inner, _, origin = name[5:].rpartition("]")
    number = as_int(origin.strip("<>").partition(".")[0].encode())
    return inner, number or 0


_MONTHS = {name: number for number, name in enumerate(
    (b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"), 1
)}  # fmt: skip


_DATE_TIME = re.compile(
    rb"\s*(\d{1,2})-([A-Za-z]{3})-(\d{4})\s+(\d{1,2}):(\d{1,2}):(\d{1,2})\s+([+-])(\d\d)(\d\d)\s*\Z"
)


def read_internal_date(value: bytes) -> datetime | None:
    """`" 3-Mar-2026 09:05:00 +0100"` (RFC 9051, date-time) in UTC; None for anything else."""
    match = _DATE_TIME.match(value)
    if match is None:
        return None
    day, month, year, hour, minute, second, sign, hours, minutes = match.groups()
    number, east = _MONTHS.get(month.lower(), 0), timedelta(hours=int(hours), minutes=int(minutes))
    try:
        local = datetime(int(year), number, int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC)
        return local - east if sign == b"+" else local + east
    except (ValueError, OverflowError):
        return None
