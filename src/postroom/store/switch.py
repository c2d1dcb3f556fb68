"""The operator's stop switch: one row, thrown by another process and looked at before every call."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from sqlite3 import Connection

from postroom.store import audit
from postroom.store.audit import Event
from postroom.store.database import Database, connect
from postroom.store.times import to_text
from postroom.store.worker import StoreError


class Stopped(StrEnum):
    """How much is stopped; each includes those above it."""

    SENDS = "sends"
    CHANGES = "changes"
    ALL = "all"

    def covers(self, other: Stopped) -> bool:
        order = list(Stopped)
        return order.index(other) <= order.index(self)


class Switch:
    """Looks on a connection of its own, in the caller's thread: some microseconds, whatever the writer does."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Switch:
        """In a database that `Database.open` has opened before."""
        try:
            connection = connect(path)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA busy_timeout = 0")  # it is looked at on the event loop
        except sqlite3.Error as failure:
            raise StoreError(f"{path} cannot be used: {failure}") from failure
        return cls(connection)

    def state(self) -> Stopped | None:
        """What is stopped at this moment, if anything. Raises StoreError when that cannot be read."""
        try:
            row = self._connection.execute("SELECT what FROM stop_switch").fetchone()
        except sqlite3.Error as failure:
            raise StoreError(f"the stop switch cannot be read: {failure}") from failure
        return None if row is None else _read(row[0])

    def close(self) -> None:
        self._connection.close()


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
