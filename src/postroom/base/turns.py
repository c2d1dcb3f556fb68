"""Turns: whatever has the same key goes one after another, and nobody waits without end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class StillTakenError(Exception):
    """Somebody has had the key for all the time that one would wait."""


class Turns:
    """Locks by key, which exist as long as somebody has or wants them."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, key: Hashable, seconds: float) -> AsyncIterator[None]:
        """Have the key for oneself, in the order of coming. Raises `StillTakenError` after waiting so long for it."""
        lock, wanted = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = lock, wanted + 1
        try:
            await _acquire(lock, seconds)
            try:
                yield
            finally:
                lock.release()
        finally:
            self._leave(key)

    def _leave(self, key: Hashable) -> None:
        lock, wanted = self._locks.pop(key)
        if wanted > 1:
            self._locks[key] = lock, wanted - 1


async def _acquire(lock: asyncio.Lock, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await lock.acquire()
    except TimeoutError:
        raise StillTakenError from None
