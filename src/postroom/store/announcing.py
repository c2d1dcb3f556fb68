"""Announcements: what one transaction tells, heard by whoever listens in this process and in the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from postroom.store.connection import Announcement

Heard = Callable[[str | None], None]
"""Takes the payload, on the event loop; None says that something was perhaps missed, so that anything may have been."""


class Board:
    """Who listens in this process; anybody may pin something to it, from whichever thread."""

    def __init__(self) -> None:
        self._listeners: list[tuple[str, Heard, asyncio.AbstractEventLoop]] = []

    @contextmanager
    def listening(self, topic: str, heard: Heard) -> Iterator[None]:
        """Hear of the topic while the block runs, on the loop that it runs on."""
        listener = (topic, heard, asyncio.get_running_loop())
        self._listeners = [*self._listeners, listener]
        try:
            yield
        finally:
            self._listeners = [one for one in self._listeners if one is not listener]

    def pin(self, announced: Sequence[Announcement]) -> None:
        for topic, payload in announced:
            self._tell([one for one in self._listeners if one[0] == topic], payload)

    def missed(self, topic: str | None = None) -> None:
        """Nobody knows what was announced meanwhile, of that topic or of any."""
        self._tell([one for one in self._listeners if topic in (None, one[0])], None)

    def _tell(self, listeners: Sequence[tuple[str, Heard, asyncio.AbstractEventLoop]], payload: str | None) -> None:
        for _, heard, loop in listeners:
            if not loop.is_closed():
                loop.call_soon_threadsafe(heard, payload)
