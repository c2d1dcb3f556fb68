"""The operator's stop switch: one row, thrown by another process and looked at before every call."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from postroom.store import audit
from postroom.store.audit import Event
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import to_text


class Stopped(StrEnum):
    """How much is stopped; each includes those above it."""

    SENDS = "sends"
    CHANGES = "changes"
    ALL = "all"

    def covers(self, other: Stopped) -> bool:
        order = list(Stopped)
        return order.index(other) <= order.index(self)


class Switch:
    """Looked at before every call, and each time anew: another process throws it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def state(self) -> Stopped | None:
        """What is stopped at this moment, if anything. Raises StoreError when that cannot be read."""
        return await self._database.glance(_state)


def _state(connection: Connection) -> Stopped | None:
    row = connection.execute("SELECT what FROM stop_switch").fetchone()
    return None if row is None else _read(row[0])


async def turn(db: Database, what: Stopped | None, now: datetime) -> Stopped | None:
    """Stop that much and no more, or nothing any longer, and say so in the audit; what was stopped before."""
    return await db.write(lambda connection: _turn(connection, what, now))


def _turn(connection: Connection, what: Stopped | None, now: datetime) -> Stopped | None:
    before = connection.execute("SELECT what FROM stop_switch").fetchone()
    throw(connection, what, now)
    action, facts = ("cli.resume", {}) if what is None else ("cli.stop", {"what": what.value})
    audit.add(connection, [Event("event", action, now, facts=facts)])
    return None if before is None else _read(before[0])


def _read(what: str) -> Stopped:
    """A word that this version does not know stops everything."""
    return Stopped(what) if what in list(Stopped) else Stopped.ALL


def throw(connection: Connection, what: Stopped | None, now: datetime) -> None:
    """Within a transaction: stop that much and no more, or nothing any longer."""
    connection.execute("DELETE FROM stop_switch")
    if what is not None:
        connection.execute("INSERT INTO stop_switch VALUES (?, ?)", (what.value, to_text(now)))
