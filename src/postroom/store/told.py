"""Which messages an endpoint was told of, and how they were then: only of those it hears what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import to_text

MOST = 1_000
"""Messages of one endpoint and folder that are remembered, the newest."""
LIFE = timedelta(days=30)

_PUT = """
    INSERT INTO told (mailbox, endpoint, folder, uid_validity, uid, flags, policy, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (mailbox, endpoint, folder, uid_validity, uid)
    DO UPDATE SET flags = excluded.flags, policy = excluded.policy
"""
_PLACE = "mailbox = ? AND endpoint = ? AND folder = ?"
_DROP = f"DELETE FROM told WHERE {_PLACE} AND uid_validity = ? AND uid = ?"  # noqa: S608 - no value stands in it
_FORGET = f"""
    DELETE FROM told WHERE {_PLACE} AND (at <= ? OR uid <= (
        SELECT uid FROM told WHERE {_PLACE} ORDER BY uid DESC LIMIT 1 OFFSET {MOST}
    ))
"""  # noqa: S608
_LIST = f"SELECT uid_validity, uid, flags, policy FROM told WHERE {_PLACE} ORDER BY uid"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Told:
    """One message, by its numbers, with its flags as they were told last and the hash of the policy it was shown by."""

    mailbox: str
    endpoint: str
    folder: str
    uid_validity: int
    uid: int
    flags: frozenset[str]
    policy: str


async def listing(db: Database, mailbox: str, endpoint: str, folder: str) -> list[Told]:
    """What this endpoint was told of in a folder, oldest first."""
    place = (mailbox, endpoint, folder)
    rows = await db.read(lambda connection: connection.execute(_LIST, place).fetchall())
    return [Told(*place, validity, uid, frozenset(flags.split()), policy) for validity, uid, flags, policy in rows]


def put(connection: Connection, told: Iterable[Told], now: datetime) -> None:
    """Within a transaction: remember these, or how they are now, and forget what is over its time or number."""
    places = set()
    for one in told:
        place = (one.mailbox, one.endpoint, one.folder)
        flags = " ".join(sorted(one.flags))
        connection.execute(_PUT, (*place, one.uid_validity, one.uid, flags, one.policy, to_text(now)))
        places.add(place)
    for place in places:
        connection.execute(_FORGET, (*place, to_text(now - LIFE), *place))


def drop(connection: Connection, told: Iterable[Told]) -> None:
    """Within a transaction: forget these."""
    for one in told:
        connection.execute(_DROP, (one.mailbox, one.endpoint, one.folder, one.uid_validity, one.uid))


def drop_folder(connection: Connection, mailbox: str, folder: str) -> None:
    """Within a transaction: forget everything about a folder that was numbered anew."""
    connection.execute("DELETE FROM told WHERE mailbox = ? AND folder = ?", (mailbox, folder))
