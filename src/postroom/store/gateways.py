"""Which gateways work over this store: each has a row that it keeps alive, and what a dead one began is the others'."""

from __future__ import annotations

from datetime import datetime, timedelta

from postroom.store.connection import Connection, Value
from postroom.store.database import Database
from postroom.store.times import SKEW, to_text

HELD = timedelta(seconds=10)
"""How long a gateway counts as alive that says nothing any more."""
BEAT = 3.0
"""Seconds after which it says so again."""
_FORGOTTEN = timedelta(hours=1)

DEAD = "gateway NOT IN (SELECT id FROM gateways WHERE until > ? OR id = ?)"
"""A row's gateway is gone, and is not the one that asks; its values are those of `dead`."""
_ALIVE = """
    INSERT INTO gateways (id, until) VALUES (?, ?)
    ON CONFLICT (id) DO UPDATE SET until = excluded.until
"""


async def begin(db: Database, gateway: str, before: str, now: datetime) -> None:
    """Be known. `before` is the one that had our folder, which is gone; without sharing every other one is."""

    def begun(connection: Connection) -> None:
        if db.is_shared:
            forgotten = (before, to_text(now - _FORGOTTEN))
            connection.execute("DELETE FROM gateways WHERE id = ? OR until < ?", forgotten)
        else:
            connection.execute("DELETE FROM gateways")
        connection.execute(_ALIVE, (gateway, to_text(now + HELD)))

    await db.write(begun)


async def renew(db: Database, gateway: str, now: datetime) -> None:
    """Be known for a while longer."""
    values = (gateway, to_text(now + HELD))
    await db.write(lambda connection: connection.execute(_ALIVE, values) and None)


async def end(db: Database, gateway: str) -> None:
    """Be gone: what is left of ours is the others' at once."""
    await db.write(lambda connection: connection.execute("DELETE FROM gateways WHERE id = ?", (gateway,)) and None)


async def living(db: Database, now: datetime) -> int:
    """How many were heard of not long ago."""
    count = "SELECT COUNT(*) FROM gateways WHERE until > ? AND until <= ?"
    between = (to_text(now), to_text(now + HELD + SKEW))
    return int((await db.read(lambda connection: connection.execute(count, between).fetchone()))[0])


def dead(gateway: str, now: datetime) -> tuple[Value, Value]:
    """The values of `DEAD`, as `gateway` sees it."""
    return to_text(now), gateway


def is_alive(connection: Connection, gateway: str, now: datetime) -> bool:
    """Whether that one was heard of not long ago."""
    row = connection.execute("SELECT 1 FROM gateways WHERE id = ? AND until > ?", (gateway, to_text(now))).fetchone()
    return row is not None
