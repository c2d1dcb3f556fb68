"""Turns by key: one after another, in the order of coming, and nothing left behind."""

from __future__ import annotations

import asyncio

import pytest

from postroom.base.turns import StillTakenError, Turns

pytestmark = pytest.mark.anyio


async def test_those_of_one_key_go_one_after_another_and_others_pass_them() -> None:
    turns, order = Turns(), list[str]()
    first_is_in, go_on = asyncio.Event(), asyncio.Event()

    async def take(name: str, key: str) -> None:
        async with turns.of(key, 10):
            order.append(f"{name} in")
            first_is_in.set()
            if name == "a":
                await go_on.wait()
            order.append(f"{name} out")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(take("a", "k"))
        await first_is_in.wait()
        tasks.create_task(take("b", "k"))
        tasks.create_task(take("c", "k"))
        await tasks.create_task(take("d", "other"))
        go_on.set()
    assert order == ["a in", "d in", "d out", "a out", "b in", "b out", "c in", "c out"]
    assert turns._locks == {}


async def test_whoever_waits_too_long_is_told_so_and_keeps_nobody_from_the_key() -> None:
    turns = Turns()
    async with turns.of("k", 10):
        with pytest.raises(StillTakenError):
            async with turns.of("k", 0):
                raise AssertionError("two have it")
    async with turns.of("k", 0.1):
        pass
    assert turns._locks == {}


async def test_what_fails_inside_comes_out_as_it_is_and_gives_the_key_back() -> None:
    turns = Turns()
    with pytest.raises(TimeoutError, match="of another"):
        async with turns.of("k", 10):
            raise TimeoutError("of another")
    assert turns._locks == {}
