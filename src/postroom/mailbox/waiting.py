"""A call that waits for mail: it stands before the board, and looks again where there may be something new."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from postroom.base.clock import Clock
from postroom.mailbox.board import Board, Spot

PAUSE = 15.0
"""Seconds after which a folder is looked at again although nothing was heard, where nobody listens."""

Stands = Callable[[], Awaitable[bool]]
"""Whether the caller may still see what it could see when its call began."""


async def always() -> bool:
    """Of a call that nobody can take anything away from meanwhile."""
    return True


class Waiting:
    """Some folders waited for, for so many seconds. Made before the first look, or what comes meanwhile is missed."""

    def __init__(
        self, board: Board, spots: Collection[Spot], clock: Clock, seconds: float, stands: Stands = always
    ) -> None:
        self._board = board
        self._clock = clock
        self._until = clock.monotonic() + seconds
        self._stands = stands
        self._seen = board.versions(spots)

    async def news(self) -> frozenset[Spot]:
        """The folders to look at again once there may be something new; none when nothing is to be waited for."""
        left = self._until - self._clock.monotonic()
        if left <= 0 or self._board.closed:
            return frozenset()
        doubted = {spot for spot in self._seen if not self._board.trusts(spot)}
        await self._board.changed(self._seen, min(left, PAUSE) if doubted else left)
        if self._board.closed or not await self._stands():
            return frozenset()
        before, self._seen = self._seen, self._board.versions(self._seen)
        return frozenset(doubted | {spot for spot in before if before[spot] != self._seen[spot]})
