"""Announcements: heard once what they tell of is on the disk, by listeners of every process, and never in vain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from postroom.base.clock import SystemClock
from postroom.store.connection import Connection
from postroom.store.database import Database
from tests.servers import stores

pytestmark = pytest.mark.anyio
PATIENCE = 10


class Ear:
    """Hears a topic and keeps it."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[str | None] = asyncio.Queue()

    async def next(self) -> str | None:
        return await asyncio.wait_for(self.heard.get(), PATIENCE)


@asynccontextmanager
async def another(tmp_path: Path, topic: str) -> AsyncIterator[Ear]:
    """Another gateway over the same PostgreSQL, that listens."""
    database, ear = await stores.opened(tmp_path / "state", "postgresql"), Ear()
    with database.listening(topic, ear.heard.put_nowait):
        keeping = asyncio.ensure_future(database.keep_listening(SystemClock()))
        assert await ear.next() is None  # from now on nothing is missed
        yield ear
        keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await database.close()


async def announce(db: Database, payload: str, topic: str = "arrivals") -> None:
    await db.write(lambda connection: connection.announce(topic, payload))


async def test_what_is_announced_is_heard_by_those_who_listen_to_it_and_as_long_as_they_do(db: Database) -> None:
    one, other, stranger = Ear(), Ear(), Ear()
    with db.listening("arrivals", one.heard.put_nowait), db.listening("deliveries", stranger.heard.put_nowait):
        with db.listening("arrivals", other.heard.put_nowait):
            await announce(db, "work/INBOX")
            assert await one.next() == await other.next() == "work/INBOX"
        await announce(db, "work/Sent")
        assert await one.next() == "work/Sent"
    await announce(db, "work/Trash")
    await asyncio.sleep(0)
    assert one.heard.empty()
    assert other.heard.empty()
    assert stranger.heard.empty()


async def test_what_was_undone_is_never_announced(db: Database) -> None:
    def spoiled(connection: Connection) -> None:
        connection.announce("arrivals", "never")
        raise LookupError

    ear = Ear()
    with db.listening("arrivals", ear.heard.put_nowait):
        with pytest.raises(LookupError):
            await db.write(spoiled)
        failing, good = asyncio.ensure_future(db.write(spoiled)), asyncio.ensure_future(announce(db, "good"))
        await asyncio.gather(failing, good, return_exceptions=True)
        assert await ear.next() == "good"
        assert ear.heard.empty()


async def test_one_hears_oneself_once_whether_the_others_are_heard_or_not(tmp_path: Path) -> None:
    async with another(tmp_path, "arrivals") as other:
        database, ear = await stores.opened(tmp_path / "state", "postgresql"), Ear()
        with database.listening("arrivals", ear.heard.put_nowait):
            keeping = asyncio.ensure_future(database.keep_listening(SystemClock()))
            assert await ear.next() is None
            for payload in ("one", "two"):
                await announce(database, payload)
                assert await other.next() == payload
            await announce(database, "last")
            assert [await ear.next() for _ in range(3)] == ["one", "two", "last"]
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await database.close()


async def test_an_announcement_tells_of_what_can_be_read_by_then(tmp_path: Path) -> None:
    db = await stores.opened(tmp_path / "state", "postgresql")

    def arrived(connection: Connection) -> None:
        connection.execute("INSERT INTO marks VALUES ('work', 'INBOX', 1, 7)")
        connection.announce("arrivals", "work/INBOX")

    async with another(tmp_path, "arrivals") as ear:
        await db.write(arrived)
        assert await ear.next() == "work/INBOX"
        assert await db.read(lambda c: c.execute("SELECT uid FROM marks").fetchone()) == (7,)
    await db.close()


async def test_another_gateway_hears_the_payload_whatever_it_holds_and_of_one_too_long_that_there_was_one(
    tmp_path: Path,
) -> None:
    db = await stores.opened(tmp_path / "state", "postgresql")
    async with another(tmp_path, "arrivals") as ear:
        for payload in ("", "work/R&-D", "é\"\\'$1 ☃ \n", "x" * 7_000):
            await announce(db, payload)
            assert await ear.next() == payload
        await announce(db, "x" * 9_000)
        assert await ear.next() is None
        await announce(db, "elsewhere", topic="deliveries")
        await announce(db, "last")
        assert await ear.next() == "last"
    await db.close()


@pytest.mark.parametrize(
    "letter", ["", "no json", "7", "[" * 7_000, "[]", "[1, 2, 3]", '{"a": 1}', json.dumps(["o", "arrivals", 7])]
)
async def test_what_a_stranger_sends_on_the_channel_is_at_most_a_reason_to_look(tmp_path: Path, letter: str) -> None:
    db = await stores.opened(tmp_path / "state", "postgresql")
    async with another(tmp_path, "arrivals") as ear:
        await db.write(lambda c: c.execute("SELECT pg_notify('postroom', ?)", (letter,)) and None)
        assert await ear.next() is None
        await announce(db, "good")
        assert await ear.next() == "good"
    await db.close()


async def test_one_who_was_cut_off_is_told_that_something_may_have_been_missed(tmp_path: Path) -> None:
    db = await stores.opened(tmp_path / "state", "postgresql")
    ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE ?"
    async with another(tmp_path, "arrivals") as ear:
        await db.write(lambda c: c.execute(ours, ("LISTEN%",)) and None)
        assert await ear.next() is None
        await announce(db, "good")
        assert await ear.next() == "good"
    await db.close()
