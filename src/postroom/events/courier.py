"""The courier: carries what is due to endpoints, few at a time to each, so that none keeps another waiting."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from postroom.base.clock import Clock
from postroom.base.logs import Log
from postroom.config import CredentialError
from postroom.events.delivering import Attempts
from postroom.events.endpoint import Endpoint
from postroom.events.schedule import LONGEST
from postroom.events.signing import signing_keys
from postroom.store import courierqueue, endpoints
from postroom.store.connection import Connection
from postroom.store.courierqueue import Claimed, Place
from postroom.store.database import Database
from postroom.store.deliveries import GAP
from postroom.store.endpoints import Registered
from postroom.store.worker import StoreError

AT_ONCE = 2
"""Attempts at a time for one endpoint."""
AT_ONCE_IN_ALL = 64
_LOOK_SECONDS = 5.0
"""How long something that another process has written may go unnoticed."""
_AGAIN_SECONDS = 1.0
_FORGET_SECONDS = 3600.0


class Courier:
    """One for the process. It holds no event itself: all that it does follows from the store."""

    def __init__(self, attempts: Attempts, tasks: asyncio.TaskGroup) -> None:
        self._attempts = attempts
        self._endpoints = {(one.mailbox, one.name): one for one in attempts.endpoints}
        self._tasks = tasks
        self._woken = asyncio.Event()
        self.attempts_under_way: set[asyncio.Task[None]] = set()
        self._busy: Counter[Place] = Counter()
        self._turn: dict[Place, int] = {}
        """When each endpoint had its last turn, in turns."""
        self._turns = 0
        self._latest = attempts.clock.now()

    @property
    def _database(self) -> Database:
        return self._attempts.database

    @property
    def _clock(self) -> Clock:
        return self._attempts.clock

    @property
    def _log(self) -> Log:
        return self._attempts.log

    def wake(self) -> None:
        """Something was enqueued, or may be: look now."""
        self._woken.set()

    async def begin(self) -> None:
        """Before anything is enqueued: which endpoints there are. Raises StoreError."""
        known = [await _registered(one) for one in self._endpoints.values()]
        now = self._clock.now()
        await self._database.write(lambda connection: endpoints.register(connection, known, now))
        await self._pull_in(now)

    async def run(self) -> None:
        """For as long as the process runs."""
        failed = False
        while True:
            try:
                seconds = await self._carry_what_is_due()
                failed = False
            except StoreError as failure:
                if not failed:  # the store says so to everybody else as well
                    self._log.error("webhooks.stuck", failure)
                seconds, failed = _AGAIN_SECONDS, True
            except Exception as unforeseen:  # noqa: BLE001 - one bad row must not silence all endpoints for good
                self._log.error("webhooks.failed", unforeseen)
                seconds = _AGAIN_SECONDS
            await self._rest(seconds)

    async def keep_tidy(self) -> None:
        """For as long as the process runs: forget deliveries that ended long ago."""
        while True:
            try:
                await self._database.write(self._forget)
            except StoreError as failure:
                self._log.error("webhooks.stuck", failure)
            await self._clock.sleep(_FORGET_SECONDS)

    async def drain(self, seconds: float) -> None:
        """Let attempts end for so long; what is cut off then is due again, for it may not have arrived."""
        running = set(self.attempts_under_way)
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        now, owner = self._clock.now(), self._attempts.owner
        try:
            await self._database.write(lambda connection: courierqueue.give_back(connection, owner, now))
        except StoreError as failure:  # its claims run out all the same
            self._log.error("webhooks.stuck", failure)

    def _forget(self, connection: Connection) -> None:
        courierqueue.forget(connection, list(self._endpoints), self._clock.now())

    async def _carry_what_is_due(self) -> float:
        """Begin as many attempts as there is room for; seconds until there may be more to do."""
        now = self._clock.now()
        if now < self._latest:
            await self._pull_in(now)
        self._latest = now
        earliest = await self._database.read(courierqueue.earliest)
        due = [place for place, at in earliest.items() if at <= now and place in self._endpoints]
        for one in await self._claimed(self._room_for(due), now):
            self._begin(one)
        later = [(at - now).total_seconds() for at in earliest.values() if at > now]
        return min([_LOOK_SECONDS, *later])

    async def _pull_in(self, now: datetime) -> None:
        await self._database.write(lambda connection: courierqueue.pull_in(connection, LONGEST, now))

    async def _claimed(self, wanted: Mapping[Place, int], now: datetime) -> list[Claimed]:
        owner = self._attempts.owner

        def claim(connection: Connection) -> list[Claimed]:
            claims = (courierqueue.claim(connection, place, most, owner, now) for place, most in wanted.items())
            return [one for found in claims for one in found]

        return await self._database.write(claim) if wanted else []

    def _room_for(self, due: Sequence[Place]) -> Counter[Place]:
        """How many to attempt for each: whoever has the fewest under way, and waited longest, comes first."""
        wanted: Counter[Place] = Counter()
        room = AT_ONCE_IN_ALL - self._busy.total()
        while room > 0:
            free = [place for place in due if self._busy[place] + wanted[place] < AT_ONCE]
            if not free:
                break
            first = min(free, key=lambda place: (self._busy[place] + wanted[place], self._turn.get(place, 0)))
            wanted[first] += 1
            room -= 1
            self._turns += 1
            self._turn[first] = self._turns
        return wanted

    def _begin(self, one: Claimed) -> None:
        place = one.mailbox, one.endpoint
        self._busy[place] += 1
        task = self._tasks.create_task(self._attempt(place, one))
        self.attempts_under_way.add(task)
        task.add_done_callback(self.attempts_under_way.discard)

    async def _attempt(self, place: Place, one: Claimed) -> None:
        try:
            await self._attempts.attempt(self._endpoints[place], one)
        except StoreError as failure:
            self._log.error("webhooks.stuck", failure)
        except Exception as unforeseen:  # noqa: BLE001 - its claim runs out and counts; the others go on
            self._log.error("webhooks.failed", unforeseen, mailbox=one.mailbox, webhook=one.endpoint)
        finally:
            self._busy[place] -= 1
            self.wake()

    async def _rest(self, seconds: float) -> None:
        """Until somebody wakes it, or so long."""
        alarm = self._tasks.create_task(self._ring(seconds))
        try:
            await self._woken.wait()
        finally:
            alarm.cancel()
        self._woken.clear()

    async def _ring(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._woken.set()


async def _registered(endpoint: Endpoint) -> Registered:
    """With a hash that changes when it is posted elsewhere or signed otherwise."""
    try:
        keys = await signing_keys(endpoint.settings)
    except CredentialError:  # each attempt will say so
        keys = []
    settings = sha256(b"\0".join([endpoint.settings.url.url.encode(), *keys])).hexdigest()
    return Registered(endpoint.mailbox, endpoint.name, settings, endpoint.wants(GAP))
