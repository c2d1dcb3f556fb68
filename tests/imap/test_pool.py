"""The one place that ensures a connection: reuse, limits, rests between failures, refused logins."""

import asyncio

import pytest

from postroom.base.backoff import LONGEST_REST
from postroom.base.clock import HandClock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.admission import REFUSED_REST, Server, rest_after
from postroom.imap.conversation import Deadlines
from postroom.imap.faults import BusyFault, ConnectFault, CredentialFault, LoginFault, RefusedFault
from postroom.imap.pool import CROWDED_REST, KEPT_SECONDS, Pool
from tests.servers.peer import Peer, listening
from tests.servers.ports import refusing_port

pytestmark = pytest.mark.anyio


class Vault:
    """A secret that can be changed, as a rotated file would be."""

    def __init__(self) -> None:
        self.text = "first"

    async def secret(self) -> Secret:
        return Secret(self.text)


def pool_at(port: int, clock: HandClock, *, connections: int = 3, vault: Vault | None = None) -> Pool:
    secret = (vault or Vault()).secret
    endpoint = Endpoint("127.0.0.1", port, "none")
    server = Server(endpoint, "ana", "password", secret, Deadlines(2.0, 0.5), connections)
    return Pool(server, clock, chance=lambda: 0.5)


async def obliging(peer: Peer) -> None:
    """Lets anybody in, opens any folder, answers OK to the rest."""
    await peer.lets_in()
    while True:
        line = await peer.hears()
        tag, _, command = line.partition(b" ")
        if command.startswith((b"SELECT", b"EXAMINE")):
            await peer.says(b"* 3 EXISTS", b"* OK [UIDVALIDITY 17] ok", b"* OK [UIDNEXT 8] ok")
        await peer.says(tag + b" OK done")


async def test_a_connection_is_kept_and_found_with_its_folder_open() -> None:
    async with listening(obliging) as peer:
        pool = pool_at(peer.port, HandClock())
        for _ in range(3):
            async with pool.connection(b"INBOX") as connection:
                assert connection.selected is not None
                assert connection.selected.uid_validity == 17
        assert peer.connections == 1
        assert [line.split(b" ", 1)[1] for line in peer.heard[1:]] == [b'EXAMINE "INBOX"', b"NOOP", b"NOOP"]
        pool.close()


async def test_a_connection_that_nobody_uses_is_closed_after_a_while_and_no_other() -> None:
    async with listening(obliging) as peer:
        clock = HandClock()
        pool = pool_at(peer.port, clock)
        async with pool.connection(b"INBOX") as used, pool.connection(b"Sent") as unused:
            pool.tidy()
            clock.wind(KEPT_SECONDS)
        clock.wind(KEPT_SECONDS / 2)
        async with pool.connection(b"INBOX"):
            pass
        clock.wind(KEPT_SECONDS / 2)
        pool.tidy()
        assert (used.closed, unused.closed) == (False, True)
        async with pool.connection(b"INBOX") as again:
            assert again is used
        pool.close()


async def test_what_was_opened_for_a_glance_is_closed_after_it_unless_somebody_else_has_used_it() -> None:
    async with listening(obliging) as peer:
        pool = pool_at(peer.port, HandClock())
        async with pool.connection(b"INBOX", glance=True) as first:
            pool.end_glances()
            assert not first.closed
        async with pool.connection(b"INBOX", glance=True) as again:
            assert again is first
        pool.end_glances()
        assert first.closed
        async with pool.connection(b"INBOX", glance=True):
            pass
        async with pool.connection(b"INBOX") as kept:
            pass
        async with pool.connection(b"INBOX", glance=True) as again:
            assert again is kept
        pool.end_glances()
        assert (kept.closed, peer.connections) == (False, 2)
        pool.close()


