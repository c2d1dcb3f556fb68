"""What the corridor needs to change anything: trail, journal, hourly limits, stop switch, work that is finished."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.config import LimitsConfig
from postroom.operations.eventstream import Streams
from postroom.operations.journal import Journal, Outcomes, nobody
from postroom.operations.places import AT_ONCE
from postroom.operations.queue import Queue
from postroom.operations.rate import Rate
from postroom.operations.trail import Trail, unwritable
from postroom.store import spending
from postroom.store.auditlist import Listed, Wanted, listing
from postroom.store.database import Database
from postroom.store.switch import Stopped, Switch
from postroom.store.worker import StoreError

T = TypeVar("T")


class Books:
    """One for the process. A call reaches it through `Call`."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        limits: LimitsConfig,
        trail: Trail,
        switch: Switch,
        tasks: asyncio.TaskGroup,
        outcomes: Outcomes = nobody,
    ) -> None:
        self.trail = trail
        self.large = asyncio.Semaphore(AT_ONCE)
        """Places for calls that hold much."""
        self.streams = Streams()
        """Streams of events that are open."""
        self.rate = Rate(clock, database if database.is_shared else None)
        self.journal = Journal(database, clock, limits.sends_per_hour, trail.gateway, outcomes)
        self.queue = Queue(database)
        self._database = database
        self._clock = clock
        self._limits = limits
        self._switch = switch
        self._tasks = tasks
        self._running: set[asyncio.Task[Any]] = set()

    async def spend_moves(self, token: str, count: int) -> None:
        """Raises `rate_limited` when the token would move or delete more messages in an hour than it may."""
        most = self._limits.moves_per_hour
        seconds = await self._spend(token, "moves", count, most)
        if seconds:
            message = (
                f"This token may move or delete {most:,} messages an hour, and this call's {count:,} would be more; "
                + (f"try again in {seconds} s." if count <= most else f"name at most {most:,} in a call.")
            )
            raise GatewayError(Code.RATE_LIMITED, message, retry_after=seconds, limit=most)

    async def spend_changes(self, identity: str, count: int, most: int) -> None:
        """Raises `rate_limited` when a bound caller would change more messages in a day than its policy lets it."""
        try:
            seconds = await spending.spend(
                self._database, identity, "changes", count, most, self._clock.now(), window=spending.DAY
            )
        except StoreError as failure:
            raise unwritable() from failure
        if seconds:
            message = f"The policy of this token lets it change {most:,} messages a day; try again in {seconds} s."
            raise GatewayError(Code.RATE_LIMITED, message, retry_after=seconds, limit=most)

    async def stopped(self, what: Stopped) -> bool:
        """Whether the operator has stopped that, as of this moment. Raises `unavailable` if nobody can tell."""
        try:
            state = await self._switch.state()
        except StoreError as failure:
            raise unwritable() from failure
        return state is not None and state.covers(what)

    async def records(self, wanted: Wanted) -> Listed:
        """Records of the trail, those of a moment ago among them. Raises `unavailable` if it cannot be read."""
        try:
            with contextlib.suppress(GatewayError):  # what cannot be written now can still be read
                await self.trail.flush()
            return await listing(self._database, wanted)
        except StoreError as failure:
            message = "The audit trail cannot be read now. Try again; else the operator runs postroom audit verify."
            raise GatewayError(Code.UNAVAILABLE, message, reason="books", retry_after=5) from failure

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns, which must not raise. It goes on to its end when the caller is cancelled."""
        task = self._tasks.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def drain(self, seconds: float) -> None:
        """Wait so long for what was begun; what is then cut off has no outcome until the next start."""
        running = set(self._running)
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            for task in late:
                task.cancel()

    async def _spend(self, token: str, kind: str, count: int, most: int) -> int:
        if not most or count <= 0:
            return 0
        try:
            return await spending.spend(self._database, token, kind, count, most, self._clock.now())
        except StoreError as failure:
            raise unwritable() from failure


def stopped_by_operator() -> GatewayError:
    """What a caller is told while the switch is thrown."""
    message = "Stopped by the operator. Do not try again before the operator says so."
    return GatewayError(Code.UNAVAILABLE, message, reason="stopped")
