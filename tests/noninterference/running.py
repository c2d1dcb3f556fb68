"""The oracle: one program in two worlds, call by call, until an answer or what was sent differs by an octet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from postroom.base.caller import Toolset
from postroom.operations.operation import Surface
from tests.noninterference.arguments import Choosing
from tests.noninterference.history import Asked, History
from tests.noninterference.policies import PROFILES, TEXT
from tests.noninterference.programs import call
from tests.noninterference.standing import Ground, House, Told, caller, numbered_ids
from tests.noninterference.watched import TOOL
from tests.noninterference.worlds import Pair, meanwhile, two_worlds

T = TypeVar("T")
MEANWHILE = 0.3
"""How often something happens between two calls."""
LOOKS = 0.15
"""How often an endpoint is told instead of a call being made."""


@dataclass(frozen=True)
class Example:
    """Everything there is to an example: slots of the worlds and steps of the program are seeds."""

    profile: str
    toolset: Toolset
    slots: tuple[int, ...]
    steps: tuple[int, ...]
    tools: frozenset[str] = frozenset()
    """The only operations of the program; all that are offered, if none is named."""


def seeded(
    seed: int, profiles: Sequence[str] = (), toolset: Toolset | None = None, tools: Sequence[str] = ()
) -> Example:
    """The example of a number, for what must be found again each time."""
    rng = Random(seed)
    profile = rng.choice(sorted(profiles or PROFILES))
    toolset = toolset or rng.choice(list(Toolset))
    slots = [rng.randrange(2**32) for _ in range(rng.randint(3, 16))]
    steps = [rng.randrange(2**32) for _ in range(10)]
    return Example(profile, toolset, tuple(slots), tuple(steps), frozenset(tools))


@dataclass
class Difference:
    """The first call whose answers differ, or after which it differs what was sent."""

    step: int
    asked: Asked
    told: tuple[Any, Any]

    def __str__(self) -> str:
        first, second = self.told
        return f"step {self.step}: {self.asked}\n  in one world: {first}\n  in the other: {second}"


@dataclass
class Run:
    """What came of an example: `log` tells each step."""

    log: list[str] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    """Operations that were answered with more than an error."""
    difference: Difference | None = None

    def __str__(self) -> str:
        return "\n".join([*self.log, str(self.difference)])


class Loop:
    """The grounds of two worlds on one event loop, for as long as the tests run."""

    def __init__(self, folder: Path, text: str = TEXT, other: str | None = None) -> None:
        """`other` is the configuration of the second world, where that is another one."""
        self._runner = asyncio.Runner()
        self.grounds = self.run(self._open(folder, text, other or text))

    async def _open(self, folder: Path, *texts: str) -> tuple[Ground, Ground]:
        places = [folder / "first", folder / "second"]
        first, second = [await Ground.open(place, text) for place, text in zip(places, texts, strict=True)]
        return first, second

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def close(self) -> None:
        for ground in self.grounds:
            self.run(ground.close())
        self._runner.close()

    def both(self, example: Example) -> Run:
        """The program of an example in both of its worlds."""
        with numbered_ids() as begin:
            return self.run(_both(self.grounds, example, begin))


@contextmanager
def looping(folder: Path, text: str = TEXT, other: str | None = None) -> Iterator[Loop]:
    loop = Loop(folder, text, other)
    try:
        yield loop
    finally:
        loop.close()


@asynccontextmanager
async def houses(grounds: Sequence[Ground], pair: Pair) -> AsyncIterator[tuple[House, House]]:
    async with asyncio.TaskGroup() as tasks, AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(ground.house(world.server, tasks, profile=pair.profile))
            for ground, world in zip(grounds, pair.worlds, strict=True)
        ]
        yield first, second


async def _both(grounds: Sequence[Ground], example: Example, begin: Callable[[int], None]) -> Run:
    pair, run, history = two_worlds(example.profile, example.slots), Run(), History()
    who = caller(example.profile, example.toolset)
    async with houses(grounds, pair) as (first, second):
        for house in (first, second):
            await house.look()
        for step, seed in enumerate(example.steps):
            rng = Random(seed)
            if rng.random() < MEANWHILE:
                run.log.append(meanwhile(pair, (first.clock, second.clock), rng.randrange(2**32)))
                continue
            if (not example.tools or TOOL in example.tools) and rng.random() < LOOKS:
                run.difference = await _looked(step, (first, second), run)
                if run.difference is not None:
                    return run
                continue
            asked = call(example.toolset, Choosing(rng, who, history, first.clock.now(), pair.tops), example.tools)
            told = []
            for house in (first, second):
                begin(step)
                told.append(await house.ask(asked.tool, asked.arguments, who, asked.surface))
            run.log.append(f"{asked} -> {told[0].octets[:300]!r}")
            run.answered |= set() if told[0].failed else {asked.tool}
            run.difference = difference(step, asked, told, (first, second))
            if run.difference is not None:
                return run
            history.learn(asked, told[0].values)
    return run


async def _looked(step: int, both: tuple[House, House], run: Run) -> Difference | None:
    """What an endpoint is told by now."""
    asked = Asked(TOOL, {}, Surface.HTTP)
    told = [await house.look() for house in both]
    run.log.append(f"{asked} -> {told[0].octets[:300]!r}")
    run.answered |= {TOOL} if told[0].values else set()
    return difference(step, asked, told, both)


def difference(step: int, asked: Asked, told: Sequence[Told], both: Sequence[House]) -> Difference | None:
    """What differs after a call: the answers, or all that was sent so far."""
    if told[0].octets != told[1].octets:
        return Difference(step, asked, (told[0].octets, told[1].octets))
    sent = [house.outbox.sent for house in both]
    return Difference(step, asked, (sent[0], sent[1])) if sent[0] != sent[1] else None
