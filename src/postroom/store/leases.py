"""Who watches which mailbox: a row with a deadline, and an epoch by which a gateway that slept too long is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import LEAP, to_text
from postroom.store.worker import StoreError

HELD = timedelta(seconds=10)
"""How long a mailbox stays with a gateway that says nothing any more; nobody's lease is good for much longer."""

_NEVER = "9999"
"""After every time that a lease may be held until."""
_TAKE = """
    INSERT INTO leases (mailbox, owner, until, epoch) VALUES (?, ?, ?, 1)
    ON CONFLICT (mailbox) DO UPDATE SET
        epoch = leases.epoch + CASE WHEN leases.owner = excluded.owner AND leases.until > ? THEN 0 ELSE 1 END,
        owner = excluded.owner,
        until = excluded.until
    WHERE leases.until <= ? OR leases.until > ? OR leases.owner = excluded.owner
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


async def take(
    db: Database, mailboxes: Sequence[str], owner: str, now: datetime, *, most: int | None = None, alone: bool = False
) -> list[Lease]:
    """Those mailboxes that nobody else has, at most so many.

    `alone` says that there is no other gateway: whoever has one still did so in an earlier life of ours.
    """
    return await db.write(lambda connection: _take_some(connection, mailboxes, owner, now, most, alone))


async def renew(db: Database, leases: Sequence[Lease], now: datetime) -> list[Lease]:
    """Keep them for a while longer; those that are another's by now."""
    return await db.write(lambda connection: [one for one in leases if not _keep(connection, one, to_text(now + HELD))])


async def release(db: Database, leases: Sequence[Lease]) -> None:
    """Leave them to whoever comes next, at once."""
    await db.write(lambda connection: [_keep(connection, one, "") for one in leases] and None)


def check(connection: Connection, lease: Lease) -> None:
    """Within a transaction, before what only the watcher may write. Raises LeaseLostError."""
    row = connection.execute("SELECT owner, epoch FROM leases WHERE mailbox = ?", (lease.mailbox,)).fetchone()
    if row is None or tuple(row) != (lease.owner, lease.epoch):
        raise LeaseLostError(f"another gateway watches mailbox {lease.mailbox} by now")


def _take_some(
    connection: Connection, mailboxes: Sequence[str], owner: str, now: datetime, most: int | None, alone: bool
) -> list[Lease]:
    taken: list[Lease] = []
    for mailbox in mailboxes:
        if most is not None and len(taken) >= most:
            break
        lease = _take(connection, mailbox, owner, now, alone)
        taken += [lease] if lease is not None else []
    return taken


def _keep(connection: Connection, lease: Lease, until: str) -> bool:
    return connection.execute(_RENEW, (until, lease.mailbox, lease.owner, lease.epoch)).rowcount == 1


def _take(connection: Connection, mailbox: str, owner: str, now: datetime, alone: bool) -> Lease | None:
    moment = _NEVER if alone else to_text(now)
    values = (mailbox, owner, to_text(now + HELD), moment, moment, to_text(now + HELD + LEAP))
    row = connection.execute(_TAKE, values).fetchone()
    return None if row is None else Lease(mailbox, owner, row[0])
