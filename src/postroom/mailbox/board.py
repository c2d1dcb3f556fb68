"""Where listeners pin that something happened in a folder, and whoever waits for it is woken."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from postroom.base.clock import Clock

Spot: TypeAlias = tuple[str, str]
"""A mailbox and a folder of it, by their names."""


class Board:
    """Tells that something happened and no more: what it was is for each caller's own view to find.

    A trusted spot has somebody who listens there: as long as it has the same version, nothing has happened.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._versions: dict[Spot, int] = {}
        self._trusted: set[Spot] = set()
        self._waiting: defaultdict[Spot, set[asyncio.Future[None]]] = defaultdict(set)
        self.closed = False
        """The process stops: nobody waits any more."""

    def touch(self, spot: Spot) -> None:
        """Something may have happened there."""
        self._versions[spot] = self._versions.get(spot, 0) + 1
        _wake(self._waiting.get(spot, ()))

    def trust(self, spot: Spot) -> None:
        """From now on somebody listens there; what happened before may have been missed."""
        if spot not in self._trusted:
            self._trusted.add(spot)
            self.touch(spot)

    def doubt(self, spot: Spot) -> None:
        """Nobody listens there any more."""
        if spot in self._trusted:
            self._trusted.discard(spot)
            self.touch(spot)

    def trusts(self, spot: Spot) -> bool:
        return spot in self._trusted

    def count_trusted(self) -> int:
        """How many somebody listens at now."""
        return len(self._trusted)

    def versions(self, spots: Collection[Spot]) -> dict[Spot, int]:
        """What `changed` compares with."""
        return {spot: self._versions.get(spot, 0) for spot in spots}

    async def changed(self, seen: Mapping[Spot, int], seconds: float) -> None:
        """Return when one of these spots has another version, when the process stops, or after so many seconds."""
        with self._woken_by(seen) as woken:
            if not self.closed and self.versions(seen) == seen:
                await _within(self._clock, seconds, woken)

    def close(self) -> None:
        """Wake everybody for good."""
        self.closed = True
        for waiting in self._waiting.values():
            _wake(waiting)

    @contextmanager
    def _woken_by(self, spots: Collection[Spot]) -> Iterator[asyncio.Future[None]]:
        woken = asyncio.get_running_loop().create_future()
        for spot in spots:
            self._waiting[spot].add(woken)
        try:
            yield woken
        finally:
            for spot in spots:
                self._waiting[spot].discard(woken)
                if not self._waiting[spot]:
                    del self._waiting[spot]


def _wake(waiting: Iterable[asyncio.Future[None]]) -> None:
    for woken in waiting:
        if not woken.done():
            woken.set_result(None)


async def _within(clock: Clock, seconds: float, woken: asyncio.Future[None]) -> None:
    """Return when somebody wakes us, or after so many seconds."""
    async with asyncio.TaskGroup() as tasks:
        sleeping = tasks.create_task(clock.sleep(seconds))
        sleeping.add_done_callback(lambda _: _wake([woken]))
        await woken
        sleeping.cancel()
