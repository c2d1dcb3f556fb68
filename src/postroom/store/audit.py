"""The audit trail: records that are only ever added, each chained to the one before and sealed with the day's key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal

import orjson

from postroom.store.auditkeys import DayKey, key_of, sealed
from postroom.store.connection import Connection, StatementError
from postroom.store.database import Database
from postroom.store.gateways import DEAD, dead
from postroom.store.times import to_text
from postroom.store.worker import StoreError

VERSION = 1
NOTHING_BEFORE = "0" * 64
"""What the first record says of the one before."""

Phase = Literal["intent", "outcome", "event", "summary"]
"""Before an effect, after it or instead of it, something that simply happened, and many of a kind in a minute."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened. `facts` are small JSON values without anything that a message says; absent fields are left out."""

    phase: Phase
    action: str
    at: datetime
    request: str | None = None
    token: str | None = None
    mailbox: str | None = None
    outcome: str | None = None
    code: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tip:
    """The last record: its number and the hash that the next will carry; 0 where there is none."""

    seq: int
    hash: str


async def record(db: Database, events: Sequence[Event], gateway: str = "") -> None:
    """Add the events of a gateway in one transaction. Raises StoreError when they are not on the disk."""
    await db.write(lambda connection: add(connection, events, gateway))


async def tip(db: Database) -> Tip:
    """The last record that is on the disk."""
    return await db.read(last)


async def unsettled(db: Database, now: datetime, gateway: str = "") -> list[dict[str, Any]]:
    """Intents of dead gateways without an outcome, oldest first.

    What somebody made of one is none, and for `auditcheck` to find.
    """
    rows = await db.read(lambda connection: connection.execute(_OPEN, dead(gateway, now)).fetchall())
    return [intent for (line,) in rows if (intent := _intent(line)) is not None]


async def settle(db: Database, outcomes: Sequence[Event]) -> None:
    """Add outcomes of intents that are still without one: several gateways may find the same dead one."""

    def settled(connection: Connection) -> None:
        for outcome in outcomes:
            if connection.execute("SELECT 1 FROM audit_open WHERE request = ?", (outcome.request,)).fetchone():
                add(connection, [outcome])

    await db.write(settled)


def _intent(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    named = isinstance(record, dict) and all(isinstance(record.get(name), str) for name in ("request", "action"))
    return record if named and isinstance(record.get("facts", {}), dict) else None


def add(connection: Connection, events: Sequence[Event], gateway: str = "") -> None:
    """Within a transaction that has the write lock: whoever else writes has chained before or will after."""
    try:
        before = last(connection)
        for event in events:
            before = _append(connection, event, before, gateway)
    except StatementError as failure:
        raise StoreError(f"the audit trail takes no record: {failure}") from failure


def _append(connection: Connection, event: Event, before: Tip, gateway: str) -> Tip:
    line = _line(event, before, key_of(connection, event.at))
    here = Tip(before.seq + 1, line_hash(line))
    connection.execute("INSERT INTO audit (seq, line) VALUES (?, ?)", (here.seq, line))
    _settle(connection, event, here.seq, gateway)
    return here


def last(connection: Connection) -> Tip:
    row = connection.execute("SELECT seq, line FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    return Tip(0, NOTHING_BEFORE) if row is None else Tip(row[0], line_hash(row[1]))


def canonical(value: Mapping[str, Any]) -> bytes:
    """JSON without spaces and with sorted keys (RFC 8785 for our ASCII keys and whole numbers)."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def line_hash(line: str) -> str:
    return sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


_OPENED = """
    INSERT INTO audit_open (request, seq, gateway) VALUES (?, ?, ?)
    ON CONFLICT (request) DO UPDATE SET seq = excluded.seq, gateway = excluded.gateway
"""
_OPEN = f"SELECT CAST(line AS BLOB) FROM audit JOIN audit_open USING (seq) WHERE {DEAD} ORDER BY seq"  # noqa: S608 - constants


def _line(event: Event, before: Tip, key: DayKey) -> str:
    said = {
        "phase": event.phase,
        "action": event.action,
        "at": to_text(event.at),
        "request": event.request,
        "token": event.token,
        "mailbox": event.mailbox,
        "outcome": event.outcome,
        "code": event.code,
        "facts": dict(event.facts) or None,
    }
    told = {name: value for name, value in said.items() if value is not None}
    body = told | {"v": VERSION, "seq": before.seq + 1, "prev": before.hash, "key": key.number}
    return canonical(body | {"mac": sealed(key, canonical(body))}).decode()


def _settle(connection: Connection, event: Event, seq: int, gateway: str) -> None:
    """Keep in view what still has no outcome; this is no part of the chain and follows from it."""
    if event.phase == "intent":
        connection.execute(_OPENED, (event.request, seq, gateway))
    elif event.phase == "outcome":
        connection.execute("DELETE FROM audit_open WHERE request = ?", (event.request,))
