"""The two ends of a connection: whoever writes waits for the other side, and whoever reads for what comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from postroom.base.tls import Endpoint
from postroom.imap.faults import LostFault
from postroom.imap.stream import Stream, connect
from tests.servers.patience import until
from tests.servers.peer import Peer, listening

pytestmark = pytest.mark.anyio
MUCH = bytes(32 * 1024 * 1024)


@asynccontextmanager
async def deaf(then: str) -> AsyncIterator[tuple[Stream, asyncio.Event]]:
    """A stream to one that reads nothing before it is let, and then `hangs` or `goes`."""
    let = asyncio.Event()

    async def server(peer: Peer) -> None:
        await let.wait()
        await getattr(peer, then)()

    async with listening(server) as peer:
        stream = await connect(Endpoint("127.0.0.1", peer.port, "none"))
        yield stream, let
        stream.close()


async def test_who_writes_much_waits_until_the_other_side_has_taken_it() -> None:
    async with deaf("hangs") as (stream, let), asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(stream.write(MUCH))
        await until(lambda: stream._room is not None)
        assert not writing.done()
        let.set()
        await writing


async def test_a_write_that_was_given_up_spoils_no_other() -> None:
    async with deaf("hangs") as (stream, let), asyncio.TaskGroup() as tasks:
        first = tasks.create_task(stream.write(MUCH))
        await until(lambda: stream._room is not None)
        first.cancel()
        await until(first.done)
        second = tasks.create_task(stream.write(b"NOOP\r\n"))
        let.set()
        await second


async def test_who_waits_for_one_that_goes_is_told_so() -> None:
    async with deaf("goes") as (stream, let), asyncio.TaskGroup() as tasks:
        writing, reading = tasks.create_task(stream.write(MUCH)), asyncio.ensure_future(stream.read_line())
        await until(lambda: stream._room is not None and stream._arrival is not None)
        let.set()
        async with asyncio.timeout(10):
            await writing
            with pytest.raises(LostFault):
                await reading
