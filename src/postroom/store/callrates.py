"""How often each token calls, counted over all gateways: a bucket that refills steadily, kept as one point in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import SKEW

_MINUTE = 60_000_000
"""Microseconds."""
_SKEW = SKEW // timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TAKE = """
    INSERT INTO call_rates (token, full_at) VALUES (?, ?)
    ON CONFLICT (token) DO UPDATE SET full_at = excluded.full_at
"""


async def take(db: Database, token: str, per_minute: int, burst: int, now: datetime) -> int:
    """Take one call out of a bucket of `burst`. Returns 0, or the whole seconds after which the next is free.

    A bucket is known by when it will be full again (the generic cell rate algorithm); nothing is drawn in advance,
    so that the limit is exact whoever is asked.
    """
    return await db.write(lambda connection: _take(connection, token, per_minute, burst, now))


def _take(connection: Connection, token: str, per_minute: int, burst: int, now: datetime) -> int:
    moment, each = (now - _EPOCH) // timedelta(microseconds=1), -(-_MINUTE // per_minute)
    row = connection.execute("SELECT full_at FROM call_rates WHERE token = ?", (token,)).fetchone()
    known = row[0] if row and row[0] <= moment + burst * each + _SKEW else 0
    full_at = max(known, moment) + each
    early = full_at - moment - burst * each
    if early > 0:
        return -(-early // 1_000_000)
    connection.execute(_TAKE, (token, full_at))
    return 0
