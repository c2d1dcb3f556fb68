"""An answer without end: events as they come, over HTTP alone; and how many such answers may be open."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from postroom.base.errors import Code, GatewayError

MOST = 500
"""Streams that are open at a time."""
MOST_OF_A_TOKEN = 8


@dataclass(frozen=True, slots=True)
class Event:
    """`id` is what a client says to go on after it."""

    id: str
    type: str
    data: bytes
    """JSON, in one line."""


@dataclass(frozen=True, slots=True)
class EventStream:
    """`run` gives events as they come, and None from time to time where none came."""

    run: Callable[[], AsyncGenerator[Event | None, None]]


class Streams:
    """Those of one process."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def check(self, token: str) -> None:
        """Raises `rate_limited` if the token has its share open, and `unavailable` if nobody may open more."""
        if self._open[token] >= MOST_OF_A_TOKEN:
            message = f"This token may hold {MOST_OF_A_TOKEN} streams at a time; close one of them."
            raise GatewayError(Code.RATE_LIMITED, message, retry_after=5, limit=MOST_OF_A_TOKEN)
        if self._open.total() >= MOST:
            message = "The gateway has as many streams open as it can. Try again later, or call inbox."
            raise GatewayError(Code.UNAVAILABLE, message, reason="streams", retry_after=30)

    @contextmanager
    def one_more(self, token: str) -> Iterator[None]:
        """One is open while the block runs. Raises as `check`."""
        self.check(token)
        self._open[token] += 1
        try:
            yield
        finally:
            self._open[token] -= 1
            if not self._open[token]:
                del self._open[token]
