"""When a call that waits for mail should look again."""

from __future__ import annotations

from postroom.base.clock import Clock

PAUSE = 3.0
"""Seconds between two looks: each is a NOOP and a SEARCH for every mailbox."""


class Waiting:
    """A time to wait, spent in pauses between looks."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._until = clock.monotonic() + seconds

    async def worth_a_look(self) -> bool:
        """Returns when there may be something new, with False once the time is up."""
        left = self._until - self._clock.monotonic()
        if left <= 0:
            return False
        await self._clock.sleep(min(left, PAUSE))
        return True
