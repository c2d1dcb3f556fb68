"""What each token has spent in the last hour, kept so that a restart forgets nothing."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from sqlite3 import Connection

from postroom.store.database import Database
from postroom.store.times import from_text, to_text

_HOUR = timedelta(hours=1)
_WITHIN = "SELECT at, count FROM spending WHERE token = ? AND kind = ? AND at > ? ORDER BY at"


async def spend(db: Database, token: str, kind: str, count: int, most: int, now: datetime) -> int:
    """Count `count` more of that kind, if the hour that ends now then holds at most `most`.

    Returns 0 if it did; else nothing is counted, and the whole seconds are returned until as many are free, or,
    when `count` alone is too many, until all are.
    """
    return await db.write(lambda connection: spend_in(connection, (token, kind), count, most, now))


def spend_in(connection: Connection, who: tuple[str, str], count: int, most: int, now: datetime) -> int:
    """The same within a transaction of somebody; `who` is the token and the kind."""
    since = to_text(now - _HOUR)
    spent: list[tuple[str, int]] = connection.execute(_WITHIN, (*who, since)).fetchall()
    lacking = sum(number for _, number in spent) + count - most
    if lacking > 0:
        return _wait(spent, lacking, now)
    connection.execute("DELETE FROM spending WHERE at <= ?", (since,))
    connection.execute("INSERT INTO spending (token, kind, at, count) VALUES (?, ?, ?, ?)", (*who, to_text(now), count))
    return 0


def _wait(spent: list[tuple[str, int]], lacking: int, now: datetime) -> int:
    """Seconds until so much of what was spent is an hour old that `lacking` are free."""
    free_at = now + _HOUR if not spent else from_text(spent[-1][0]) + _HOUR
    for at, number in spent:
        lacking -= number
        if lacking <= 0:
            free_at = from_text(at) + _HOUR
            break
    return max(1, math.ceil((free_at - now).total_seconds()))
