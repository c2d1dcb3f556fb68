"""What each token has spent in the last hour, kept so that a restart forgets nothing."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import from_text, to_text

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
_WITHIN = "SELECT at, count FROM spending WHERE token = ? AND kind = ? AND at > ? AND at <= ? ORDER BY at"


async def spend(
    db: Database, token: str, kind: str, count: int, most: int, now: datetime, *, window: timedelta = HOUR
) -> int:
    """Count `count` more of that kind, if the window that ends now then holds at most `most`.

    A kind has one window. Returns 0 if it did; else nothing is counted, and the whole seconds are returned until as
    many are free, or, when `count` alone is too many, until all are.
    """
    return await db.write(lambda connection: spend_in(connection, (token, kind), count, most, now, window))


def spend_in(
    connection: Connection,
    who: tuple[str, str],
    count: int,
    most: int,
    now: datetime,
    window: timedelta = HOUR,
) -> int:
    """The same within a transaction of somebody; `who` is the token and the kind."""
    since = to_text(now - window)
    ahead = to_text(now + window)  # what a clock noted before it was set back counts, and locks nobody out for long
    spent: list[tuple[str, int]] = connection.execute(_WITHIN, (*who, since, ahead)).fetchall()
    lacking = sum(number for _, number in spent) + count - most
    if lacking > 0:
        return _wait(spent, lacking, now, window)
    connection.execute("DELETE FROM spending WHERE kind = ? AND at <= ?", (who[1], since))
    connection.execute("INSERT INTO spending (token, kind, at, count) VALUES (?, ?, ?, ?)", (*who, to_text(now), count))
    return 0


def _wait(spent: list[tuple[str, int]], lacking: int, now: datetime, window: timedelta) -> int:
    """Seconds until so much of what was spent is out of the window that `lacking` are free."""
    free_at = now + window if not spent else from_text(spent[-1][0]) + window
    for at, number in spent:
        lacking -= number
        if lacking <= 0:
            free_at = from_text(at) + window
            break
    return max(1, math.ceil((free_at - now).total_seconds()))
