"""The board: whoever waits is woken by what happens, by a listener that comes or goes, by the time, and by the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from postroom.base.clock import HandClock
from postroom.mailbox.board import Board, Spot
from postroom.mailbox.waiting import PAUSE, Waiting

pytestmark = pytest.mark.anyio
HERE, THERE = ("box", "INBOX"), ("box", "Work")


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("does", "wakes"),
    [
        (lambda board: board.touch(HERE), True),
        (lambda board: board.touch(THERE), False),
        (lambda board: board.trust(HERE), True),
        (lambda board: board.trust(("box", "Trusted")), False),
        (lambda board: board.doubt(("box", "Trusted")), True),
        (lambda board: board.doubt(HERE), False),
        (lambda board: board.close(), True),
    ],
)
async def test_who_waits_is_woken_by_what_may_have_brought_something(
    does: Callable[[Board], None], wakes: bool
) -> None:
    board = Board(HandClock())
    board.trust(("box", "Trusted"))
    seen = board.versions([HERE, ("box", "Trusted")])
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(board.changed(seen, 60))
        await settled()
        does(board)
        await settled()
        assert waiting.done() is wakes
        waiting.cancel()
    assert not board._waiting


async def test_what_happened_before_the_wait_began_ends_it_at_once() -> None:
    board = Board(HandClock())
    seen = board.versions([HERE])
    board.touch(HERE)
    await board.changed(seen, 60)
    board.close()
    await board.changed(board.versions([HERE]), 60)


async def test_where_somebody_listens_nothing_is_looked_at_in_vain() -> None:
    clock = HandClock()
    board = Board(clock)
    board.trust(HERE)
    async with asyncio.TaskGroup() as tasks:
        waiting = Waiting(board, [HERE, THERE], clock, 60)
        news = tasks.create_task(waiting.news())
        await settled()
        clock.wind(PAUSE)
        assert await news == {THERE}
        board.trust(THERE)
        assert await waiting.news() == {THERE}
        news = tasks.create_task(waiting.news())
        await settled()
        clock.wind(PAUSE)
        await settled()
        assert not news.done()
        board.touch(HERE)
        assert await news == {HERE}
        news = tasks.create_task(waiting.news())
        await settled()
        clock.wind(60)
        assert await news == frozenset[Spot]()