async def test_two_folders_at_once_take_two_connections_and_each_is_found_again() -> None:
    async with listening(obliging) as peer:
        pool = pool_at(peer.port, HandClock())
        for _ in range(2):
            async with pool.connection(b"INBOX"), pool.connection(b"Sent"):
                pass
        assert peer.connections == 2
        assert sum(b"EXAMINE" in line for line in peer.heard) == 2
        pool.close()


async def test_no_more_connections_are_opened_than_the_mailbox_may_have() -> None:
    async with listening(obliging) as peer:
        pool = pool_at(peer.port, HandClock(), connections=2)

        async def use() -> None:
            async with pool.connection(b"INBOX"):
                await asyncio.sleep(0)

        await asyncio.gather(*[use() for _ in range(12)])
        assert peer.connections == 2
        pool.close()


async def test_who_waits_too_long_for_a_place_is_told_that_all_are_in_use() -> None:
    async with listening(obliging) as peer:
        pool = pool_at(peer.port, HandClock(), connections=1)
        async with pool.connection():
            with pytest.raises(BusyFault):
                async with pool.connection():
                    pass
        pool.close()


async def test_a_connection_that_died_while_idle_is_replaced_within_the_same_call() -> None:
    async def dies_after_select(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens()
        await peer.goes()

    async with listening(dies_after_select, obliging) as peer:
        pool = pool_at(peer.port, HandClock())
        async with pool.connection(b"INBOX"):
            pass
        async with pool.connection(b"INBOX") as connection:
            await connection.run("NOOP")
        assert peer.connections == 2
        pool.close()


async def test_a_folder_that_cannot_be_opened_costs_no_connection() -> None:
    async def refuses(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(status=b"NO [NONEXISTENT] no")
        await peer.opens()

    async with listening(refuses) as peer:
        pool = pool_at(peer.port, HandClock())
        with pytest.raises(RefusedFault):
            async with pool.connection(b"gone"):
                pass
        async with pool.connection(b"INBOX"):
            pass
        assert peer.connections == 1
        pool.close()


async def test_a_refused_password_is_tried_once_until_it_changes() -> None:
    async def refuses(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] hi")
        await peer.answers(status=b"NO [AUTHENTICATIONFAILED] no")

    async with listening(refuses, obliging) as peer:
        vault = Vault()
        pool = pool_at(peer.port, HandClock(), vault=vault)
        for _ in range(10):
            with pytest.raises(LoginFault):
                async with pool.connection():
                    pass
        assert peer.connections == 1
        vault.text = "second"
        async with pool.connection():
            pass
        assert peer.connections == 2
        pool.close()


async def test_a_refused_password_is_tried_again_after_a_long_rest_or_when_a_person_asks() -> None:
    async def refuses(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] hi")
        await peer.answers(status=b"NO [AUTHENTICATIONFAILED] no")

    async with listening(refuses) as peer:
        clock = HandClock()
        pool = pool_at(peer.port, clock)
        tries = []
        for seconds in (0, REFUSED_REST - 1, 2):
            clock.wind(seconds)
            with pytest.raises(LoginFault):
                async with pool.connection():
                    pass
            tries.append(peer.connections)
        assert tries == [1, 1, 2]
        with pytest.raises(LoginFault):
            await pool.probe()
        assert peer.connections == 3


async def test_a_server_that_is_down_is_left_alone_for_longer_each_time() -> None:
    clock = HandClock()
    pool = pool_at(refusing_port(), clock)
    waits = []
    for _ in range(5):
        with pytest.raises(ConnectFault):
            async with pool.connection():
                pass
        with pytest.raises(ConnectFault) as told:
            async with pool.connection():
                pass
        waits.append(told.value.retry_after)
        clock.wind(told.value.retry_after or 0)
    assert waits == [None, 1.0, 2.0, 4.0, 8.0]


async def test_a_server_that_comes_back_is_met_by_the_very_next_call_after_one_failure() -> None:
    async def drops(peer: Peer) -> None:
        await peer.goes()

    async with listening(drops, obliging) as peer:
        pool = pool_at(peer.port, HandClock())
        with pytest.raises(Exception, match="closed"):
            async with pool.connection():
                pass
        async with pool.connection():
            pass
        assert peer.connections == 2
        pool.close()


def test_rests_grow_from_one_second_to_a_quarter_of_an_hour_and_are_spread() -> None:
    assert rest_after(1, 0.5) == 0
    assert rest_after(2, 0.5) == 1
    assert rest_after(2, 0.0) == 0.75
    assert rest_after(2, 1.0) == 1.25
    assert rest_after(3, 0.5) == 2
    assert rest_after(40, 0.5) == LONGEST_REST
    assert rest_after(5000, 0.5) == LONGEST_REST


async def test_a_server_that_refuses_noop_is_alive_and_opens_the_folder_anew() -> None:
    async def refuses_noop(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens()
        await peer.answers(status=b"BAD unknown command")
        await peer.opens()
        await peer.answers()

    async with listening(refuses_noop) as peer:
        pool = pool_at(peer.port, HandClock())
        async with pool.connection(b"INBOX"):
            pass
        async with pool.connection(b"INBOX") as connection:
            await connection.run("CHECK")
        assert peer.connections == 1
        pool.close()


async def test_a_server_that_allows_fewer_connections_than_we_do_makes_calls_wait_and_not_fail() -> None:
    async def turns_away(peer: Peer) -> None:
        await peer.says(b"* BYE Maximum number of connections exceeded")

    async with listening(obliging, turns_away) as peer:
        pool = pool_at(peer.port, HandClock())

        async def use() -> None:
            async with pool.connection(b"INBOX") as connection:
                await connection.run("NOOP")

        await asyncio.gather(*[use() for _ in range(9)])
        assert peer.connections < 5
        pool.close()


async def test_a_server_without_room_is_told_at_once_when_no_call_holds_a_connection() -> None:
    async def turns_away(peer: Peer) -> None:
        await peer.says(b"* BYE Maximum number of connections exceeded")

    async with listening(turns_away) as peer:
        pool = pool_at(peer.port, HandClock())
        with pytest.raises(BusyFault, match="turned the connection away"):
            async with asyncio.timeout(0.3), pool.connection():
                pass
        pool.close()


async def test_a_secret_that_never_comes_costs_the_connect_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never() -> Secret:
        await asyncio.Event().wait()
        raise AssertionError

    endpoint = Endpoint("127.0.0.1", refusing_port(), "none")
    pool = Pool(Server(endpoint, "ana", "password", never, Deadlines(0.1, 0.5), 1), HandClock())
    with pytest.raises(CredentialFault):
        async with pool.connection():
            pass


# A connection beside those of the pool


async def full(peer: Peer) -> None:
    await peer.says(b"* BYE too many connections")


async def test_no_room_for_a_connection_beside_the_pool_costs_the_pool_no_rest_and_is_not_asked_for_again() -> None:
    async with listening(full, full, full, obliging, full) as peer:
        clock = HandClock()
        pool = pool_at(peer.port, clock)
        for tries in (1, 2, 3):
            with pytest.raises(BusyFault):
                await pool.apart()
            assert peer.connections == tries
            with pytest.raises(BusyFault):
                await pool.apart()
            assert peer.connections == tries
            clock.wind(CROWDED_REST if tries < 3 else 0)
        async with pool.connection() as connection:
            await connection.run("NOOP")
        assert peer.connections == 4
        pool.close()


async def test_a_connection_beside_the_pool_is_closed_when_the_pool_finds_no_room() -> None:
    async with listening(obliging, full, obliging) as peer:
        pool = pool_at(peer.port, HandClock())
        spare = await pool.apart()
        async with pool.connection() as connection:
            assert spare.closed
            await connection.run("NOOP")
        with pytest.raises(BusyFault):
            await pool.apart()
        assert peer.connections == 3
        pool.close()
