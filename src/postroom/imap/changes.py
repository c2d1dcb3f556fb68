"""One short function per command that changes mail or folders: arguments in, what the server told of it out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal as Word

from postroom.imap.commands import Items, read_fetch
from postroom.imap.connection import Connection
from postroom.imap.faults import RefusedFault
from postroom.imap.names import encode_name
from postroom.imap.reply import Reply, code_number
from postroom.imap.wire import CLOSE, MAX_UID, OPEN, Argument, Atom, Literal, Token, as_int, sequence_set

Sign = Word["+", "-"]

_FLAG = re.compile(r"\\?[^\x00-\x20\x7f-\U0010ffff(){%*\"\\\]]+\Z")
"""An atom (RFC 9051 9), behind a backslash if it is a flag of the system."""
_SYSTEM_LABEL = re.compile(r"\\[A-Za-z]+\Z")
_LONGEST_SET = 4_000
"""Octets of one sequence set: servers take lines of 8,000 (RFC 2683 3.2.1.5), and there is more in a line."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What COPYUID (RFC 4315 3) told: the numbering of the folder it went to, and the new UID of each."""

    uid_validity: int
    uids: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Transfer:
    """How a COPY or MOVE ended: it may have told where some went and then been refused."""

    copied: Copied | None
    refused: RefusedFault | None


def is_flag(text: str) -> bool:
    """Whether this can be a flag or keyword on the wire."""
    return _FLAG.match(text) is not None


def batches(uids: Collection[int]) -> Iterator[list[int]]:
    """All UIDs, ascending, in as few parts as keep each command line within what servers take."""
    part: list[int] = []
    octets = 0
    for uid in sorted(set(uids)):
        octets += len(str(uid)) + 1
        if part and octets > _LONGEST_SET:
            yield part
            part, octets = [], len(str(uid)) + 1
        part.append(uid)
    if part:
        yield part


async def uid_store(
    connection: Connection, uids: Collection[int], sign: Sign, flags: Collection[str], *, silent: bool = False
) -> Mapping[int, Items]:
    """Set or clear flags (RFC 9051 6.4.6); what the server tells of these messages, which may be those changed alone.

    A silent one tells nothing, so what was remembered of the folder's flags is forgotten.
    """
    if not all(map(is_flag, flags)):
        raise ValueError("a flag that is no atom")
    words = [Atom(f"{sign}FLAGS{'.SILENT' if silent else ''}"), Atom(f"({' '.join(flags)})")]
    told = await _store(connection, uids, words)
    connection.news += silent
    return told


async def uid_store_labels(
    connection: Connection, uids: Collection[int], sign: Sign, labels: Sequence[str]
) -> Mapping[int, Items]:
    """Give or take Gmail's labels (X-GM-EXT-1): its own as `\\Inbox`, others as they are named, whatever they hold."""
    spelled = [Atom(label) if _SYSTEM_LABEL.match(label) else encode_name(label) for label in labels]
    return await _store(connection, uids, [Atom(f"{sign}X-GM-LABELS"), OPEN, *spelled, CLOSE])


async def _store(connection: Connection, uids: Collection[int], what: Sequence[Argument]) -> Mapping[int, Items]:
    reply = await connection.run("UID STORE", Atom(sequence_set(uids)), *what)
    told = read_fetch(reply).messages
    # What it tells of others is news of others, and so is not knowing which it told of.
    connection.news += not told.keys() <= set(uids)
    return {uid: items for uid, items in told.items() if uid in uids}


async def uid_copy(connection: Connection, uids: Collection[int], folder: bytes) -> Transfer:
    """Copy all of these or none (RFC 9051 6.4.7); those that are gone are passed over."""
    return await _transfer(connection, "UID COPY", uids, folder)


async def uid_move(connection: Connection, uids: Collection[int], folder: bytes) -> Transfer:
    """Move these (RFC 6851); a refused MOVE may have moved some."""
    return await _transfer(connection, "UID MOVE", uids, folder)


