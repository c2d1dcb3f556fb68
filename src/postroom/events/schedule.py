"""When a delivery is attempted again, and when an endpoint is given up."""

from __future__ import annotations

from datetime import datetime, timedelta

DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
"""Between an attempt and the next one: ten attempts in about three days."""
MOST_TRIES = len(DELAYS) + 1
SPREAD = 0.2
"""Each delay is up to this part shorter or longer, so that many failures at once do not come back at once."""
LONGEST_WISH = timedelta(hours=24)
"""How far a receiver's Retry-After is heeded."""
LONGEST = max(DELAYS[-1] * (1 + SPREAD), LONGEST_WISH)
"""Between an attempt and the next one, at most."""
GIVEN_UP_AFTER = timedelta(days=5)
LEAST_TRIES = 5
"""Of one event, before an endpoint is given up: days may pass without a look, by a leap of the clock or in sleep."""


def next_attempt(tries: int, now: datetime, chance: float, retry_after: float | None = None) -> datetime | None:
    """When to attempt what has failed so many times, or None if never; `chance` is from 0 to 1.

    A receiver's wish for another time can only make it later.
    """
    if tries >= MOST_TRIES:
        return None
    delay = DELAYS[tries - 1] * (1 - SPREAD + 2 * SPREAD * chance)
    wish = timedelta(seconds=min(retry_after or 0.0, LONGEST_WISH.total_seconds()))
    return now + max(delay, wish)


def is_given_up(failing_since: datetime, now: datetime) -> bool:
    """Whether nothing has succeeded for so long that nobody is expected there any more."""
    return now - failing_since >= GIVEN_UP_AFTER
