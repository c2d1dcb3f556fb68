"""What a watcher found out, written under its lease: what is to be told, and how far that goes, or nothing of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from postroom.store import deliveries, leases, marks, told
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.deliveries import Due
from postroom.store.leases import Lease
from postroom.store.marks import Mark
from postroom.store.told import Told


@dataclass(frozen=True, slots=True)
class Finding:
    """In one folder."""

    folder: str
    due: Sequence[Due] = ()
    mark: Mark | None = None
    """How far it is told of from now on."""
    told: Sequence[Told] = ()
    """Messages that an endpoint is told of, as they are now."""
    forgotten: Sequence[Told] = ()
    renumbered: bool = False
    """Nothing is true any more that was known of its messages."""


async def record(db: Database, lease: Lease, finding: Finding, now: datetime) -> None:
    """Raises LeaseLostError, with nothing written, if another gateway watches the mailbox by now."""
    await db.write(lambda connection: _record(connection, lease, finding, now))


async def record_lost(db: Database, lease: Lease, due: Sequence[Due], now: datetime) -> bool:
    """The mailbox cannot be reached: to be told once. False if it was told before. Raises LeaseLostError."""

    def recorded(connection: Connection) -> bool:
        leases.check(connection, lease)
        is_new = marks.note_lost(connection, lease.mailbox, now)
        deliveries.enqueue(connection, due if is_new else (), now)
        return is_new

    return await db.write(recorded)


async def record_reached(db: Database, lease: Lease, due: Sequence[Due], now: datetime) -> bool:
    """The mailbox can be reached again: to be told once. False if nobody was told otherwise. Raises LeaseLostError."""

    def recorded(connection: Connection) -> bool:
        leases.check(connection, lease)
        is_new = marks.note_reached(connection, lease.mailbox)
        deliveries.enqueue(connection, due if is_new else (), now)
        return is_new

    return await db.write(recorded)


def _record(connection: Connection, lease: Lease, finding: Finding, now: datetime) -> None:
    leases.check(connection, lease)
    if finding.renumbered:
        told.drop_folder(connection, lease.mailbox, finding.folder)
    if finding.mark is not None:
        marks.put(connection, lease.mailbox, finding.folder, finding.mark)
    told.drop(connection, finding.forgotten)
    told.put(connection, finding.told, now)
    deliveries.enqueue(connection, finding.due, now)
