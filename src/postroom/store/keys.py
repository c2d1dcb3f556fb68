"""The sealing keys: made here, rotated here, and forgotten when nothing they sealed need open any more."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from postroom.base.seal import MASTER_BYTES, KeyRing
from postroom.store import audit
from postroom.store.audit import Event
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import to_text
from postroom.store.worker import StoreError

_MOST_KEYS = 255  # a key id is one byte in every sealed text


async def ring(db: Database, now: datetime) -> KeyRing:
    """The keys of that time; the first is made if there is none, those past their day are erased."""
    return await db.write(lambda connection: _ring(connection, now))


async def rotate(db: Database, now: datetime, keep_days: int = 30) -> KeyRing:
    """Make a new key the sealing one; what any older one sealed opens for `keep_days` at most (0: no longer)."""
    return await db.write(lambda connection: _rotate(connection, now, keep_days))


def _ring(connection: Connection, now: datetime) -> KeyRing:
    connection.execute("DELETE FROM sealing_keys WHERE open_until <= ?", (to_text(now),))
    if connection.execute("SELECT 1 FROM sealing_keys WHERE open_until IS NULL").fetchone() is None:
        _add(connection, now)
    rows = connection.execute("SELECT kid, master, open_until FROM sealing_keys").fetchall()
    current = next(kid for kid, _, open_until in rows if open_until is None)
    return KeyRing(current, {kid: master for kid, master, _ in rows})


def _rotate(connection: Connection, now: datetime, keep_days: int) -> KeyRing:
    open_until = to_text(now + timedelta(days=keep_days))
    connection.execute(
        "UPDATE sealing_keys SET open_until = ? WHERE open_until IS NULL OR open_until > ?", (open_until, open_until)
    )
    _add(connection, now)
    ring = _ring(connection, now)
    facts = {"current": ring.current, "keep_days": keep_days}
    audit.add(connection, [Event("event", "cli.keys.rotate", now, facts=facts)])
    return ring


def _add(connection: Connection, now: datetime) -> None:
    """A new key under the lowest id that is free."""
    used = {kid for (kid,) in connection.execute("SELECT kid FROM sealing_keys")}
    kid = next((kid for kid in range(1, _MOST_KEYS + 1) if kid not in used), None)
    if kid is None:
        raise StoreError("there are 255 sealing keys already; wait until old ones end, or rotate with 0 days")
    connection.execute(
        "INSERT INTO sealing_keys (kid, master, created) VALUES (?, ?, ?)",
        (kid, secrets.token_bytes(MASTER_BYTES), to_text(now)),
    )
