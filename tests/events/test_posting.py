"""One POST to receivers of every kind: what is sent, what is made of the answer, and what bounds it."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from postroom.config.targets import read_network, read_target
from postroom.events.egress import Egress, Unposted, connect
from postroom.events.posting import LONGEST_ANSWER, Posted, post
from postroom.events.signing import signed
from tests.servers.peer import Conversation, Peer, listening
from tests.servers.ports import refusing_port
from tests.servers.receiver import receiving, status

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
LOOPBACK = [read_network("127.0.0.1")]


async def no_name(host: str, port: int) -> Sequence[str]:
    raise AssertionError


EGRESS = Egress((), no_name, connect)


async def posted(port: int, path: str = "/hook", *, seconds: float = 10.0, body: bytes = b'{"a":1}') -> Posted:
    headers = signed("evt_1", body, NOW, [bytes(32)])
    target = read_target(f"http://127.0.0.1:{port}{path}")
    return await post(EGRESS, target, LOOPBACK, headers, body, now=NOW, seconds=seconds)


async def heard(peer: Peer) -> None:
    await peer.reader.readuntil(b"\r\n\r\n")
    await peer.reader.readexactly(len(b'{"a":1}'))


def says(*octets: bytes, ends: bool = True) -> Conversation:
    """Answer a post with these octets, one write each, and leave or stay."""

    async def conversation(peer: Peer) -> None:
        await heard(peer)
        for one in octets:
            peer.writer.write(one)
            await peer.writer.drain()
        if not ends:
            await peer.hangs()

    return conversation


async def told(conversation: Conversation, *, seconds: float = 10.0) -> Posted | str:
    """What came of a post, or why nothing did."""
    async with listening(conversation) as peer:
        try:
            return await posted(peer.port, seconds=seconds)
        except Unposted as failure:
            return str(failure)


async def test_what_is_sent_is_this_and_nothing_more() -> None:
    async with receiving() as receiver:
        assert (await posted(receiver.port, "?key=a%20b")).is_taken
    (one,) = receiver.posts
    assert one.line == "POST /?key=a%20b HTTP/1.1"
    assert one.body == b'{"a":1}'
    signature = one.headers["webhook-signature"]
    assert one.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "user-agent": "Postroom-Webhooks/1",
        "content-type": "application/json",
        "accept-encoding": "identity",
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(NOW.timestamp())),
        "webhook-signature": signature,
        "content-length": "7",
        "connection": "close",
    }


@pytest.mark.parametrize("code", [200, 202, 204, 299])
async def test_any_2xx_is_a_success(code: int) -> None:
    assert (await told(says(status(code)))).is_taken  # type: ignore[union-attr]


@pytest.mark.parametrize("code", [300, 301, 302, 303, 307, 308, 400, 401, 404, 410, 500, 503])
async def test_anything_else_is_none_and_no_redirect_is_followed(code: int) -> None:
    async with receiving() as elsewhere:
        answer = status(code, f"Location: {elsewhere.url}")
        got = await told(says(answer))
        assert isinstance(got, Posted)
        assert (got.status, got.is_taken, got.is_gone) == (code, False, code == 410)
    assert elsewhere.connections == 0


async def test_of_the_answer_200_printable_characters_are_kept() -> None:
    got = await told(says(status(500, body=b"\x1b[31mno\r\n\tdisk\x00 " + "ü".encode() * 900)))
    assert isinstance(got, Posted)
    assert got.said.startswith("[31mno disk ü")
    assert len(got.said) == 200
    assert got.said.isprintable()


async def test_nothing_is_decompressed() -> None:
    packed = gzip.compress(b"secret words " * 1_000_000)
    got = await told(says(status(500, "Content-Encoding: gzip", body=packed[:8_000])))
    assert isinstance(got, Posted)
    assert "secret" not in got.said


async def test_an_answer_without_end_is_read_to_its_bound_and_its_status_counts() -> None:
    read, ended = 0, asyncio.Event()

    async def floods(peer: Peer) -> None:
        nonlocal read
        await heard(peer)
        peer.writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                peer.writer.write(b"x" * 4096)
                await peer.writer.drain()
                read += 4096
        finally:
            ended.set()

    async with listening(floods) as peer:
        got = await posted(peer.port)
        await ended.wait()
    assert got.is_taken
    assert read < 1_000 * LONGEST_ANSWER, "what the system's buffers hold is no more than that"


SLOW = [
    says(ends=False),
    says(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", ends=False),
    says(b"HTTP/1.1 200 OK\r\nX-", ends=False),
]


@pytest.mark.parametrize("conversation", SLOW)
async def test_whoever_is_silent_before_the_answer_is_whole_is_left(conversation: Conversation) -> None:
    assert await told(conversation, seconds=0.05) == "no whole answer within 0.05 seconds"


@pytest.mark.parametrize("drops", [b"X: y\r\n", b"x", b"HTTP/1.1 103 Early Hints\r\n\r\n"])
async def test_whoever_drips_is_left_when_the_time_is_over(drops: bytes) -> None:
    async def drips(peer: Peer) -> None:
        await heard(peer)
        peer.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n" if b"HTTP" not in drops else b"")
        while not peer.writer.is_closing():
            peer.writer.write(drops)
            await peer.writer.drain()
            await asyncio.sleep(0.004)

    got = await told(drips, seconds=0.05)
    assert got in ("no whole answer within 0.05 seconds", "what came back is no HTTP")


@pytest.mark.parametrize(
    "octets",
    [
        [b"SSH-2.0-OpenSSH_9.9\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\n", *[b"X-Y: " + b"z" * 1000 + b"\r\n"] * 40],
        [b"HTTP/1.1 100 Continue\r\n\r\n"] * 40,
        [b"HTTP/1.1 103 X\r\nLink: " + b"z" * 15_000 + b"\r\n\r\n"] * 16,
        [b"\0" * 40_000],
    ],
    ids=["not http", "endless head", "endless interim answers", "large interim answers", "noise"],
)
async def test_what_is_no_answer_of_http_is_told_as_that(octets: list[bytes]) -> None:
    assert await told(says(*octets)) == "what came back is no HTTP"


@pytest.mark.parametrize(
    "octets", [[], [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"], [b"HTTP/1.1 200 OK\r\nX-"]]
)
async def test_a_connection_that_breaks_before_the_answer_is_whole_is_told_as_that(octets: list[bytes]) -> None:
    assert await told(says(*octets)) == "the connection broke before the answer was whole"


async def test_tiny_chunks_do_not_keep_us_longer_than_their_octets_may_be() -> None:
    got = await told(
        says(b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"1;" + b"e" * 9_000 + b"\r\nx\r\n"] * 9)
    )
    assert isinstance(got, Posted)
    assert (got.status, got.said) == (500, "x" * len(got.said))
    assert len(got.said) < 9


async def test_nobody_there_is_told() -> None:
    with pytest.raises(Unposted, match="nobody accepts it on this port"):
        await posted(refusing_port())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Tue, 03 Mar 2026 09:02:00 GMT", 120.0),
        ("Tuesday, 03-Mar-26 09:02:00 GMT", 120.0),
        ("Tue Mar  3 09:02:00 2026", 120.0),
        ("Tue, 03 Mar 2026 08:00:00 GMT", 0.0),
        ("-5", None),
        ("12.5", None),
        ("soon", None),
        ("", None),
        ("9" * 400, None),
        ("\u0663", None),
    ],
)
async def test_how_long_a_receiver_asks_us_to_wait_is_read(value: str, seconds: float | None) -> None:
    head = f"HTTP/1.1 503 X\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n".encode()
    got = await told(says(head))
    assert isinstance(got, Posted)
    assert got.retry_after == seconds
