"""Where nothing is posted to: addresses, spellings, resolvers that change their answer, and the gateway itself."""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.config.targets import Target, read_network, read_target
from postroom.events.egress import Egress, Streams, Unposted, connect
from postroom.events.posting import post
from postroom.events.ranges import REFUSED, is_refused, spoken_to
from postroom.events.resolving import Resolver, is_of_this_machine
from tests.servers.certificates import make_certificate
from tests.servers.receiver import receiving

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 3, tzinfo=UTC)
PUBLIC = ("93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:8.8.8.8")
SO_CALLED_GLOBAL = ("64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "fec0::1", "192.0.0.9", "224.0.0.1")
"""Python 3.11's `is_global` is true of each."""
NOT_PUBLIC = (
    *("0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1"),
    *("172.31.255.255", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1"),
    *("203.0.113.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("::ffff:0:127.0.0.1", "::2", "64:ff9b::a00:1", "64:ff9b:1::7f00:1", "64:ff9b:1::808:808", "100::1"),
    *("2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "2002:a00:1::1", "2002:c0a8:101::5"),
    *("3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "ff02::1", "4000::1", "5f00::1", "1234::1"),
)


@pytest.mark.parametrize("text", [*SO_CALLED_GLOBAL, *NOT_PUBLIC, str(ip_address(0))])
def test_an_address_that_is_not_public_is_refused(text: str) -> None:
    assert is_refused(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_is_not_refused_in_whatever_it_is_wrapped(text: str) -> None:
    assert not is_refused(ip_address(text))


@pytest.mark.parametrize("network", REFUSED, ids=str)
def test_a_range_is_refused_from_its_first_address_to_its_last_in_every_wrapping(network: object) -> None:
    known = ip_network(str(network))
    for address in (known[0], known[-1]):
        assert is_refused(address)
        if address.version == 4:
            number = int(address)
            wrapped = [f"::ffff:{address}", f"64:ff9b::{address}", f"2002:{number >> 16:x}:{number & 0xFFFF:x}::9"]
            assert all(is_refused(ip_address(one)) for one in wrapped)


class World:
    """A resolver that goes through its answers, and a connector that writes down whom it is asked to reach."""

    def __init__(self, *answers: Sequence[str], own_ports: Collection[int] = ()) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []
        self.reached: list[tuple[str, int, str | None]] = []
        self.egress = Egress(own_ports, self.resolve, self.connect)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    async def connect(self, address: str, port: int, server_name: str | None) -> Streams:
        self.reached.append((address, port, server_name))
        raise ConnectionRefusedError(errno.ECONNREFUSED, "no")

    async def tries(self, url: str, *private: str) -> str:
        try:
            await self.egress.open(read_target(url), [read_network(one) for one in private])
        except Unposted as told:
            return str(told)
        raise AssertionError


async def test_a_checked_address_itself_is_connected_to_and_tls_asks_for_the_name() -> None:
    world = World(["93.184.216.34"])
    await world.tries("https://hooks.example.com/mail")
    assert world.reached == [("93.184.216.34", 443, "hooks.example.com")]
    assert world.asked == ["hooks.example.com"]


async def test_every_answer_must_pass() -> None:
    world = World(["93.184.216.34", "127.0.0.1"])
    assert "not public" in await world.tries("https://hooks.example.com")
    assert world.reached == []


async def test_a_resolver_that_answers_public_then_loopback_is_believed_once() -> None:
    world = World(["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34"])
    await world.tries("https://hooks.example.com")
    assert "not public" in await world.tries("https://hooks.example.com")
    assert [address for address, _, _ in world.reached] == ["93.184.216.34"]
    assert len(world.asked) == 2


@pytest.mark.parametrize("answer", ["", "nonsense", "127.1", "fe80::1%lo", "1.2.3.4.5"])
async def test_an_answer_that_is_no_plain_address_is_not_connected_to(answer: str) -> None:
    world = World([answer])
    assert (await world.tries("https://hooks.example.com", "fe80::/10")).startswith("nothing was sent")
    assert world.reached == []


async def test_no_answer_and_no_host_are_told() -> None:
    assert "has no address" in await World([]).tries("https://hooks.example.com")


addresses = st.one_of(
    st.ip_addresses().map(str),
    st.sampled_from([*SO_CALLED_GLOBAL, *NOT_PUBLIC, *PUBLIC]),
    st.sampled_from(REFUSED).map(str).flatmap(lambda net: st.ip_addresses(network=net)).map(str),
    st.ip_addresses(v=4).map(lambda inner: f"::ffff:{inner}"),
    st.ip_addresses(v=4).map(lambda inner: f"64:ff9b::{inner}"),
)
networks = st.sampled_from(["127.0.0.1/32", "10.0.0.0/8", "fd00::/8", "fe80::/10", "192.168.7.0/24"])


@given(st.lists(st.lists(addresses, min_size=1, max_size=5), min_size=1, max_size=4), st.lists(networks, max_size=2))
def test_nothing_refused_is_ever_contacted_whatever_a_resolver_answers(
    answers: list[list[str]], private: list[str]
) -> None:
    world = World(*answers)

    async def several() -> None:
        for _ in range(len(answers) + 1):
            await world.tries("https://hooks.example.com", *private)

    asyncio.run(several())
    permitted = [ip_network(one) for one in private]
    for address, _, name in world.reached:
        assert name == "hooks.example.com"
        there = spoken_to(ip_address(address))
        assert not is_refused(there) or any(there in network for network in permitted)


ODD = (
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.1.",
    "localhost.",
    "127.0.0.1。",
    "１27.0.0.1",
)


@pytest.mark.parametrize(
    "host", [*ODD, "127。0。0。1", "a.example。", "a..example", "-a.example", "1.2.3.4.5", "0x", "a_b%25"]
)
def test_an_odd_spelling_of_a_host_is_no_target(host: str) -> None:
    with pytest.raises(ValueError, match=r"^(has|an|must|what)"):
        read_target(f"https://{host}/")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "lo"])
async def test_a_name_is_judged_by_what_it_resolves_to(host: str) -> None:
    world = World(["127.0.0.1"])
    assert "not public" in await world.tries(f"https://{host}/")
    assert world.reached == []


@pytest.mark.parametrize("literal", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "8.8.8.8"])
async def test_an_address_as_a_host_is_posted_to_only_where_it_is_permitted(literal: str) -> None:
    world = World([])
    assert (await world.tries(f"https://{literal}/")).startswith("nothing was sent")
    assert world.reached == []
    bare = str(spoken_to(ip_address(literal.strip("[]"))))
    assert (await world.tries(f"https://{literal}/", bare)).startswith("no connection")
    assert [address for address, _, _ in world.reached] == [bare]


async def test_permitting_an_address_permits_no_wrapping_that_goes_elsewhere() -> None:
    world = World(["2002:7f00:1::"])
    assert "not public" in await world.tries("https://hooks.example.com", "127.0.0.1/32")
    assert world.reached == []


async def test_permitting_an_address_permits_it_as_ipv6_has_it_too() -> None:
    world = World(["::ffff:127.0.0.1"])
    assert (await world.tries("https://hooks.example.com", "127.0.0.1/32")).startswith("no connection")
    assert [address for address, _, _ in world.reached] == ["127.0.0.1"]


async def test_http_needs_its_host_in_a_permitted_network() -> None:
    world = World(["93.184.216.34"], ["10.1.2.3"])
    assert "posted to by http" in await world.tries("http://hooks.example.com", "10.0.0.0/8")
    await world.tries("http://hooks.example.com", "10.0.0.0/8")
    assert world.reached == [("10.1.2.3", 80, None)]


ANY = str(ip_address(0))
OWN = ("127.0.0.1", "[::1]", ANY, "[::]", "[::ffff:127.0.0.1]", "127.0.0.2")


@pytest.mark.parametrize("host", OWN)
async def test_the_gateways_own_address_is_refused_in_every_spelling_though_it_is_permitted(host: str) -> None:
    world = World([host.strip("[]")], own_ports=[8000, 9100])
    for name in (host, "own.example"):
        for port in (8000, 9100):
            told = await world.tries(f"http://{name}:{port}/", "0.0.0.0/0", "::/0")
            assert told == "nothing was sent: that is where this gateway itself listens"
    assert world.reached == []
    await world.tries(f"http://{host}:8001/", "0.0.0.0/0", "::/0")
    assert len(world.reached) == 1


def test_this_machine_knows_its_own_addresses() -> None:
    assert all(is_of_this_machine(ip_address(host.strip("[]"))) for host in OWN)
    assert not is_of_this_machine(ip_address("192.0.2.1"))
    assert not is_of_this_machine(ip_address("2001:db8::1"))


async def test_each_address_is_tried_before_it_is_said_that_none_answers() -> None:
    world = World(["93.184.216.34", "2606:4700::1111"])
    assert await world.tries("https://hooks.example.com") == "no connection: nobody accepts it on this port"
    assert [address for address, _, _ in world.reached] == ["93.184.216.34", "2606:4700::1111"]


async def test_a_resolver_that_is_silent_is_not_waited_for() -> None:
    async def silent(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    egress = Egress((), silent, connect, seconds=0.05)
    with pytest.raises(Unposted, match=r"no connection within 0.05 seconds"):
        await egress.open(read_target("https://hooks.example.com"), [])


async def test_the_systems_resolver_is_asked_and_its_failure_told(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = Resolver(1)
    assert set(await resolver("localhost", 443)) <= {"127.0.0.1", "::1"}
    egress = Egress((), resolver, connect)
    with pytest.raises(Unposted, match="the host name has no address"):
        await egress.open(read_target("https://nobody.invalid"), [])
    resolver.close()


@pytest.mark.parametrize("proxy", ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy"])
async def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv(proxy, "http://127.0.0.1:1")
    async with receiving() as receiver:
        egress = Egress((), Resolver(1), connect)
        told = await post(egress, read_target(receiver.url), [read_network("127.0.0.1")], (), b"{}", now=NOW)
        assert told.status == 204


@pytest.mark.parametrize(("name", "accepted"), [("localhost", True), ("other.example", False)])
async def test_tls_checks_the_certificate_for_the_name_at_the_checked_address(
    tmp_path: Path, name: str, accepted: bool
) -> None:
    certificate, key, _ = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with receiving(tls=context) as receiver:
        egress = Egress((), resolve, partial(connect, ca_file=str(certificate)))
        target: Target = read_target(f"https://{name}:{receiver.port}/hook")
        private = [read_network("127.0.0.1")]
        if accepted:
            assert (await post(egress, target, private, (), b"{}", now=NOW)).status == 204
            assert receiver.posts[0].headers["host"] == f"localhost:{receiver.port}"
        else:
            with pytest.raises(Unposted, match="it is for another host name"):
                await post(egress, target, private, (), b"{}", now=NOW)
            assert receiver.posts == []
