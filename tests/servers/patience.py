"""Waiting in a test for what happens by itself, beside it in the same event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count


async def until(happens: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None, seconds: float = 15) -> None:
    """Return once it happens; `meanwhile` is done again and again before. Fails after so many seconds."""
    async with asyncio.timeout(seconds):
        for _ in count():
            if happens():
                return
            meanwhile()
            await asyncio.sleep(0.002)
