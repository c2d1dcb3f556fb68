"""The audit trail of a running gateway: intents and refusals at once, outcomes soon, and counts by the minute."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.base.logs import Log
from postroom.store import audit
from postroom.store.audit import Event, Phase
from postroom.store.audithead import write_head
from postroom.store.database import Database
from postroom.store.worker import StoreError

_SOON = 0.1
"""Seconds that an outcome may wait for others, or for the next intent, to share a commit with."""
_AGAIN = 1.0
"""Seconds between attempts while nothing can be written."""
_MINUTE = 60.0
_ANCHOR_MINUTES = 10
_MOST_COUNTED = 1_000
"""Different things counted in a minute; more of them are one."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What is alike enough to be one record a minute."""

    phase: Phase
    action: str
    token: str | None = None
    mailbox: str | None = None
    outcome: str | None = None
    source: str | None = None


Settle = Callable[[Mapping[str, Any]], Awaitable[tuple[str, Mapping[str, Any]] | None]]
"""From a record of an intent to how it ended, with facts, as far as somebody else knows."""


class Trail:
    """One for the process; whatever cannot be written now is kept and written before anything newer."""

    def __init__(self, database: Database, folder: Path, clock: Clock, log: Log, gateway: str = "") -> None:
        self.gateway = gateway
        """Whose intents these are."""
        self._database = database
        self._folder = folder
        self._clock = clock
        self._log = log
        self._waiting: list[Event] = []
        self._counts: Counter[Counted] = Counter()
        self._since: dict[Counted, datetime] = {}
        self._wake = asyncio.Event()
        self._broken = False
        self._headless = False
        """The head could not be written when it was tried last."""

    @property
    def now(self) -> datetime:
        return self._clock.now()

    async def write(self, *events: Event) -> None:
        """On the disk when it returns; written all the same if the caller is cancelled. Raises `unavailable`."""
        await self._deliver(events)
        self._wake.set()

    def later(self, event: Event) -> None:
        """Written within a moment, and no later than the next intent."""
        self._waiting.append(event)
        self._wake.set()

    async def end(self, outcome: Event) -> None:
        """The outcome of an intent: a refusal is written before it is answered, if it can be."""
        if outcome.outcome != "refused" or not await self._managed(self.write(outcome)):
            self.later(outcome)

    def count(self, counted: Counted) -> None:
        """One more of these in this minute."""
        if counted not in self._counts and len(self._counts) >= _MOST_COUNTED:
            counted = replace(counted, token=None, mailbox=None, source="many")
        self._counts[counted] += 1
        self._since.setdefault(counted, self._clock.now())

    async def flush(self) -> None:
        """Write all that waits, counts too. Raises `unavailable`, and then counts stay counts."""
        await self._deliver(())
        counts, since, self._counts, self._since = self._counts, self._since, Counter(), {}
        self._waiting += (_summed(counted, number, since[counted]) for counted, number in counts.items())
        await self._deliver(())

    async def settle(self, known: Settle | None = None) -> None:
        """What dead gateways began and never ended gets its outcome, `unknown` unless somebody knows better.

        Raises StoreError; whatever was not settled then is found again.
        """
        intents = await audit.unsettled(self._database, self.now, self.gateway)
        if not intents:
            return
        outcomes = []
        for intent in intents:
            outcome, facts = (await known(intent) if known else None) or ("unknown", {})
            facts = intent.get("facts", {}) | facts
            told = {name: intent.get(name) for name in ("request", "token", "mailbox")}
            outcomes.append(Event("outcome", intent["action"], self.now, outcome=outcome, facts=facts, **told))
        await self._managed(self._deliver(()))
        await audit.settle(self._database, outcomes)
        self._wake.set()

    async def keep(self) -> None:
        """Write outcomes as they come, for as long as the process runs."""
        while True:
            await self._wake.wait()
            await self._clock.sleep(_SOON)
            self._wake.clear()
            if await self._managed(self._deliver(())):
                await self._write_head()
            else:
                self._wake.set()
                await self._clock.sleep(_AGAIN)

    async def keep_counts(self) -> None:
        """Write counts once a minute, and tell the log now and then how far the trail has come."""
        minutes = 0
        while True:
            await self._clock.sleep(_MINUTE)
            minutes += 1
            await self._managed(self.flush())
            self._wake.set()
            if minutes % _ANCHOR_MINUTES == 0:
                await self.anchor()

    async def close(self) -> None:
        """Write what waits; nothing more is asked of a store that cannot take it."""
        if await self._managed(self.flush()):
            await self._write_head()
            await self.anchor()

    async def anchor(self) -> None:
        """Tell the log, which is kept elsewhere, of the last record."""
        try:
            tip = await audit.tip(self._database)
        except StoreError as failure:  # whoever keeps the trail goes on keeping it
            self._log.error("audit.failed", failure, reason="anchor")
            return
        self._log.info("audit.head", seq=tip.seq, hash=tip.hash)

    async def _deliver(self, events: Sequence[Event]) -> None:
        waiting, self._waiting = self._waiting, []
        if not (waiting or events):
            return
        future = self._database.post(lambda connection: audit.add(connection, [*waiting, *events], self.gateway))
        future.add_done_callback(partial(self._delivered, waiting))
        try:
            await asyncio.shield(future)
        except StoreError as failure:
            raise unwritable() from failure

    def _delivered(self, waiting: list[Event], future: asyncio.Future[None]) -> None:
        failure = None if future.cancelled() else future.exception()
        if future.cancelled() or failure is not None:
            self._waiting[:0] = waiting
        if self._broken != (failure is not None):
            self._broken = not self._broken
            if self._broken:
                self._log.error("audit.failed", failure)
            else:
                self._log.info("audit.works_again")

    async def _managed(self, writing: Coroutine[Any, Any, None]) -> bool:
        """Whether it could be written; if not, that is in the log already, and it still waits."""
        try:
            await writing
        except GatewayError:
            return False
        return True

    async def _write_head(self) -> None:
        try:
            tip = await audit.tip(self._database)
            await asyncio.to_thread(write_head, self._folder, tip, self._clock.now())
            self._headless = False
        except StoreError as failure:
            if not self._headless:  # once for as long as it lasts
                self._log.error("audit.failed", failure, reason="head")
            self._headless = True


def _summed(counted: Counted, number: int, since: datetime) -> Event:
    source = {"source": counted.source} if counted.source else {}
    told = (counted.phase, counted.action, since, None, counted.token, counted.mailbox, counted.outcome)
    return Event(*told, facts={"count": number} | source)


def unwritable() -> GatewayError:
    """What cannot be written down is not done."""
    message = "The gateway cannot keep its books now, so it changes nothing. Try again; the operator must look at it."
    return GatewayError(Code.UNAVAILABLE, message, reason="books", retry_after=5)
