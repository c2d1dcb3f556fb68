"""Mailboxes of one server log in a few at a time, and a server that answers nobody keeps nobody for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from postroom.base.clock import HandClock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap import entrance
from postroom.imap.admission import Server
from postroom.imap.conversation import Deadlines
from postroom.imap.entrance import AT_ONCE, Entrance, Entrances
from postroom.imap.faults import ConnectFault
from postroom.imap.pool import Pool
from tests.servers.inprocess import directory_of
from tests.servers.patience import until
from tests.servers.peer import Peer, listening
from tests.servers.ports import refusing_port

pytestmark = pytest.mark.anyio


@dataclass
class Gate:
    """Lets nobody in before it is opened; `met` connections have come so far."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)
    met: int = 0

    async def serve(self, peer: Peer) -> None:
        self.met += 1
        await self.opened.wait()
        await peer.lets_in()
        await peer.hangs()


def mailbox(port: int, shared: Entrance) -> Pool:
    async def secret() -> Secret:
        return Secret("open sesame")

    server = Server(Endpoint("127.0.0.1", port, "none"), "ana", "password", secret, Deadlines(20, 20), 3, shared)
    return Pool(server, HandClock(), chance=lambda: 0.5)


async def glance(pool: Pool) -> None:
    async with pool.connection(glance=True):
        pass
    pool.close()


async def listen(pool: Pool) -> None:
    (await pool.apart()).close()


async def call(pool: Pool) -> None:
    async with pool.connection():
        pass
    pool.close()


@asynccontextmanager
async def crowd(gate: Gate, shared: Entrance) -> AsyncIterator[list[Pool]]:
    """Twice as many mailboxes as may log in at a time want to: half of them to listen, such as the last."""
    async with listening(gate.serve) as peer, asyncio.TaskGroup() as tasks:
        pools = [mailbox(peer.port, shared) for _ in range(2 * AT_ONCE)]
        for number, pool in enumerate(pools):
            tasks.create_task((listen if number % 2 else glance)(pool))
        await until(lambda: gate.met >= AT_ONCE)
        yield pools
        gate.opened.set()


async def test_a_thousand_mailboxes_of_one_server_log_in_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(entrance, "HURRIED", 0.0)
    async with crowd(gate, Entrance()) as pools, asyncio.TaskGroup() as tasks:
        assert gate.met == AT_ONCE
        # Somebody waits for this one, and so it waits for nobody, not even for whoever would listen to its mailbox.
        calling = tasks.create_task(call(pools[-1]))
        await until(lambda: gate.met == AT_ONCE + 1)
        gate.opened.set()
        await calling
    assert gate.met == 2 * AT_ONCE + 1


async def test_a_server_that_answers_nobody_keeps_nobody_from_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(entrance, "PATIENT", 0.0)
    async with crowd(gate, Entrance()):
        await until(lambda: gate.met == 2 * AT_ONCE)


async def test_a_server_that_is_left_alone_for_a_while_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Entrance()
    pool = mailbox(refusing_port(), shared)
    for _ in range(2):  # the first failure costs no rest
        with pytest.raises(ConnectFault):
            await call(pool)
    monkeypatch.setattr(entrance, "HURRIED", 60.0)
    for _ in range(AT_ONCE):
        await shared._room.acquire()
    async with asyncio.timeout(5):
        with pytest.raises(ConnectFault):
            await call(pool)


def test_mailboxes_share_the_entrance_of_their_own_server_alone() -> None:
    entrances, here = Entrances(), Endpoint("imap.example.org", 993, "ssl")
    assert entrances.to(here) is entrances.to(Endpoint("imap.example.org", 993, "ssl", None, "pinned"))
    assert entrances.to(here) is not entrances.to(Endpoint("imap.example.org", 143, "starttls"))
    assert entrances.to(here) is not entrances.to(Endpoint("imap.example.com", 993, "ssl"))


def test_mailboxes_of_one_configuration_share_the_entrance_of_their_server() -> None:
    directory = directory_of({"one": 143, "two": 143, "elsewhere": 144}, HandClock())
    one, two, elsewhere = (entry.account._pool._server.entrance for entry in directory._entries if entry.account)
    assert one is two
    assert one is not elsewhere
