"""Other gateways over the same store: ours is known to be alive, and what a dead one left is brought to its end."""

from __future__ import annotations

from datetime import datetime

from postroom.base.clock import Clock
from postroom.operations.journal import Journal
from postroom.operations.trail import Trail
from postroom.store import gateways
from postroom.store.database import Database
from postroom.store.worker import StoreError

_BEATS_BEFORE_LOOKING = 3


class Succession:
    """One for the process."""

    def __init__(self, database: Database, clock: Clock, trail: Trail, journal: Journal, before: str) -> None:
        """`before` is the id of the gateway that had our folder of state."""
        self._database = database
        self._clock = clock
        self._trail = trail
        self._journal = journal
        self._before = before

    async def begin(self) -> None:
        """Be known, and bring to an end what those left who are gone. Raises StoreError."""
        await gateways.begin(self._database, self._trail.gateway, self._before, self._now)
        await self._take_over()

    async def keep(self) -> None:
        """For as long as the process runs."""
        beats = 0
        while True:
            await self._clock.sleep(gateways.BEAT)
            beats += 1
            try:
                await gateways.renew(self._database, self._trail.gateway, self._now)
                if beats % _BEATS_BEFORE_LOOKING == 0:
                    await self._take_over()
            except StoreError:  # whoever calls is told of it, and the next beat comes
                continue

    async def end(self) -> None:
        """Be gone. What cannot be written now others find out by themselves."""
        try:
            await gateways.end(self._database, self._trail.gateway)
        except StoreError:
            return

    @property
    def _now(self) -> datetime:
        return self._clock.now()

    async def _take_over(self) -> None:
        """The audit first: it asks the journal how far they came."""
        await self._trail.settle(self._journal.settled)
        await self._journal.recover()
