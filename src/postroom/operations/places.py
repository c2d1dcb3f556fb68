"""Places for calls that hold much at once: a small call can fetch a large draft, or large files, into memory."""

from __future__ import annotations

import asyncio

from postroom.base.errors import Code, GatewayError

LARGE = 1_000_000
"""Octets from which on a message or its files are large: in memory they are some times that until the call is over."""
AT_ONCE = 2
PATIENCE = 60.0
"""Seconds to wait for a place."""


class Place:
    """One call's; without `room` nothing is bounded."""

    def __init__(self, room: asyncio.Semaphore | None = None, patience: float = PATIENCE) -> None:
        self._room = room
        self._patience = patience
        self._taken = False

    async def take(self, octets: int | None) -> None:
        """Before so many are fetched, or nobody knows how many. Raises `unavailable` if none is free in time.

        It is taken once, and after whatever else a call waits for: who has one waits for nobody that waits for one.
        """
        if self._room is None or self._taken or (octets is not None and octets < LARGE):
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._room.acquire()
        except TimeoutError:
            message = "Other large messages are on their way, and nothing was done with this one. Try again."
            raise GatewayError(Code.UNAVAILABLE, message, reason="busy", retryable=True, retry_after=5) from None
        self._taken = True

    def give_back(self) -> None:
        """When the call is over, however it ended."""
        if self._room is not None and self._taken:
            self._taken = False
            self._room.release()
