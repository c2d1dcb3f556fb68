"""Receivers of webhooks are told: the courier of a running gateway, with all that it needs."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from postroom.base.clock import Clock
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.config import MailboxConfig
from postroom.events.courier import AT_ONCE_IN_ALL, Courier
from postroom.events.delivering import Attempts
from postroom.events.egress import Egress, connect
from postroom.events.endpoint import endpoints
from postroom.events.outcomes import outcomes_for
from postroom.events.recheck import looking_through
from postroom.events.resolving import Resolver
from postroom.mailbox.directory import Directory
from postroom.store.database import Database
from postroom.store.deliveries import DELIVERIES

_GRACE_SECONDS = 5.0
"""How long attempts may take to end after the process was asked to stop."""


class Telling:
    """Of one gateway."""

    def __init__(
        self,
        mailboxes: Sequence[MailboxConfig],
        directory: Directory,
        database: Database,
        clock: Clock,
        log: Log,
        meters: Meters,
    ) -> None:
        self.directory = directory
        """The mailboxes under the policies that are in force."""
        self.endpoints = endpoints(mailboxes)
        self._database = database
        self._clock = clock
        self._log = log
        self._meters = meters
        self.outcomes = outcomes_for(self.endpoints, clock)

    @asynccontextmanager
    async def carrying(self, own_ports: Collection[int], tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
        """What is due is carried while the block runs; attempts that it ends among have some seconds to end too.

        `own_ports` are where the gateway listens itself.
        """
        resolver = Resolver(AT_ONCE_IN_ALL)
        courier = Courier(self._attempts(Egress(own_ports, resolver, connect)), tasks)
        await courier.begin()
        keepers = [tasks.create_task(keeping) for keeping in (courier.run(), courier.keep_tidy())]
        try:
            with self._database.listening(DELIVERIES, lambda _: courier.wake()):
                yield
        finally:
            for keeper in keepers:
                keeper.cancel()
            await courier.drain(_GRACE_SECONDS)
            resolver.close()

    def _attempts(self, egress: Egress) -> Attempts:
        return Attempts(
            owner=secrets.token_hex(8),
            endpoints=self.endpoints,
            database=self._database,
            egress=egress,
            still_shown=looking_through(lambda: self.directory),
            clock=self._clock,
            log=self._log,
            chance=random.random,
            meters=self._meters,
        )
