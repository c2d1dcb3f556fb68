"""Several gateways share the watching of many mailboxes: each is watched once, whoever dies or sleeps."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals

from soak.arrivals import Program, Soak, message
from tests.servers.postgresql import Postgresql
from tests.servers.proxy import proxied

_PATIENCE = 60.0
_FORM = 'YYYY-MM-DD"T"HH24:MI:SS'
_SHARED = "SELECT mailbox, owner FROM leases WHERE until > to_char(now() AT TIME ZONE 'UTC', '" + _FORM + "')"  # noqa: S608 - constants


@dataclass(slots=True)
class Shares:
    """What was seen: mailboxes by gateway, seconds until all were watched again, and messages by event ids."""

    at_first: list[int] = field(default_factory=list)
    after_a_death: float = 0.0
    after_a_sleep: float = 0.0
    told: int = 0
    untold: int = 0
    twice: int = 0


class Sharing:
    """Of one run, over a PostgreSQL."""

    def __init__(self, soak: Soak, postgresql: Postgresql) -> None:
        self._soak = soak
        self._postgresql = postgresql

    async def run(self) -> Shares:
        """Let one gateway die and another one sleep, with mail before, between and after."""
        soak, shares = self._soak, Shares()
        async with (
            proxied(soak.dovecot.port) as proxy,
            soak.receiver() as (_, port),
            soak.gateways(proxy, port) as gateways,
        ):
            await soak.watching(port)
            share = -(-len(soak.users) // len(gateways))
            owners = await self._shared(lambda owners: len(owners) == len(gateways) and max(owners.values()) <= share)
            shares.at_first = sorted(owners.values())
            await self._mail()
            shares.after_a_death = await self._without(gateways[0], SIGKILL, owners)
            await self._mail()
            owners = await self._shared(lambda owners: len(owners) == len(gateways) - 1)
            shares.after_a_sleep = await self._without(gateways[1], SIGSTOP, owners)
            await self._mail()
            gateways[1].send(SIGCONT)
            await self._mail()
            await soak.settled()
            await asyncio.sleep(2)  # what the sleeper may still want to write
        told = soak.told()
        shares.told, shares.untold = len(told), len(soak.owed() - told.keys())
        shares.twice = sum(len(names) > 1 for names in told.values())
        return shares

    async def _without(self, gateway: Program, how: Signals, before: Counter[str]) -> float:
        """Seconds until those that are left watch everything."""
        since = time.monotonic()
        gateway.send(how)
        await self._shared(lambda owners: len(owners) < len(before))
        return time.monotonic() - since

    async def _shared(self, good: Callable[[Counter[str]], bool]) -> Counter[str]:
        """Mailboxes by gateway, once all are watched and it is as wanted."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            rows = await asyncio.to_thread(self._postgresql.sql, _SHARED, url=self._soak.store)
            owners = Counter(owner for _, owner in rows)
            if len(rows) == len(self._soak.users) and good(owners):
                return owners
            await asyncio.sleep(0.2)
        raise RuntimeError(f"not all are watched: {rows}")

    async def _mail(self) -> None:
        """A message for each mailbox."""
        for user in self._soak.users:
            await asyncio.to_thread(self._soak.dovecot.deliver, user, [message(1)])
