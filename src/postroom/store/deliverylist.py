"""Deliveries as an operator looks at them, and as one that ended is queued again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from postroom.store.connection import Connection
from postroom.store.courierqueue import State
from postroom.store.database import Database
from postroom.store.deliveries import DELIVERIES
from postroom.store.times import to_text

_COLUMNS = "id, endpoint, type, state, created, tries, next_at, status, said"
_OF_MAILBOX = f"SELECT {_COLUMNS} FROM deliveries WHERE mailbox = ?"  # noqa: S608 - constants
_NEWEST = " ORDER BY created DESC, id DESC LIMIT ?"
_QUEUE = """
    UPDATE deliveries SET state = 'due', next_at = ?, ended = NULL, status = NULL, said = NULL,
        tries = CASE WHEN type = 'gap' THEN 1 ELSE 0 END
    WHERE mailbox = ? AND id = ? AND state <> 'running'
"""
_DISABLED = "SELECT 1 FROM endpoints WHERE mailbox = ? AND name = ? AND disabled IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Listed:
    """A delivery; times as the database has them. `next_at` is of no meaning once it has ended."""

    id: str
    endpoint: str
    type: str
    state: State
    created: str
    tries: int
    next_at: str
    status: int | None
    said: str | None


async def listing(db: Database, mailbox: str, state: State | None, limit: int) -> list[Listed]:
    """The newest deliveries of a mailbox, whatever endpoints it has by now."""
    condition, values = (" AND state = ?", [state]) if state is not None else ("", [])
    query = f"{_OF_MAILBOX}{condition}{_NEWEST}"
    rows = await db.read(lambda connection: connection.execute(query, (mailbox, *values, limit)).fetchall())
    return list(map(_listed, rows))


def find(connection: Connection, mailbox: str, identifier: str) -> Listed | None:
    """That delivery of this mailbox, if there is one."""
    if "\0" in identifier:  # PostgreSQL takes no text with it, and no id has it
        return None
    row = connection.execute(f"{_OF_MAILBOX} AND id = ?", (mailbox, identifier)).fetchone()
    return None if row is None else _listed(row)


def is_disabled(connection: Connection, mailbox: str, endpoint: str) -> bool:
    """Whether nothing is told to that endpoint now."""
    return connection.execute(_DISABLED, (mailbox, endpoint)).fetchone() is not None


def queue_again(connection: Connection, mailbox: str, identifier: str, now: datetime) -> None:
    """Due now, under the id and in the words that it has, and as if it had never been attempted.

    But for a gap: one that may have been told is not to be put into other words.
    """
    connection.execute(_QUEUE, (to_text(now), mailbox, identifier))
    connection.announce(DELIVERIES, mailbox)


def _listed(row: tuple[Any, ...]) -> Listed:
    identifier, endpoint, event, state, *rest = row
    return Listed(identifier, endpoint, event, State(state), *rest)
