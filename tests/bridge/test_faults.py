"""What is no gateway, or one in trouble: every call is answered, in words that say what to do."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

import postroom.bridge.exchange as exchange
from postroom.base.secret import Secret
from postroom.bridge.address import read_address
from postroom.bridge.exchange import post
from postroom.bridge.faults import Reason, Unanswered
from tests.bridge.stdio import answering, answering_json, bridging, heard_request
from tests.servers.certificates import make_certificate
from tests.servers.peer import Conversation, Peer, listening

pytestmark = pytest.mark.anyio

JSON_RPC = b'{"jsonrpc":"2.0","id":1,"result":{}}'
EVENTS = (b"HTTP/1.1 200 OK", b"Content-Type: text/event-stream; charset=utf-8")
PLAIN = (b"HTTP/1.1 200 OK", b"Content-Type: application/json")
LIMITED = {"code": "rate_limited", "message": "Wait 7 seconds.", "details": {"retry_after": 7}}
STRANGE = "HTTP status {}, which is no answer of a gateway; check --url, and what stands between if that is right"


async def ask(conversation: Conversation) -> dict[str, Any]:
    """What a client hears whose gateway does that."""
    async with listening(conversation) as gateway, bridging(f"http://127.0.0.1:{gateway.port}") as bridge:
        answer = await bridge.asks("ping")
        assert await bridge.ends() == (0, b"", b"")
    assert answer["id"] == 1
    return answer


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (PLAIN, JSON_RPC),
        (PLAIN, b' {"jsonrpc":"2.0",\r\n"id":1,\n"result":{}}\n'),
        (EVENTS, b"event: message\r\ndata: " + JSON_RPC + b"\r\n\r\n"),
        (EVENTS, b"\xef\xbb\xbf: a comment\n\ndata:" + JSON_RPC + b"\n\n"),
        (EVENTS, b'data: {"jsonrpc":"2.0",\ndata: "id":1,"result":{}}\n\n'),
        (EVENTS, b'data: {"jsonrpc":"2.0","id":2,"result":{"other":1}}\n\ndata: ' + JSON_RPC + b"\n\n"),
        (EVENTS, b'data: {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n\ndata: ' + JSON_RPC + b"\n\n"),
        ((*PLAIN, b"Transfer-Encoding: chunked"), b"%x\r\n%b\r\n0\r\n\r\n" % (len(JSON_RPC), JSON_RPC)),
        ((b"HTTP/1.1 103 Early Hints", b"Link: x", b"", *PLAIN), JSON_RPC),
        ((b"HTTP/1.0 200 OK", b"content-type: Application/JSON"), JSON_RPC),
    ],
)
async def test_an_answer_may_be_framed_in_every_way_that_http_and_mcp_allow(
    head: tuple[bytes, ...], body: bytes
) -> None:
    assert await ask(answering(*head, body=body)) == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_notices_on_the_stream_come_before_the_answer() -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    body = f"data: {json.dumps(progress)}\n\n".encode() + b"data: " + JSON_RPC + b"\n\n"
    async with (
        listening(answering(*EVENTS, body=body)) as gateway,
        bridging(f"http://127.0.0.1:{gateway.port}") as bridge,
    ):
        assert await bridge.asks("ping") == progress
        assert await bridge.hears() == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_an_error_without_an_id_gets_the_one_that_was_asked() -> None:
    error = {"code": -32020, "message": "the mcp-name header is given twice"}
    answer = await ask(answering_json(b"400 Bad Request", {"jsonrpc": "2.0", "id": None, "error": error}))
    assert answer == {"jsonrpc": "2.0", "id": 1, "error": error}


@pytest.mark.parametrize(
    ("conversation", "message", "data"),
    [
        (
            answering_json(b"429 Too Many Requests", {"error": LIMITED}),
            "Wait 7 seconds.",
            {"reason": "refused", "http_status": 429, "error": LIMITED},
        ),
        (
            answering(b"HTTP/1.1 502 Bad Gateway", b"Content-Type: text/html", body=b"<h1>swordfish</h1>"),
            STRANGE.format(502),
            {"reason": "not_mcp", "http_status": 502},
        ),
        (
            answering(b"HTTP/1.1 500 No", b"Content-Type: application/json", body=b'{"error": "swordfish"}'),
            STRANGE.format(500),
            {"reason": "not_mcp", "http_status": 500},
        ),
        (
            answering(b"HTTP/1.1 307 Over There", b"Location: http://127.0.0.1:1/swordfish"),
            "this address leads elsewhere, and the token does not follow; give --url the final address",
            {"reason": "not_mcp", "http_status": 307},
        ),
        (
            answering(b"HTTP/1.1 404 Not Found"),
            "there is no gateway's MCP endpoint at this address; give its /mcp address with --url",
            {"reason": "not_mcp", "http_status": 404},
        ),
        *(
            (answering(*head, body=body), STRANGE.format(200), {"reason": "not_mcp", "http_status": 200})
            for head, body in (
                (PLAIN, b"swordfish"),
                (PLAIN, b""),
                (PLAIN, b"[]"),
                (PLAIN, b"[" * 100_000),
                (PLAIN, b'{"jsonrpc":"2.0","id":"1","result":{}}'),
                (PLAIN, b'{"jsonrpc":"2.0","id":true,"result":{}}'),
                (PLAIN, b'{"jsonrpc":"2.0","id":1}'),
                (PLAIN, b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'),
                (PLAIN, b'{"id":1,"result":{}}'),
                (EVENTS, b"data: " + JSON_RPC),
                (EVENTS, b"swordfish\n\n"),
                ((b"HTTP/1.1 200 OK",), JSON_RPC),
            )
        ),
        (
            answering(b"HTTP/1.1 202 Accepted"),
            STRANGE.format(202),
            {"reason": "not_mcp", "http_status": 202},
        ),
    ],
)
async def test_what_is_no_answer_of_mcp_is_told_without_a_strangers_words(
    conversation: Conversation, message: str, data: dict[str, Any]
) -> None:
    answer = await ask(conversation)
    assert answer["error"] == {"code": -32010, "message": message, "data": data}


async def test_notices_that_are_refused_are_told_some_times_and_never_as_a_terminal_would_obey() -> None:
    count = iter(range(10_000))

    async def refuses(peer: Peer) -> None:
        said = {"error": {"code": "x", "message": f"\x1b[2J{next(count)}" + "x" * 1_000, "details": {}}}
        await answering_json(b"503 Later", said)(peer)

    async with listening(refuses) as gateway, bridging(f"http://127.0.0.1:{gateway.port}") as bridge:
        await bridge.says(*([b'{"jsonrpc":"2.0","method":"notifications/initialized"}'] * 60))
        status, out, err = await bridge.ends()
    assert (status, out) == (0, b"")
    assert err.startswith(b"postroom bridge: a notice did not arrive: ?[2J")
    assert err.count(b"\n") == 20
    assert len(err) < 20 * 600


async def leaves(peer: Peer) -> None:
    await heard_request(peer)
    await peer.goes()


@pytest.mark.parametrize(
    ("conversation", "reason"),
    [
        (leaves, "lost"),
        (answering(*PLAIN, b"Content-Length: 1000", body=JSON_RPC), "lost"),
        (answering(*PLAIN, b"Transfer-Encoding: chunked", body=b"ff\r\n" + JSON_RPC), "lost"),
        (answering(b"SSH-2.0-OpenSSH_9.2"), "not_mcp"),
        (answering(*PLAIN, b"X: " + b"x" * 400_000, body=JSON_RPC), "not_mcp"),
        (answering(*PLAIN, b"Content-Length: 1", b"Content-Length: 2"), "not_mcp"),
        (answering(*PLAIN, b"Transfer-Encoding: chunked", body=b"zz\r\n"), "not_mcp"),
    ],
)
async def test_a_connection_that_ends_or_speaks_otherwise_is_told(conversation: Conversation, reason: str) -> None:
    error = (await ask(conversation))["error"]
    assert error["data"] == {"reason": reason}
    assert reason != "lost" or error["message"].endswith("is not known, so look before you repeat it")


async def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "LONGEST_ANSWER", 1_000_000)

    async def endless(peer: Peer) -> None:
        await heard_request(peer)
        await peer.says(*PLAIN, b"")
        while True:
            peer.writer.write(b"x" * 65536)
            await peer.writer.drain()

    assert (await fault_of(endless)).reason is Reason.TOO_LARGE


async def test_a_gateway_that_never_answers_is_given_up_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "ANSWER_SECONDS", 0.2)
    left = asyncio.Event()

    async def silent(peer: Peer) -> None:
        await peer.hangs()
        left.set()

    fault = await fault_of(silent, left)
    assert fault.reason is Reason.TIMEOUT
    assert str(fault).endswith("is not known, so look before you repeat it")


async def fault_of(conversation: Conversation, left: asyncio.Event | None = None) -> Unanswered:
    async with listening(conversation) as gateway:
        with pytest.raises(Unanswered) as caught:
            await post(read_address(f"http://127.0.0.1:{gateway.port}"), Secret("x"), (), b"{}")
        if left is not None:
            async with asyncio.timeout(20):
                await left.wait()
    return caught.value


async def test_a_private_authority_is_trusted_when_it_is_named_and_not_before(tmp_path: Path) -> None:
    certificate, key, _ = make_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answering(*PLAIN, body=JSON_RPC)(Peer(reader, writer, 0, []))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    async with server:
        async with bridging(url) as bridge:
            error = (await bridge.asks("ping"))["error"]
            assert error["data"] == {"reason": "tls"}
            assert "it is self-signed; mend the certificate, or give" in error["message"]
        async with bridging(url, "x", "--ca-file", str(certificate)) as bridge:
            assert (await bridge.asks("ping"))["result"] == {}


async def test_plain_text_where_tls_was_expected_is_told() -> None:
    async def refuses(peer: Peer) -> None:
        await peer.says(b"HTTP/1.1 400 Bad Request", b"")

    async with listening(refuses) as gateway, bridging(f"https://127.0.0.1:{gateway.port}") as bridge:
        error = (await bridge.asks("ping"))["error"]
    assert error["data"] == {"reason": "tls"}
    assert error["message"].startswith("nothing was done")
    assert "the server speaks plain text on this port; give --url http://" in error["message"]
