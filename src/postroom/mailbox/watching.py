"""Which folders are listened to: those that somebody wants to hear of, each mailbox by one listener."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from postroom.base.clock import Clock
from postroom.base.logs import Log
from postroom.mailbox.account import Account
from postroom.mailbox.board import Board, Spot
from postroom.mailbox.listening import Listener

_TICK = 5.0


class Watching:
    """One for the process. Before `run`, and for mailboxes without an account, nobody listens."""

    def __init__(
        self,
        accounts: Mapping[str, Account],
        clock: Clock,
        log: Log | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.board = Board(clock)
        self._clock = clock
        self._listeners = {
            name: Listener(account, self.board, clock, log, chance) for name, account in accounts.items()
        }
        self._tasks: asyncio.TaskGroup | None = None
        self._running: dict[str, asyncio.Task[None]] = {}

    @contextmanager
    def hold(self, spots: Collection[Spot]) -> Iterator[None]:
        """Somebody wants to hear of these folders while the block runs."""
        held = [(mailbox, folder) for mailbox, folder in spots if self._wanted(mailbox, folder)]
        try:
            yield
        finally:
            for mailbox, folder in held:
                self._listeners[mailbox].release(folder)

    async def run(self) -> None:
        """Listen until cancelled."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                for mailbox in self._listeners:
                    self._begin(mailbox)
                while True:
                    await self._clock.sleep(_TICK)
                    self._tick()
        finally:
            self._tasks = None
            self._running.clear()

    def _wanted(self, mailbox: str, folder: str) -> bool:
        if mailbox not in self._listeners or not self._listeners[mailbox].want(folder):
            return False
        self._begin(mailbox)
        return True

    def _begin(self, mailbox: str) -> None:
        if self._tasks is not None and mailbox not in self._running and self._listeners[mailbox].is_wanted:
            self._running[mailbox] = self._tasks.create_task(self._listeners[mailbox].run())

    def _tick(self) -> None:
        for mailbox, task in list(self._running.items()):
            listener = self._listeners[mailbox]
            listener.tick()
            if not listener.is_wanted:
                task.cancel()
                del self._running[mailbox]