async def _transfer(connection: Connection, name: str, uids: Collection[int], folder: bytes) -> Transfer:
    reply, refused = await connection.run_leniently(name, Atom(sequence_set(uids)), folder)
    return Transfer(read_copied(reply, uids), refused)


async def uid_expunge(connection: Connection, uids: Collection[int]) -> None:
    """Erase those of these that are flagged \\Deleted, and no others (RFC 4315 2.1). Needs UIDPLUS."""
    await connection.run("UID EXPUNGE", Atom(sequence_set(uids)))


async def append(
    connection: Connection,
    folder: bytes,
    octets: bytes,
    flags: Collection[str],
    received_at: datetime | None = None,
) -> tuple[int, int] | None:
    """File a message (RFC 9051 6.3.12), without NUL; UIDVALIDITY and UID of APPENDUID (RFC 4315 3), or None."""
    if not all(map(is_flag, flags)):
        raise ValueError("a flag that is no atom")
    when = [Atom(f'"{write_internal_date(received_at)}"')] if received_at else []
    reply = await connection.run("APPEND", folder, Atom(f"({' '.join(flags)})"), *when, Literal(octets))
    for values in _codes(reply, "APPENDUID"):
        numbers = [code_number(values[place : place + 1]) for place in (0, 1)]
        if numbers[0] is not None and numbers[1] is not None and 0 < numbers[1] <= MAX_UID:
            return numbers[0], numbers[1]
    return None


async def create(connection: Connection, name: bytes) -> bool:
    """Make a folder (RFC 9051 6.3.4); False if the server says that it exists. Raises `RefusedFault` otherwise."""
    try:
        await connection.run("CREATE", name)
    except RefusedFault as fault:
        if fault.code != "ALREADYEXISTS":
            raise
        return False
    return True


async def subscribe(connection: Connection, name: bytes) -> None:
    """Have other clients show a folder (RFC 9051 6.3.7)."""
    await connection.run("SUBSCRIBE", name)


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def write_internal_date(moment: datetime) -> str:
    """An aware moment as date-time (RFC 9051 9): ` 3-Mar-2026 09:05:00 +0000`."""
    told = moment.astimezone(UTC)
    return f"{told.day:2}-{_MONTHS[told.month - 1]}-{told.year:04} {told:%H:%M:%S} +0000"


def read_copied(reply: Reply, uids: Collection[int]) -> Copied | None:
    """Where these went, of all COPYUID codes together; None if none can be understood."""
    asked = set(uids)
    uid_validity, found = None, dict[int, int]()
    for values in _codes(reply, "COPYUID"):
        validity = code_number(values[:1])
        old, new = (_expanded(value, len(asked)) for value in (*values[1:3], None, None)[:2])
        if validity is None or old is None or new is None or len(old) != len(new):
            continue
        uid_validity = validity
        found |= {uid: at for uid, at in zip(old, new, strict=True) if uid in asked}
    return None if uid_validity is None else Copied(uid_validity, found)


def _codes(reply: Reply, name: str) -> Iterator[list[Token]]:
    """The values of this response code, wherever it stands in the answer."""
    for response in reply.of("OK"):
        if response.values and response.values[0] == name.encode():
            yield response.values[1:]
    if reply.status.code == name:
        yield reply.status.code_values


def _expanded(token: Token, most: int) -> list[int] | None:
    """The UIDs of a set in its order, at most so many; None for anything else."""
    uids: list[int] = []
    for run in token.split(b",") if isinstance(token, bytes) else [b""]:
        low, colon, high = run.partition(b":")
        ends = sorted((as_int(low) or 0, as_int(high if colon else low) or 0))
        if not 0 < ends[0] <= ends[1] <= MAX_UID or len(uids) + ends[1] - ends[0] >= most:
            return None
        uids += range(ends[0], ends[1] + 1)
    return uids
