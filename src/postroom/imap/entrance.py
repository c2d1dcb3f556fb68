"""Where all mailboxes of one server log in: a few at a time, since a thousand at once burden it, and us."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from postroom.base.tls import Endpoint

AT_ONCE = 16
"""Logins to one server."""
HURRIED, PATIENT = 1.0, 20.0
"""Seconds that a login waits for the others, if somebody waits for it or nobody does; then it goes beside them."""


class Entrance:
    """Of one server. One that answers nobody keeps nobody for long."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def passing(self, *, hurried: bool) -> AsyncIterator[None]:
        """Log in during the block."""
        async with AsyncExitStack() as held:
            with suppress(TimeoutError):
                async with asyncio.timeout(HURRIED if hurried else PATIENT):
                    await held.enter_async_context(self._room)
            yield


class Entrances:
    """One for the process."""

    def __init__(self) -> None:
        self._by_address: defaultdict[tuple[str, int], Entrance] = defaultdict(Entrance)

    def to(self, endpoint: Endpoint) -> Entrance:
        """The entrance of that server, the same for whoever asks."""
        return self._by_address[endpoint.host, endpoint.port]
