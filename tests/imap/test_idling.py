"""Listening by IDLE: what is told is heard at once, and no server keeps us longer than a command may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.connection import Connection
from postroom.imap.conversation import Deadlines
from postroom.imap.faults import DeadlineFault, LostFault, RefusedFault, WireFault
from postroom.imap.login import Identity
from postroom.imap.opening import open_connection
from tests.servers.patience import until
from tests.servers.peer import Conversation, Peer, listening

pytestmark = pytest.mark.anyio


class Heard:
    """What a connection told its listener, and when something came."""

    def __init__(self) -> None:
        self.kinds: list[str | None] = []
        self.came = asyncio.Event()

    def __call__(self, response: object) -> None:
        self.kinds.append(getattr(response, "kind", None))
        self.came.set()


@asynccontextmanager
async def opened(conversation: Conversation) -> AsyncIterator[tuple[Connection, Heard, asyncio.TaskGroup]]:
    async def whole(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 IDLE")
        await peer.opens()
        await conversation(peer)

    async with listening(whole) as server:
        endpoint = Endpoint("127.0.0.1", server.port, "none")
        connection = await open_connection(endpoint, Identity("ana", Secret("x")), Deadlines(2.0, 0.3))
        await connection.select(b"INBOX", read_only=True)
        connection.hear = heard = Heard()
        async with asyncio.TaskGroup() as tasks:
            yield connection, heard, tasks
        connection.close()


async def idles(peer: Peer, *told: bytes) -> bytes:
    """Begin an IDLE, tell this, and hear its end."""
    tag = (await peer.hears()).split(b" ")[0]
    await peer.says(b"+ idling", *told)
    assert await peer.hears() == b"DONE"
    return tag


async def test_what_the_server_tells_is_heard_while_it_waits() -> None:
    async def tells(peer: Peer) -> None:
        tag = await idles(peer, b"* 4 EXISTS", b"* OK still here", b"* 2 EXPUNGE", b'* STATUS "Work" (UIDNEXT 5)')
        await peer.says(tag + b" OK done")
        await peer.answers()

    async with opened(tells) as (connection, heard, tasks):
        idle = tasks.create_task(connection.idle())
        while len(heard.kinds) < 3:
            heard.came.clear()
            await heard.came.wait()
        assert not idle.done()
        connection.end_idle()
        assert await idle
        assert heard.kinds == ["EXISTS", "EXPUNGE", "STATUS"]
        await connection.run("NOOP")


async def test_an_idle_may_take_longer_than_a_command() -> None:
    async def waits(peer: Peer) -> None:
        tag = await idles(peer)
        await peer.says(tag + b" OK done")

    async with opened(waits) as (connection, _, tasks):
        idle = tasks.create_task(connection.idle())
        await asyncio.wait((idle,), timeout=0.5)
        assert not idle.done()
        connection.end_idle()
        assert await idle


async def test_one_that_is_ended_before_it_began_ends_when_it_begins() -> None:
    async def slow(peer: Peer) -> None:
        tag = (await peer.hears()).split(b" ")[0]
        await peer.says(b"* OK in a moment")
        begun.set()
        await ended.wait()
        await peer.says(b"+ idling")
        assert await peer.hears() == b"DONE"
        await peer.says(tag + b" OK done")

    begun, ended = asyncio.Event(), asyncio.Event()
    async with opened(slow) as (connection, _, tasks):
        idle = tasks.create_task(connection.idle())
        await begun.wait()
        connection.end_idle()
        ended.set()
        assert await idle


async def test_what_cannot_be_read_is_news_too() -> None:
    async def garbles(peer: Peer) -> None:
        tag = await idles(peer, b'* 5 FETCH (FLAGS (\\Seen "x)')
        await peer.says(tag + b" OK done")

    async with opened(garbles) as (connection, heard, tasks):
        idle = tasks.create_task(connection.idle())
        await heard.came.wait()
        connection.end_idle()
        await idle
        assert heard.kinds == [None]


async def test_a_server_that_does_not_wait_as_it_should_says_so() -> None:
    async def hasty(peer: Peer) -> None:
        tag = (await peer.hears()).split(b" ")[0]
        await peer.says(b"+ idling", tag + b" OK that is enough")
        await peer.answers()

    async with opened(hasty) as (connection, _, _tasks):
        assert not await connection.idle()
        await connection.run("NOOP")


@pytest.mark.parametrize("status", [b"BAD unknown", b"NO not now"])
async def test_a_refused_idle_costs_no_connection(status: bytes) -> None:
    async def refuses(peer: Peer) -> None:
        await peer.answers(status=status)
        await peer.answers()

    async with opened(refuses) as (connection, _, _tasks):
        with pytest.raises(RefusedFault):
            await connection.idle()
        assert connection.idles == 0
        await connection.run("NOOP")


async def silent(peer: Peer) -> None:
    """Never says that it waits."""
    await peer.hangs()


async def keeps(peer: Peer) -> None:
    """Does not let go."""
    await idles(peer)
    await peer.hangs()


async def leaves(peer: Peer) -> None:
    await peer.hears()
    await peer.says(b"+ idling", b"* BYE idle too long", b"* BYE idle too long")
    await peer.goes()


async def vanishes(peer: Peer) -> None:
    await peer.hears()
    await peer.says(b"+ idling")
    await peer.goes()


async def babbles(peer: Peer) -> None:
    await peer.hears()
    await peer.says(b"+ idling", b"<html>")


async def floods(peer: Peer) -> None:
    await peer.hears()
    await peer.says(b"+ idling", *[b"* 4 EXISTS"] * 2_000)


@pytest.mark.parametrize(
    ("conversation", "fault"),
    [
        (silent, DeadlineFault),
        (keeps, DeadlineFault),
        (leaves, LostFault),
        (vanishes, LostFault),
        (babbles, WireFault),
        (floods, WireFault),
    ],
)
async def test_whatever_goes_wrong_ends_the_connection(
    conversation: Conversation, fault: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.imap.conversation.MAX_UNTAGGED", 1_000)
    async with opened(conversation) as (connection, _, tasks):
        idle = tasks.create_task(caught(connection))
        await until(lambda: connection.idles > 0 or idle.done())
        if conversation is keeps:
            connection.end_idle()
        assert isinstance(await idle, fault)
        assert connection.closed
        connection.end_idle()  # which is too late, and does no harm


async def caught(connection: Connection) -> Exception | None:
    try:
        await connection.idle()
    except Exception as error:  # noqa: BLE001 - looked at by the test
        return error
    return None
