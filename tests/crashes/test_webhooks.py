"""Couriers that die at every moment between a claim and its record: nothing is lost, and little is told twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from postroom.base.clock import HandClock
from postroom.base.webhooksecret import fresh_secret
from postroom.store.database import FILE_NAME, Database
from postroom.store.deliveries import Due, body_of, enqueue
from tests.events.posts import Office, couriering, endpoint
from tests.journeys.test_serving import served
from tests.servers.ports import free_port
from tests.servers.receiver import Receiver, receiving

pytestmark = pytest.mark.anyio

_TURNS = 90
"""Turns of the event loop after which it dies, one after another: more than all attempts together take."""


async def test_whatever_turn_is_the_last_each_event_is_told_and_at_most_once_more_in_the_same_words(
    tmp_path: Path,
) -> None:
    found: Counter[tuple[str, int]] = Counter()
    for turn in range(_TURNS):
        folder = tmp_path / str(turn)
        database = await Database.open(folder / FILE_NAME)
        office = Office(database, HandClock())
        async with receiving() as receiver:
            hook = endpoint(tmp_path, "desk", receiver.url, ports=[str(receiver.port)])
            async with couriering(office, hook):
                ids = [await office.tell("desk") for _ in range(3)]
                for _ in range(turn):
                    await asyncio.sleep(0)
            for one in ids:
                posts = sum(post.id == one for post in receiver.posts)
                found[await office.state(one), posts] += 1
            office.clock.wind(31)
            async with couriering(office, hook, owner="next"):
                for one in ids:
                    await office.until(one, "delivered")
            _check(receiver, ids)
        await database.close()
    for place in (("due", 0), ("running", 0), ("running", 1), ("delivered", 1)):
        assert found[place], f"it died nowhere between: {found}"


def _check(receiver: Receiver, ids: list[str]) -> None:
    told = Counter(post.id for post in receiver.posts)
    assert told.keys() == set(ids)
    assert max(told.values()) <= 2
    assert len({(post.id, post.body) for post in receiver.posts}) == len(ids)


async def test_a_gateway_that_is_killed_amid_a_post_repeats_it_once_under_the_same_id(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    (tmp_path / "hook.secret").write_text(fresh_secret().reveal())
    (tmp_path / "hook.secret").chmod(0o600)
    async with receiving() as receiver:
        path = tmp_path / "postroom.yaml"
        path.write_text(
            f"server: {{listen: '127.0.0.1:{port}'}}\nmailboxes:\n  - name: work\n    smtp: {{host: 127.0.0.1}}\n"
            "    webhooks:\n      - {name: desk, unbound: true, events: [send.outcome], secret_file: hook.secret,\n"
            f"         url: '{receiver.url}', allow_private: [127.0.0.1], ports: [{receiver.port}]}}\n"
        )
        path.chmod(0o600)
        receiver.hangs = True
        await _tell(tmp_path)
        process = await asyncio.to_thread(_served, path, url)
        try:
            await receiver.until(1)
        finally:
            await asyncio.to_thread(process.__exit__, None, None, None)
        receiver.hangs = False
        await _let_the_claim_run_out(tmp_path)
        process = await asyncio.to_thread(_served, path, url)
        try:
            await receiver.until(2)
            await _until_delivered(tmp_path)
        finally:
            await asyncio.to_thread(process.__exit__, None, None, None)
    first, second = receiver.posts
    assert (first.id, first.body) == (second.id, second.body)


def _served(path: Path, url: str):  # type: ignore[no-untyped-def]  # what contextlib makes of a function
    """A gateway that runs; it is killed when this is left."""
    process = served(path, url)
    process.__enter__()
    return process


async def _tell(folder: Path) -> None:
    now = HandClock().now()
    due = [Due("work", "desk", "send.outcome", body_of("send.outcome", now, {"mailbox": "work"}))]
    database = await Database.open(folder / "state" / FILE_NAME)
    await database.write(lambda db: enqueue(db, due, now))
    await database.close()


async def _let_the_claim_run_out(folder: Path) -> None:
    database = await Database.open(folder / "state" / FILE_NAME)
    changed = "UPDATE deliveries SET next_at = created WHERE state = 'running'"
    assert await database.write(lambda db: db.execute(changed).rowcount) == 1
    await database.close()


async def _until_delivered(folder: Path) -> None:
    database = await Database.open(folder / "state" / FILE_NAME)
    async with asyncio.timeout(20):
        while await database.read(lambda db: db.execute("SELECT state FROM deliveries").fetchall()) != [("delivered",)]:
            pass
    await database.close()
