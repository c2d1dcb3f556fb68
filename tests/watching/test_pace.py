"""A flood of mail waits in the mailbox for whoever takes events, and for nobody who does not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from postroom.events import arrivals, pace
from postroom.store import endpoints
from postroom.store.endpoints import Registered
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.servers.patience import until
from tests.watching.standing import RECEIVED, Standing, configuration, endpoint, standing

pytestmark = pytest.mark.anyio
LOOK = 7.25
"""Seconds that nobody else sleeps."""
TOLD = "UPDATE deliveries SET ended = created WHERE endpoint = ?"
FAILING = "UPDATE endpoints SET failing_since = '2026-03-03T09:00:00.000000Z' WHERE name = ?"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "_AT_ONCE", 2)
    monkeypatch.setattr(pace, "FAR", 3)
    monkeypatch.setattr(pace, "_LOOK_SECONDS", LOOK)


async def holds(at: Standing, name: str, count: int) -> None:
    """The watcher waits until events of that endpoint are told, and has told it no more than that."""
    await until(lambda: any(round(due - at.clock.monotonic(), 6) == LOOK for due, _ in at.clock._sleepers))
    assert len(await at.received(name)) == count
    await written(at, TOLD, name)
    at.clock.wind(LOOK)


async def registered(at: Standing, *names: str) -> None:
    """The store knows endpoints of these names."""
    known = [Registered("work", name, "", gaps=False) for name in names]
    await at.database.write(lambda connection: endpoints.register(connection, known, at.clock.now()))


async def written(at: Standing, statement: str, name: str) -> None:
    await at.database.write(lambda connection: connection.execute(statement, (name,)) and None)


async def received(at: Standing, name: str, count: int) -> bool:
    """No more than that, and in the end as many."""
    found = len(await at.received(name))
    assert found <= count
    return found == count


async def test_a_watcher_runs_only_so_far_ahead_of_the_quickest_who_takes_events(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    names = ("quick", "slow", "down")
    await asyncio.to_thread(dovecot.deliver, "pace", [])
    config = configuration(dovecot.port, "pace", [endpoint(name, RECEIVED) for name in names])
    async with standing(config, tmp_path) as at:
        await registered(at, *names)
        await written(at, FAILING, "down")
        async with at.watching():
            await at.trusted()
            await at.until(at.marked)
            await asyncio.to_thread(dovecot.deliver, "pace", [plain(f"Note {number}") for number in range(11)])
            await holds(at, "quick", 4)  # twice two are more than three
            await holds(at, "quick", 8)
            await at.until(lambda: received(at, "quick", 11))
        assert [len(await at.received(name)) for name in names] == [11] * 3


async def test_one_from_whom_most_is_hidden_does_not_hurry_the_watcher(dovecot: Dovecot, tmp_path: Path) -> None:
    await asyncio.to_thread(dovecot.deliver, "pace-blind", [])
    both = [endpoint("desk", RECEIVED), endpoint("blind", RECEIVED, profile="desk")]
    hidden = [{"id": "all", "match": {"subject": "Note"}, "action": "hide"}]
    async with standing(configuration(dovecot.port, "pace-blind", both, rules=hidden), tmp_path) as at:
        await registered(at, "desk", "blind")
        async with at.watching():
            await at.trusted()
            await at.until(at.marked)
            await asyncio.to_thread(dovecot.deliver, "pace-blind", [plain(f"Note {number}") for number in range(9)])
            await holds(at, "desk", 4)
            await holds(at, "desk", 8)
            await at.until(lambda: received(at, "desk", 9))
        assert await at.received("blind") == []


async def test_nobody_is_waited_for_who_takes_nothing(dovecot: Dovecot, tmp_path: Path) -> None:
    await asyncio.to_thread(dovecot.deliver, "pace-down", [])
    async with standing(configuration(dovecot.port, "pace-down", [endpoint("desk", RECEIVED)]), tmp_path) as at:
        await registered(at, "desk")
        await written(at, FAILING, "desk")
        async with at.watching():
            await at.trusted()
            await at.until(at.marked)
            await asyncio.to_thread(dovecot.deliver, "pace-down", [plain(f"Note {number}") for number in range(9)])
            await at.until(lambda: received(at, "desk", 9))
