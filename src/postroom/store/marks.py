"""How far a watched folder was told of, and which mailboxes are known to be out of reach."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import to_text

_PUT = """
    INSERT INTO marks (mailbox, folder, uid_validity, uid) VALUES (?, ?, ?, ?)
    ON CONFLICT (mailbox, folder) DO UPDATE SET uid_validity = excluded.uid_validity, uid = excluded.uid
"""
_LOST = "INSERT INTO unreachable (mailbox, since) VALUES (?, ?) ON CONFLICT (mailbox) DO NOTHING"


@dataclass(frozen=True, slots=True)
class Mark:
    """All messages up to this UID of this numbering were told of, to whom they are to be told to."""

    uid_validity: int
    uid: int


async def read(db: Database, mailbox: str, folder: str) -> Mark | None:
    """None for a folder that was never looked at."""
    query = "SELECT uid_validity, uid FROM marks WHERE mailbox = ? AND folder = ?"
    row = await db.read(lambda connection: connection.execute(query, (mailbox, folder)).fetchone())
    return None if row is None else Mark(*row)


def put(connection: Connection, mailbox: str, folder: str, mark: Mark) -> None:
    """Within a transaction."""
    connection.execute(_PUT, (mailbox, folder, mark.uid_validity, mark.uid))


async def is_unreachable(db: Database, mailbox: str) -> bool:
    """Whether it was told of a mailbox that it cannot be reached, and nothing else since."""
    query = "SELECT 1 FROM unreachable WHERE mailbox = ?"
    return await db.read(lambda connection: connection.execute(query, (mailbox,)).fetchone() is not None)


def note_lost(connection: Connection, mailbox: str, now: datetime) -> bool:
    """Within a transaction: it cannot be reached; False if that was known."""
    return connection.execute(_LOST, (mailbox, to_text(now))).rowcount == 1


def note_reached(connection: Connection, mailbox: str) -> bool:
    """Within a transaction: it can be reached again; False if it was not known that it could not."""
    return connection.execute("DELETE FROM unreachable WHERE mailbox = ?", (mailbox,)).rowcount == 1
