"""Other relations between two runs of a program: in company, twice, under rules in another order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from postroom.base.caller import Caller, Toolset
from postroom.config.nodes import compose, plain
from tests.noninterference.arguments import Choosing
from tests.noninterference.history import Asked, History
from tests.noninterference.policies import PROFILES
from tests.noninterference.programs import call, offered
from tests.noninterference.running import MEANWHILE, Example, Loop, Run, difference, houses
from tests.noninterference.standing import House, Told, caller, numbered_ids
from tests.noninterference.worlds import Pair, World, meanwhile, two_worlds

_SEALED = re.compile(rb"\b[macst]1_[A-Za-z0-9_-]{20,}")
_CURSOR = re.compile(rb"[cs]1_[A-Za-z0-9_-]{20,}")


def the_same_twice(profile: str, slots: tuple[int, ...]) -> Pair:
    """Two worlds that are one."""
    first, second = (two_worlds(profile, slots).worlds[0] for _ in range(2))
    return Pair(profile, (first, World(second.server, second.hidden)))


def alone_and_in_company(loop: Loop, example: Example) -> Run:
    """A caller's answers where it is alone, and where another with another policy reads between its calls."""
    rng = Random(str(example.steps))
    other = caller(rng.choice(sorted(PROFILES.keys() - {example.profile})), rng.choice(list(Toolset)), user="eve")
    reads = frozenset(one.name for one in offered(other.toolset) if one.effect.read_only)
    heard = History()

    async def company(house: House, pair: Pair) -> None:
        asked = call(other.toolset, Choosing(rng, other, heard, house.clock.now(), pair.tops), reads)
        if "wait_seconds" not in asked.arguments:
            heard.learn(asked, (await house.ask(asked.tool, asked.arguments, other, asked.surface)).values)

    return _side_by_side(loop, example, before_second=company)


def under_other_numbers(loop: Loop, example: Example) -> Run:
    """Two worlds that number their messages as they came, so that hidden ones move the UIDs of others.

    Sealed ids differ then: what counts is where the same one stands again. Nobody without the keys learns more.
    """

    async def run(begin: Callable[[int], None]) -> Run:
        pair, told = two_worlds(example.profile, example.slots, one_numbering=False), Run()
        histories, names = (History(), History()), (_Names(), _Names())
        who = caller(example.profile, example.toolset)
        async with houses(loop.grounds, pair) as both:
            for step, seed in enumerate(example.steps):
                if Random(seed).random() < MEANWHILE:
                    told.log.append(meanwhile(pair, [house.clock for house in both], seed))
                    continue
                answers = []
                for house, history, named in zip(both, histories, names, strict=True):
                    begin(step)
                    choosing = Choosing(Random(seed), who, history, house.clock.now(), {}, forges=False)
                    asked = call(example.toolset, choosing, example.tools)
                    answer = await house.ask(asked.tool, asked.arguments, who, asked.surface)
                    history.learn(asked, answer.values)
                    answers.append(Told(named.instead(answer.octets), answer.values))
                told.log.append(f"{asked} -> {answers[0].octets[:300]!r}")
                told.difference = difference(step, asked, answers, both)
                if told.difference is not None:
                    return told
        return told

    with numbered_ids() as begin:
        return loop.run(run(begin))


class _Names:
    """A name for each sealed id of one world: its kind, its length, and which one it is by first appearance."""

    def __init__(self) -> None:
        self._known: dict[bytes, bytes] = {}

    def instead(self, octets: bytes) -> bytes:
        return _SEALED.sub(lambda match: self._name(match[0]), octets)

    def _name(self, sealed: bytes) -> bytes:
        new = b"%c#%d#%d" % (sealed[0], len(sealed), len(self._known))
        return self._known.setdefault(sealed, new)


def in_another_order(loop: Loop, example: Example) -> Run:
    """A caller's answers under two configurations, of which `loop` was opened with both."""
    return _side_by_side(loop, example, nameless=True)


def twice(loop: Loop, example: Example) -> Run:
    """Every call that only reads is made once more at once."""

    async def run() -> Run:
        pair, history, told = the_same_twice(example.profile, example.slots), History(), Run()
        who = caller(example.profile, example.toolset)
        async with houses(loop.grounds, pair) as (house, _):
            for step, seed in enumerate(example.steps):
                asked = call(example.toolset, Choosing(Random(seed), who, history, house.clock.now(), pair.tops))
                answers = [await house.ask(asked.tool, asked.arguments, who, asked.surface)]
                if _reads(asked, who):
                    answers.append(await house.ask(asked.tool, asked.arguments, who, asked.surface))
                told.log.append(f"{asked} -> {answers[0].octets[:300]!r}")
                told.difference = difference(step, asked, [answers[0], answers[-1]], (house, house))
                if told.difference is not None:
                    break
                history.learn(asked, answers[0].values)
        return told

    with numbered_ids() as begin:
        begin(0)
        return loop.run(run())


def _reads(asked: Asked, who: Caller) -> bool:
    reads = {one.name for one in offered(who.toolset) if one.effect.read_only}
    return asked.tool in reads and "wait_seconds" not in asked.arguments


_Before = Callable[[House, Pair], Any]


async def _nobody(house: House, pair: Pair) -> None:
    return None


def _side_by_side(loop: Loop, example: Example, *, before_second: _Before = _nobody, nameless: bool = False) -> Run:
    """A program in two copies of one world; `nameless` compares cursors by their places alone."""

    async def run(begin: Callable[[int], None]) -> Run:
        pair, told = the_same_twice(example.profile, example.slots), Run()
        histories, who = (History(), History()), caller(example.profile, example.toolset)
        async with houses(loop.grounds, pair) as both:
            for step, seed in enumerate(example.steps):
                await before_second(both[1], pair)
                answers, tops = [], pair.tops
                for house, history in zip(both, histories, strict=True):
                    begin(step)
                    choosing = Choosing(Random(seed), who, history, house.clock.now(), tops)
                    asked = call(example.toolset, choosing, example.tools)
                    answer = await house.ask(asked.tool, asked.arguments, who, asked.surface)
                    history.learn(asked, answer.values)
                    answers.append(_without_cursors(answer) if nameless else answer)
                told.log.append(f"{asked} -> {answers[0].octets[:300]!r}")
                told.difference = difference(step, asked, answers, both)
                if told.difference is not None:
                    return told
        return told

    with numbered_ids() as begin:
        return loop.run(run(begin))


def _without_cursors(told: Told) -> Told:
    """Cursors are bound to the text of the policy, and so are others where that is another."""
    return Told(_CURSOR.sub(b"cursor", told.octets), told.values)


def shuffled(text: str, seed: int) -> str:
    """The same configuration with every list of rules, patterns and restrictions in another order."""
    root, faults = compose(text)
    if root is None or faults:
        raise ValueError(faults)
    rng, value = Random(seed), plain(root)
    for name in ("policies", "profiles"):
        value[name] = _shuffled(value[name], rng)  # type: ignore[index]  # a configuration is a mapping
    return json.dumps(value)


def _shuffled(value: Any, rng: Random) -> Any:
    if isinstance(value, dict):
        return {name: _shuffled(inner, rng) for name, inner in value.items()}
    if isinstance(value, list):
        return rng.sample([_shuffled(inner, rng) for inner in value], len(value))
    return value
