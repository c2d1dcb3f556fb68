"""The only reader of the time, and a hand-wound clock for tests."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What the rest of the code knows of time."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back: for deadlines and backoff."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""
        ...


class SystemClock:
    """The time of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class HandClock:
    """A clock that moves only when a test winds it."""

    def __init__(self, start: datetime = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic = 1000.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            return
        woken = asyncio.Event()
        self._sleepers.append((self._monotonic + seconds, woken))
        await woken.wait()

    def set_back(self, seconds: float) -> None:
        """The wall clock alone shows less, as when somebody sets it: no time passes."""
        self._now -= timedelta(seconds=seconds)

    def wind(self, seconds: float) -> None:
        """Let `seconds` pass and wake whoever slept until now."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        for due, woken in self._sleepers:
            if due <= self._monotonic:
                woken.set()
        self._sleepers = [(due, woken) for due, woken in self._sleepers if due > self._monotonic]
