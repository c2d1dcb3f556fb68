"""Who watches which mailbox: a row with a deadline, and an epoch by which a gateway that slept too long is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import to_text
from postroom.store.worker import StoreError

HELD = timedelta(seconds=15)
"""How long a mailbox stays with a gateway that says nothing any more."""

_TAKE = """
    INSERT INTO leases (mailbox, owner, until, epoch) VALUES (?, ?, ?, 1)
    ON CONFLICT (mailbox) DO UPDATE SET
        epoch = leases.epoch + CASE WHEN leases.owner = excluded.owner AND leases.until > ? THEN 0 ELSE 1 END,
        owner = excluded.owner,
        until = excluded.until
    WHERE leases.until <= ? OR leases.owner = excluded.owner
    RETURNING epoch
"""
_RENEW = "UPDATE leases SET until = ? WHERE mailbox = ? AND owner = ? AND epoch = ?"


@dataclass(frozen=True, slots=True)
class Lease:
    """A mailbox that is ours to watch; whoever has it after us has a higher epoch."""

    mailbox: str
    owner: str
    epoch: int


class LeaseLostError(StoreError):
    """Another gateway watches the mailbox by now: what was found is its to write."""


async def take(db: Database, mailbox: str, owner: str, now: datetime) -> Lease | None:
    """The mailbox, if nobody else has it."""
    return await db.write(lambda connection: _take(connection, mailbox, owner, now))


async def renew(db: Database, lease: Lease, now: datetime) -> bool:
    """Keep it for a while longer; False if it is another's by now."""
    values = (to_text(now + HELD), lease.mailbox, lease.owner, lease.epoch)
    return await db.write(lambda connection: connection.execute(_RENEW, values).rowcount == 1)


async def release(db: Database, lease: Lease) -> None:
    """Leave it to whoever comes next, at once."""
    values = ("", lease.mailbox, lease.owner, lease.epoch)
    await db.write(lambda connection: connection.execute(_RENEW, values) and None)


def check(connection: Connection, lease: Lease) -> None:
    """Within a transaction, before what only the watcher may write. Raises LeaseLostError."""
    row = connection.execute("SELECT owner, epoch FROM leases WHERE mailbox = ?", (lease.mailbox,)).fetchone()
    if row is None or tuple(row) != (lease.owner, lease.epoch):
        raise LeaseLostError(f"another gateway watches mailbox {lease.mailbox} by now")


def _take(connection: Connection, mailbox: str, owner: str, now: datetime) -> Lease | None:
    moment = to_text(now)
    values = (mailbox, owner, to_text(now + HELD), moment, moment)
    row = connection.execute(_TAKE, values).fetchone()
    return None if row is None else Lease(mailbox, owner, row[0])
