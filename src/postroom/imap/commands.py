"""One short function per command the gateway uses: arguments in, values out (RFC 9051 section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

from postroom.imap.connection import Connection, Sink
from postroom.imap.reply import Reply
from postroom.imap.wire import Atom, Token, Untagged, as_int, as_text, sequence_set


@dataclass(frozen=True, slots=True)
class Listed:
    """One LIST response: the name as the server spells it, its delimiter, its attributes in lower case."""

    name: bytes
    delimiter: str | None
    attributes: frozenset[str]


@dataclass(slots=True)
class Items:
    """What FETCH told about one message; what it did not tell is None or absent."""

    uid: int
    flags: frozenset[str] | None = None
    internal_date: datetime | None = None
    size: int | None = None
    structure: Token = None
    header: bytes | None = None
    sections: dict[tuple[str, int], bytes] = field(default_factory=dict)
    """Octets by section and by the offset they begin at."""


@dataclass(slots=True)
class FetchAnswer:
    """Messages by UID, and what of the answer could not be read: UIDs, and whether a message stayed unnamed."""

    messages: Mapping[int, Items]
    garbled: frozenset[int]
    nameless: bool


async def list_folders(connection: Connection) -> list[Listed]:
    """Every folder the login may see, with SPECIAL-USE (RFC 6154) attributes where the server has them."""
    arguments = [Atom('"" "*"')]
    if {"SPECIAL-USE", "LIST-EXTENDED"} <= connection.capabilities:
        arguments.append(Atom("RETURN (SPECIAL-USE)"))
    reply = await connection.run("LIST", *arguments)
    return [listed for response in reply.of("LIST") if (listed := _listed(response))]


def _listed(response: Untagged) -> Listed | None:
    if len(response.values) < 3:
        return None
    attributes, delimiter, name = response.values[:3]
    if not isinstance(name, bytes) or not isinstance(attributes, list):
        return None
    words = frozenset((as_text(word) or "").lower() for word in attributes)
    return Listed(name, as_text(delimiter), words)


async def personal_prefix(connection: Connection) -> bytes:
    """Where the login's own folders begin (RFC 2342), such as `INBOX.`; empty where the server does not say."""
    if "NAMESPACE" not in connection.capabilities:
        return b""
    reply = await connection.run("NAMESPACE")
    for response in reply.of("NAMESPACE"):
        personal = response.values[0] if response.values else None
        if isinstance(personal, list) and personal and isinstance(personal[0], list) and personal[0]:
            prefix = personal[0][0]
            return prefix if isinstance(prefix, bytes) else b""
    return b""


async def uid_search(connection: Connection, low: int, high: int) -> list[int]:
    """UIDs that exist between `low` and `high`, ascending. A bare `*` would name a message below `low`."""
    reply = await connection.run("UID SEARCH", Atom(f"UID {low}:{high}"))
    found = (as_int(value) for response in reply.of("SEARCH") for value in response.values)
    return sorted({uid for uid in found if uid is not None and low <= uid <= high})


async def uid_fetch(
    connection: Connection, uids: str | Iterable[int], items: str, sink: Sink | None = None
) -> FetchAnswer:
    """FETCH by UID. Answers of other messages, flag news for one, come in between and are kept apart by UID."""
    wanted = uids if isinstance(uids, str) else sequence_set(uids)
    reply = await connection.run("UID FETCH", Atom(wanted), Atom(f"({items})"), sink=sink)
    return read_fetch(reply)


def read_fetch(reply: Reply) -> FetchAnswer:
    """All FETCH responses of a reply, merged by UID; those without a UID are unsolicited flag news."""
    messages: dict[int, Items] = {}
    for response in reply.of("FETCH"):
        pairs = _pairs(response.values)
        uid = as_int(pairs.get("UID"))
        if uid is not None:
            _merge(messages.setdefault(uid, Items(uid)), pairs)
    named = {broken.uid for broken in reply.garbled if broken.kind == "FETCH"}
    return FetchAnswer(messages, frozenset(uid for uid in named if uid is not None), None in named)


def _pairs(values: list[Token]) -> dict[str, Token]:
    items = values[0] if values and isinstance(values[0], list) else []
    names = (as_text(item) or "" for item in items[::2])
    return dict(zip((name.upper() for name in names), items[1::2], strict=False))


def _merge(into: Items, pairs: Mapping[str, Token]) -> None:
    for name, value in pairs.items():
        if name == "FLAGS" and isinstance(value, list):
            # \\Recent tells of this session and of no message (gone in RFC 9051).
            into.flags = frozenset(text for flag in value if (text := as_text(flag)) and text != "\\Recent")
        elif name == "INTERNALDATE" and isinstance(value, bytes):
            into.internal_date = read_internal_date(value)
        elif name == "RFC822.SIZE":
            into.size = as_int(value)
        elif name == "BODYSTRUCTURE":
            into.structure = value
        elif name.startswith("BODY[HEADER") and isinstance(value, bytes):
            into.header = value
        elif name.startswith("BODY[") and isinstance(value, bytes):
            into.sections[_section(name)] = value


def _section(name: str) -> tuple[str, int]:
    """`BODY[2.MIME]` is ("2.MIME", 0), `BODY[2]<256>` is ("2", 256)."""
    inner, _, origin = name[5:].rpartition("]")
    number = origin.strip("<>").partition(".")[0]
    return inner, int(number) if number.isdigit() else 0


_MONTHS = {name: number for number, name in enumerate(
    (b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"), 1
)}  # fmt: skip


def read_internal_date(value: bytes) -> datetime | None:
    """`" 3-Mar-2026 09:05:00 +0100"` (RFC 9051, date-time) in UTC; None for anything else."""
    try:
        date, clock, zone = value.split()
        day, month, year = date.split(b"-")
        hour, minute, second = (int(word) for word in clock.split(b":"))
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) * (-1 if zone[:1] == b"-" else 1)
        month_number, second = _MONTHS[month.lower()], min(second, 59)
        local = datetime(int(year), month_number, int(day), hour, minute, second, tzinfo=timezone(offset))
        return local.astimezone(UTC)
    except (ValueError, KeyError, OverflowError):
        return None
