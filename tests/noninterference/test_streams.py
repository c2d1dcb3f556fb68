"""Two worlds on the event stream: hidden mail gives no event, no other cursor and no sign of life more or less."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from random import Random
from typing import Any

from postroom.base.caller import Toolset
from postroom.mailbox.notices import RECEIVED
from postroom.operations.eventstream import Event, EventStream
from postroom.operations.operation import Surface
from tests.noninterference.policies import PROFILES
from tests.noninterference.running import Loop, houses
from tests.noninterference.standing import House, caller
from tests.noninterference.worlds import meanwhile, two_worlds

EXAMPLES, STEPS = 60, 8


async def opened(house: House, profile: str, stack: AsyncExitStack) -> AsyncGenerator[Event | None, None]:
    who = caller(profile, Toolset.MAILBOX)
    stream = await house.corridor.perform("events", {}, who, Surface.HTTP)
    assert isinstance(stream, EventStream)
    return await stack.enter_async_context(aclosing(stream.run()))


async def told(events: AsyncGenerator[Event | None, None]) -> list[Event]:
    """What is told up to the second sign of life: each is followed by a look."""
    found: list[Event] = []
    signs = 0
    async for event in events:
        signs += event is None
        if event is not None:
            found.append(event)
        elif signs == 2:
            break
    return found


async def side_by_side(loop: Loop, seed: int) -> tuple[int, Any]:
    """How many messages were told, and the first difference."""
    rng = Random(seed)
    profile = rng.choice(sorted(PROFILES))
    pair = two_worlds(profile, tuple(rng.randrange(2**32) for _ in range(rng.randint(3, 16))))
    messages = 0
    async with houses(loop.grounds, pair) as both, AsyncExitStack() as stack:
        streams = [await opened(house, profile, stack) for house in both]
        for step in range(STEPS):
            clocks = (both[0].clock, both[1].clock)
            what = [meanwhile(pair, clocks, rng.randrange(2**32)) for _ in range(rng.randint(1, 5))]
            first, second = [await told(stream) for stream in streams]
            messages += sum(event.type == RECEIVED for event in first)
            if first != second:
                return messages, (seed, step, what, first, second)
    return messages, None


def test_the_stream_is_the_same_whatever_hidden_mail_there_is(loop: Loop) -> None:
    messages = 0
    for seed in range(EXAMPLES):
        count, difference = loop.run(side_by_side(loop, seed))
        messages += count
        assert difference is None
    assert messages > EXAMPLES / 3
