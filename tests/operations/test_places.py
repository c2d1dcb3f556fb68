"""Few calls hold much at once, small ones wait for nobody, and every place comes back."""

import asyncio

import pytest

from postroom.base.errors import Code, GatewayError
from postroom.operations.places import LARGE, Place

pytestmark = pytest.mark.anyio


async def test_a_large_call_waits_for_a_place_and_a_small_one_does_not() -> None:
    room = asyncio.Semaphore(1)
    first, second, third = Place(room), Place(room), Place(room)
    await first.take(None)
    await first.take(LARGE)
    await second.take(LARGE - 1)
    waiting = asyncio.ensure_future(third.take(LARGE))
    await asyncio.sleep(0)
    assert not waiting.done()
    second.give_back()
    await asyncio.sleep(0)
    assert not waiting.done()
    first.give_back()
    await waiting
    third.give_back()
    assert not room.locked()


async def test_who_finds_no_place_in_time_is_told_that_nothing_was_done() -> None:
    room = asyncio.Semaphore(0)
    with pytest.raises(GatewayError) as told:
        await Place(room, patience=0.01).take(LARGE)
    assert (told.value.code, told.value.details["retryable"]) == (Code.UNAVAILABLE, True)
