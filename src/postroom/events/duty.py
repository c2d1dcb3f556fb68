"""Which mailboxes this gateway watches: those it has the lease of, and of several gateways each has its share."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import suppress

from postroom.events.watched import Means, Watched
from postroom.events.watcher import Watcher
from postroom.store import gateways, leases
from postroom.store.leases import Lease
from postroom.store.worker import StoreError

RENEW = 3.0
"""Seconds between two looks at the leases: a third of what one lasts."""


class Duty:
    """One for the process. `owner` is this gateway's name, new with each start."""

    def __init__(self, watched: Sequence[Watched], means: Means, owner: str, *, alone: bool | None = None) -> None:
        """`alone` says that no other gateway can work with this store; unless it is said, the store knows."""
        self._watchers = {one.mailbox: Watcher(one, means) for one in watched}
        self._means = means
        self._owner = owner
        self._alone = not means.database.is_shared if alone is None else alone
        self._held: dict[str, tuple[Lease, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Watch until cancelled, and leave what is watched to whoever comes next."""
        failed = False
        try:
            async with asyncio.TaskGroup() as tasks:
                while True:
                    try:
                        await self._look_after(tasks)
                        failed = False
                    except StoreError as failure:
                        if not failed:  # once for as long as it lasts
                            self._means.log.error("watch.leases", failure)
                        failed = True
                    await self._means.clock.sleep(RENEW)
        finally:
            with suppress(StoreError):  # they end by themselves a little later
                await self._give_up(list(self._held))

    async def _look_after(self, tasks: asyncio.TaskGroup) -> None:
        """Keep what is held, give up what is too much, take what nobody has."""
        for mailbox in [name for name, (_, task) in self._held.items() if task.done()]:
            del self._held[mailbox]
        if not self._alone:
            await self._renew()
        share = math.ceil(len(self._watchers) / await self._gateways())
        await self._give_up(list(self._held)[share:])
        free = [mailbox for mailbox in self._watchers if mailbox not in self._held]
        room = share - len(self._held)
        if free and room > 0:
            now = self._means.clock.now()
            for lease in await leases.take(self._means.database, free, self._owner, now, most=room, alone=self._alone):
                watcher = self._watchers[lease.mailbox]
                self._held[lease.mailbox] = (lease, tasks.create_task(watcher.run(lease)))

    async def _gateways(self) -> int:
        """How many live, this one among them."""
        return 1 if self._alone else max(1, await gateways.living(self._means.database, self._means.clock.now()))

    async def _renew(self) -> None:
        held = [lease for lease, _ in self._held.values()]
        for lease in await leases.renew(self._means.database, held, self._means.clock.now()):
            self._means.log.warning("watch.lease_lost", mailbox=lease.mailbox)
            _, task = self._held.pop(lease.mailbox)
            task.cancel()

    async def _give_up(self, mailboxes: Sequence[str]) -> None:
        """Each ends before its lease does."""
        given = [self._held.pop(mailbox) for mailbox in mailboxes]
        for _, task in given:
            task.cancel()
        if given:
            await asyncio.wait([task for _, task in given])
            await leases.release(self._means.database, [lease for lease, _ in given])
