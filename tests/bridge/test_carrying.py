"""The bridge between a client and a real gateway, line by line."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.bridge.stdio import COMMAND, TOKEN, Bridge, answering_json, bridging, call, heard_request, modern, request
from tests.servers.gateway import Gateway
from tests.servers.peer import Peer, listening
from tests.servers.ports import refusing_port

pytestmark = pytest.mark.anyio

WAITING = 60


@pytest.fixture
async def bridge(gateway: Gateway) -> AsyncIterator[Bridge]:
    async with bridging(gateway.mcp_url, gateway.tokens["all"]) as running:
        yield running


@pytest.fixture
def waiting(gateway: Gateway) -> Callable[[Any], dict[str, Any]]:
    """A call that lasts for as long as no mail comes."""
    cursor = gateway.call("inbox", {"mailbox": "work", "checkpoint": True})["cursor"]
    return lambda identifier: call(
        "inbox", {"mailbox": "work", "since_cursor": cursor, "wait_seconds": WAITING}, identifier
    )


def cancelled(identifier: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier}}


async def test_both_eras_are_spoken_on_one_pair_of_pipes(bridge: Bridge) -> None:
    greeted = await bridge.asks("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
    assert greeted["result"]["protocolVersion"] == "2025-06-18"
    await bridge.says({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert await bridge.asks("ping", identifier="two") == {"jsonrpc": "2.0", "id": "two", "result": {}}
    await bridge.says(modern("server/discover", identifier=3))
    assert (await bridge.hears())["result"]["supportedVersions"] == ["2026-07-28"]
    await bridge.says(modern("tools/call", {"name": "mailboxes", "arguments": {}}, 4))
    answer = await bridge.hears()
    assert (answer["id"], answer["result"]["isError"], answer["result"]["resultType"]) == (4, False, "complete")


async def test_what_the_gateway_answers_is_passed_on_octet_by_octet(bridge: Bridge, gateway: Gateway) -> None:
    wanted = call("list_messages", {"mailbox": "work", "limit": 2}, 7)
    with gateway.http() as client:
        told = client.post("/mcp", json=wanted, headers={"Accept": "application/json, text/event-stream"}).content
    await bridge.says(wanted)
    status, out, err = await bridge.ends()
    assert (status, err) == (0, b"")
    assert out == told.partition(b"data: ")[2].strip() + b"\n"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request("no/such/method"), -32601),
        (modern("no/such/method"), -32601),
        (modern("no/süch\r\nX-Evil: 1"), -32601),
        (modern("tools/call", {"name": 5}), -32602),
        (request("tools/call", {"name": "mailboxes", "arguments": []}), -32602),
    ],
)
async def test_errors_of_the_protocol_are_the_gateways_own(bridge: Bridge, message: dict[str, Any], code: int) -> None:
    await bridge.says(message)
    answer = await bridge.hears()
    assert (answer["id"], answer["error"]["code"]) == (1, code)


async def test_a_version_that_the_gateway_does_not_speak_is_refused_by_the_gateway(bridge: Bridge) -> None:
    message = modern("tools/list")
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
    await bridge.says(message)
    error = (await bridge.hears())["error"]
    assert (error["code"], error["data"]) == (-32022, {"supported": ["2026-07-28"], "requested": "2099-01-01"})


@pytest.mark.parametrize("name", ["größer\r\nX-Evil: 1", " spaced ", "=?base64?x?=", ""])
async def test_a_tools_name_of_any_kind_reaches_the_gateway(bridge: Bridge, name: str) -> None:
    await bridge.says(modern("tools/call", {"name": name, "arguments": {}}))
    answer = await bridge.hears()
    assert answer["result"]["structuredContent"]["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "message", [modern("x" * 200_000), modern("tools/call", {"name": "\x00" * 1_001}), modern("ping" * 251)]
)
async def test_what_no_header_could_hold_is_refused_before_it_is_sent(bridge: Bridge, message: dict[str, Any]) -> None:
    await bridge.says(message, modern("tools/call", {"name": "ü" * 1_000, "arguments": {}}, 2))
    answer = await bridge.hears()
    assert (answer["id"], answer["error"]["code"]) == (1, -32600)
    assert (await bridge.hears())["result"]["structuredContent"]["error"]["code"] == "not_found"


async def test_answers_come_in_the_order_in_which_they_are_ready(
    bridge: Bridge, waiting: Callable[[Any], dict[str, Any]]
) -> None:
    await bridge.says(waiting("slow"), request("ping", identifier="fast"))
    assert (await bridge.hears())["id"] == "fast"


async def test_a_cancelled_call_ends_without_an_answer(
    bridge: Bridge, waiting: Callable[[Any], dict[str, Any]]
) -> None:
    await bridge.says(waiting(1), waiting("1"))
    await bridge.says(*(cancelled(identifier) for identifier in (True, 99, [], None, 1, "1")))
    assert await bridge.asks("ping", identifier=1) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert await bridge.ends() == (0, b"", b"")


async def test_cancelling_closes_that_calls_connection_and_no_other() -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def waits(peer: Peer) -> None:
        await heard_request(peer)
        asked.set()
        await peer.hangs()
        left.set()

    answers = answering_json(b"200 OK", {"jsonrpc": "2.0", "id": 6, "result": {}})
    async with listening(waits, answers) as gateway, bridging(f"http://127.0.0.1:{gateway.port}") as bridge:
        await bridge.says(call("send", {}, 5))
        await asked.wait()
        assert (await bridge.asks("ping", identifier=6))["result"] == {}
        assert not left.is_set()
        await bridge.says(cancelled(5))
        async with asyncio.timeout(20):
            await left.wait()
        assert await bridge.ends() == (0, b"", b"")


async def test_initialize_cannot_be_cancelled() -> None:
    going = asyncio.Event()

    async def late(peer: Peer) -> None:
        await heard_request(peer)
        await going.wait()
        await peer.says(b"HTTP/1.1 200 OK", b"Content-Type: application/json", b"")
        peer.writer.write(b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}')
        await peer.goes()

    async with listening(late) as gateway, bridging(f"http://127.0.0.1:{gateway.port}") as bridge:
        await bridge.says(request("initialize", {}), cancelled(1), b"garbage")
        assert (await bridge.hears())["error"]["code"] == -32700
        going.set()
        assert (await bridge.hears())["result"] == {"protocolVersion": "2025-06-18"}


async def test_what_is_agreed_on_is_said_with_every_later_message() -> None:
    heads: list[bytes] = []

    async def conversation(peer: Peer) -> None:
        head, body = await heard_request(peer)
        heads.append(head)
        answer = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": {"protocolVersion": "2025-06-18"}}
        await peer.says(b"HTTP/1.1 200 OK", b"Content-Type: application/json", b"")
        peer.writer.write(json.dumps(answer).encode())
        await peer.goes()

    async with listening(conversation) as gateway, bridging(f"http://127.0.0.1:{gateway.port}/") as bridge:
        await bridge.asks("initialize", {"protocolVersion": "2025-11-25"})
        await bridge.asks("ping")
        await bridge.says(modern("tools/call", {"name": "größer"}, 3))
        await bridge.hears()
        port = gateway.port
    assert (
        heads[0]
        == (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nAccept-Encoding: identity\r\n"
            f"Content-Length: {heads[0].split(b'Content-Length: ')[1].split(bytes([13]))[0].decode()}\r\n"
            "Connection: close\r\n\r\n"
        ).encode()
    )
    assert b"MCP-Protocol-Version: 2025-06-18\r\n" in heads[1]
    assert heads[2].endswith(
        b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: =?base64?Z3LDtsOfZXI=?=\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("line", "identifier", "code"),
    [
        (b"swordfish", None, -32700),
        (b"\x00\xff\xfe\x80", None, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', None, -32700),
        (b"[" * 100_000 + b"]" * 100_000, None, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
        (b'"ping"', None, -32600),
        (b"{}", None, -32600),
        (b'{"jsonrpc":"1.0","id":4,"method":"ping"}', 4, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}', None, -32600),
    ],
)
async def test_a_line_that_is_no_request_is_answered_and_the_next_one_works(
    bridge: Bridge, line: bytes, identifier: int | None, code: int
) -> None:
    await bridge.says(line, b"", b"  \r")
    answer = await bridge.hears()
    assert (answer["id"], answer["error"]["code"]) == (identifier, code)
    assert (await bridge.asks("ping", identifier=2))["id"] == 2


async def test_a_message_above_the_gateways_bound_is_refused_by_the_gateway(bridge: Bridge) -> None:
    await bridge.says(call("list_folders", {"mailbox": "x" * 45_000_000}))
    error = (await bridge.hears())["error"]
    assert error["data"]["http_status"] == 413
    assert error["data"]["error"]["code"] == "too_large"
    assert error["message"] == error["data"]["error"]["message"]


async def test_a_line_above_every_bound_costs_itself_alone(bridge: Bridge) -> None:
    piece = b"x" * (1 << 20)
    assert bridge.process.stdin is not None
    for _ in range(80):
        bridge.process.stdin.write(piece)
        await bridge.process.stdin.drain()
    await bridge.says(b"")
    error = (await bridge.hears())["error"]
    assert (error["code"], error["message"]) == (-32600, "a line has at most 67,108,864 octets")
    assert (await bridge.asks("ping"))["result"] == {}


async def test_an_id_that_is_in_use_is_not_taken_twice(
    bridge: Bridge, waiting: Callable[[Any], dict[str, Any]]
) -> None:
    await bridge.says(waiting(1), call("mailboxes", {}, 1))
    answer = await bridge.hears()
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]) == (None, -32600, {"id": 1})
    assert (await bridge.asks("ping", identifier="1"))["result"] == {}


async def test_more_calls_than_can_be_carried_are_refused_and_those_on_their_way_go_on(
    bridge: Bridge, waiting: Callable[[Any], dict[str, Any]]
) -> None:
    await bridge.says(*(waiting(number) for number in range(64)), waiting(64))
    answer = await bridge.hears()
    assert (answer["id"], answer["error"]["data"]["reason"]) == (64, "busy")
    await bridge.says(cancelled(0))
    while "error" in (answer := await bridge.asks("ping", identifier=65)):
        pass
    assert answer["result"] == {}


async def test_at_the_end_of_input_what_was_asked_is_answered_first(bridge: Bridge) -> None:
    await bridge.says(*(call("list_folders", {"mailbox": "work"}, number) for number in range(10)))
    assert bridge.process.stdin is not None
    bridge.process.stdin.write(json.dumps(request("ping", identifier="without a line end")).encode())
    status, out, err = await bridge.ends()
    answers = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (0, b"")
    assert {answer["id"] for answer in answers} == {*range(10), "without a line end"}
    assert all("result" in answer for answer in answers)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_at_once_and_quietly(
    bridge: Bridge, waiting: Callable[[Any], dict[str, Any]], number: signal.Signals
) -> None:
    await bridge.says(waiting(1))
    await bridge.asks("ping", identifier=2)
    bridge.process.send_signal(number)
    async with asyncio.timeout(20):
        assert await bridge.process.wait() == 0
    assert await bridge.ends() == (0, b"", b"")


async def test_a_client_that_no_longer_reads_ends_it_without_a_trace(gateway: Gateway) -> None:
    reading, writing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "--url",
        gateway.url,
        stdin=asyncio.subprocess.PIPE,
        stdout=writing,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "POSTROOM_TOKEN": gateway.tokens["all"]},
    )
    os.close(writing)
    os.close(reading)
    bridge = Bridge(process)
    await bridge.says(request("ping"))
    assert process.stderr is not None
    async with asyncio.timeout(20):
        told = await process.stderr.read()
        assert await process.wait() == 1
    assert told == b"postroom bridge: the client stopped listening\n"


def test_a_client_that_neither_reads_nor_goes_costs_nothing_and_a_signal_still_ends_it() -> None:
    process = subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "POSTROOM_TOKEN": TOKEN},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdin as stdin:
        os.set_blocking(stdin.fileno(), False)
        written = 0
        while select.select([], [stdin], [], 2)[1]:
            written += os.write(stdin.fileno(), b"swordfish\n" * 400)
        assert written < 4_000_000
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


async def test_a_gateway_that_is_down_is_named_with_what_to_do_and_its_return_is_noticed() -> None:
    port = refusing_port()
    async with bridging(f"http://127.0.0.1:{port}") as bridge:
        error = (await bridge.asks("ping"))["error"]
        assert error == {
            "code": -32010,
            "message": f"nothing was done, for 127.0.0.1:{port} cannot be reached: no connection: nobody accepts it "
            "on this port; start the gateway there with postroom serve, or give its address with --url",
            "data": {"reason": "unreachable"},
        }
        await bridge.says({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await bridge.says({"jsonrpc": "2.0", "method": "notifications/initialized"})
        status, out, err = await bridge.ends()
    assert (status, out) == (0, b"")
    assert err.decode().startswith("postroom bridge: a notice did not arrive: nothing was done")
    assert err.count(b"\n") == 1


async def test_a_wrong_token_is_named_without_being_shown(gateway: Gateway) -> None:
    async with bridging(gateway.url) as bridge:
        error = (await bridge.asks("tools/list"))["error"]
        assert error["message"].startswith("the gateway refuses the token: it is wrong, expired or revoked; issue one")
        assert (error["data"]["reason"], error["data"]["http_status"]) == ("unauthorized", 401)
        assert (await bridge.asks("ping"))["error"] == error
        status, out, err = await bridge.ends()
    assert TOKEN not in json.dumps(error)
    assert (status, out, err) == (0, b"", b"")
    assert TOKEN not in gateway.log.getvalue()
