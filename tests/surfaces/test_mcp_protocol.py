"""The protocol as a pure function: both eras, and every message that is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from postroom.surfaces import mcp

pytestmark = pytest.mark.anyio

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
ENVELOPE = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}}


class Fruits:
    """Tools of the test's own: `apple` answers with its arguments, any other fails."""

    name = "fruits"
    version = "7.1"
    instructions = "Start with apple."

    def __init__(self) -> None:
        self.called: list[tuple[str, dict[str, Any]]] = []

    def list(self) -> list[dict[str, Any]]:
        return [{"name": "pear"}, {"name": "apple"}]

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        self.called.append((name, arguments))
        if name == "apple":
            return {"eaten": arguments, "ü": None}, False
        return {"error": {"code": "not_found", "message": "no such fruit", "details": {}}}, True

    def dumps(self, value: dict[str, Any]) -> str:
        return json.dumps(value, ensure_ascii=False)


def message(method: str, identifier: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


async def legacy(body: object, version: str | None = None) -> mcp.Reply:
    return await mcp.reply(body, {"mcp-protocol-version": version} if version else {}, Fruits())


async def modern(method: str, headers: dict[str, str | None] | None = None, **params: Any) -> mcp.Reply:
    """A correct modern request, with `headers` laid over the right ones; None takes one away."""
    right: dict[str, str | None] = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if method == "tools/call":
        right["mcp-name"] = params.get("name")
    sent = {name: value for name, value in (right | (headers or {})).items() if value is not None}
    return await mcp.reply(message(method, **({"_meta": ENVELOPE} | params)), sent, Fruits())


def result(reply: mcp.Reply) -> dict[str, Any]:
    assert reply.status == 200
    assert reply.message is not None
    assert reply.message.keys() == {"jsonrpc", "id", "result"}
    assert (reply.message["jsonrpc"], reply.message["id"]) == ("2.0", 1)
    return dict(reply.message["result"])


def refusal(reply: mcp.Reply) -> tuple[int, int]:
    assert reply.message is not None
    assert reply.message.keys() == {"jsonrpc", "id", "error"}
    return reply.status, reply.message["error"]["code"]


# Legacy


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_known_handshake_version_is_agreed_to(version: str) -> None:
    answer = result(await legacy(message("initialize", protocolVersion=version)))
    assert answer == {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "fruits", "title": "Postroom", "version": "7.1"},
        "instructions": "Start with apple.",
    }


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", "", 7, None, ["2025-11-25"], {}])
async def test_any_other_handshake_version_is_negotiated_down_to_the_newest(version: object) -> None:
    answer = result(await legacy(message("initialize", protocolVersion=version)))
    assert answer["protocolVersion"] == "2025-11-25"


async def test_a_handshake_without_parameters_is_answered() -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    assert result(await legacy(body))["protocolVersion"] == "2025-11-25"


async def test_every_legacy_method_works_alone_and_without_a_version_header() -> None:
    assert result(await legacy(message("ping"))) == {}
    assert result(await legacy(message("tools/list"))) == {"tools": [{"name": "pear"}, {"name": "apple"}]}
    assert result(await legacy(message("tools/call", name="apple")))["isError"] is False


@pytest.mark.parametrize("version", mcp.LEGACY)
async def test_a_legacy_version_header_changes_nothing(version: str) -> None:
    assert await legacy(message("tools/list"), version) == await legacy(message("tools/list"))


@pytest.mark.parametrize(
    "method", ["foo/bar", "", "Tools/List", "server/discover", "resources/list", "logging/setLevel", "__class__"]
)
async def test_an_unknown_legacy_method_is_an_error_inside_a_good_answer(method: str) -> None:
    assert refusal(await legacy(message(method))) == (200, -32601)


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": None}, {"name": "apple", "arguments": [1]}])
async def test_a_malformed_legacy_call_gets_an_answer_that_its_client_reads(params: dict[str, Any]) -> None:
    reply = await legacy(message("tools/call", **params))
    assert refusal(reply) == (200, -32602)
    assert reply.message is not None
    assert reply.message["id"] == 1


async def test_a_modern_envelope_without_its_version_header_disagrees_with_itself() -> None:
    assert refusal(await legacy(message("tools/list", _meta=ENVELOPE))) == (400, -32020)
    assert refusal(await legacy(message("tools/list", _meta=ENVELOPE), "2025-11-25")) == (400, -32020)


async def test_a_legacy_meta_is_left_alone() -> None:
    assert result(await legacy(message("ping", _meta={"progressToken": 1}))) == {}
    assert result(await legacy(message("ping", _meta={f"{META}protocolVersion": ["odd"]}))) == {}
    assert result(await legacy(message("ping", _meta=7))) == {}


# Modern


async def test_discover_names_versions_capabilities_and_how_long_it_holds() -> None:
    assert result(await modern("server/discover")) == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": False}},
        "instructions": "Start with apple.",
        "ttlMs": 3_600_000,
        "cacheScope": "public",
        "_meta": {f"{META}serverInfo": {"name": "fruits", "title": "Postroom", "version": "7.1"}},
    }


async def test_the_modern_list_may_be_kept_a_minute_by_its_token_alone() -> None:
    answer = result(await modern("tools/list"))
    assert answer["tools"] == [{"name": "pear"}, {"name": "apple"}]
    assert (answer["resultType"], answer["ttlMs"], answer["cacheScope"]) == ("complete", 60_000, "private")
    assert answer["_meta"][f"{META}serverInfo"]["name"] == "fruits"


async def test_a_modern_call_is_complete_and_not_to_be_kept() -> None:
    answer = result(await modern("tools/call", name="apple", arguments={"n": 1}))
    assert answer["resultType"] == "complete"
    assert answer["structuredContent"] == {"eaten": {"n": 1}, "ü": None}
    assert not answer.keys() & {"ttlMs", "cacheScope"}


@pytest.mark.parametrize("method", ["initialize", "ping", "foo/bar", "notifications/initialized", "tasks/get"])
async def test_an_unknown_modern_method_is_not_found(method: str) -> None:
    assert refusal(await modern(method)) == (404, -32601)


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-method": None},
        {"mcp-method": "tools/list"},
        {"mcp-method": "TOOLS/CALL"},
        {"mcp-name": None},
        {"mcp-name": "pear"},
        {"mcp-name": ""},
        {"mcp-name": "=?base64?!!!?="},
        {"mcp-name": "=?base64?YXBwbGU?="},
        {"mcp-name": f"=?base64?{base64.b64encode(b'pear').decode()}?="},
        {"mcp-name": f"=?base64?{base64.b64encode(bytes([255])).decode()}?="},
    ],
)
async def test_a_header_that_says_other_than_the_body_is_refused(headers: dict[str, str | None]) -> None:
    assert refusal(await modern("tools/call", headers, name="apple")) == (400, -32020)


async def test_a_version_header_that_differs_from_the_envelope_is_refused() -> None:
    other = ENVELOPE | {f"{META}protocolVersion": "2025-11-25"}
    assert refusal(await modern("tools/list", _meta=other)) == (400, -32020)


async def test_a_name_header_may_come_in_base64() -> None:
    encoded = f"=?base64?{base64.b64encode('äpple'.encode()).decode()}?="
    assert result(await modern("tools/call", {"mcp-name": encoded}, name="äpple"))["isError"] is True


async def test_only_a_call_needs_a_name_header() -> None:
    assert result(await modern("tools/list", {"mcp-name": None}))["resultType"] == "complete"
    assert result(await modern("tools/list", {"mcp-name": "pear"}, name="apple"))["resultType"] == "complete"


@pytest.mark.parametrize(
    "meta",
    [
        None,
        7,
        {},
        {f"{META}protocolVersion": MODERN},
        {f"{META}clientCapabilities": {}},
        {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": None},
        {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": []},
    ],
)
async def test_an_envelope_that_lacks_something_is_refused(meta: object) -> None:
    assert refusal(await modern("tools/list", _meta=meta)) == (400, -32602)


@pytest.mark.parametrize("params", [{}, {"name": None}, {"name": "apple", "arguments": []}])
async def test_a_malformed_modern_call_is_a_bad_request(params: dict[str, Any]) -> None:
    status, code = refusal(await modern("tools/call", **params))
    assert (status, code) in {(400, -32602), (400, -32020)}


# Either


@pytest.mark.parametrize("version", ["2099-01-01", "2026-07-29", "", "latest", "2026-07-28 "])
async def test_an_unknown_version_is_told_which_are_known(version: str) -> None:
    reply = await mcp.reply(message("tools/list", 9), {"mcp-protocol-version": version}, Fruits())
    assert refusal(reply) == (400, -32022)
    assert reply.message is not None
    assert reply.message["id"] == 9
    assert reply.message["error"]["data"] == {"supported": ["2026-07-28"], "requested": version}


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "tools/call", "x"])
@pytest.mark.parametrize("version", [None, "2025-11-25", MODERN])
async def test_a_notification_is_accepted_and_nothing_is_done(method: str, version: str | None) -> None:
    fruits = Fruits()
    body = {"jsonrpc": "2.0", "method": method, "params": {"name": "apple"}}
    assert await mcp.reply(body, {"mcp-protocol-version": version} if version else {}, fruits) == mcp.Reply(202, None)
    assert not fruits.called


@pytest.mark.parametrize("body", [[], [message("ping")], [message("ping"), message("ping", 2)]])
async def test_a_batch_is_refused(body: object) -> None:
    reply = await legacy(body)
    assert refusal(reply) == (400, -32600)
    assert reply.message is not None
    assert reply.message["id"] is None


@pytest.mark.parametrize(
    "body",
    [
        None,
        7,
        "ping",
        True,
        {},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": 2.0, "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "method": None},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
async def test_what_is_no_request_is_refused(body: object) -> None:
    assert refusal(await legacy(body)) == (400, -32600)


@pytest.mark.parametrize("identifier", [None, True, False, 1.5, [], {}, [1]])
async def test_an_id_is_a_string_or_an_integer(identifier: object) -> None:
    reply = await legacy(message("ping", identifier))
    assert refusal(reply) == (400, -32600)
    assert reply.message is not None
    assert reply.message["id"] is None


@pytest.mark.parametrize("identifier", [0, -1, 2**53, "", "a", "ü" * 200])
async def test_an_id_comes_back_as_it_was(identifier: object) -> None:
    for method in ("ping", "foo/bar"):
        reply = await legacy(message(method, identifier))
        assert reply.message is not None
        assert reply.message["id"] == identifier
        assert type(reply.message["id"]) is type(identifier)


@pytest.mark.parametrize("params", [[], None, 7, "x", [{}]])
async def test_params_that_are_no_object_are_refused_under_the_request_s_id(params: object) -> None:
    reply = await legacy({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": params})
    assert refusal(reply) == (400, -32602)
    assert reply.message is not None
    assert reply.message["id"] == 7


@pytest.mark.parametrize(("name", "failed"), [("apple", False), ("plum", True)])
async def test_text_and_structured_content_are_the_same_in_both_eras(name: str, failed: bool) -> None:
    for reply in (await legacy(message("tools/call", name=name)), await modern("tools/call", name=name)):
        answer = result(reply)
        (content,) = answer["content"]
        assert content["type"] == "text"
        assert json.loads(content["text"]) == answer["structuredContent"]
        assert answer["isError"] is failed


@pytest.mark.parametrize("params", [{"name": "apple"}, {"name": "apple", "arguments": None}])
async def test_absent_arguments_are_none(params: dict[str, Any]) -> None:
    fruits = Fruits()
    await mcp.reply(message("tools/call", **params), {}, fruits)
    assert fruits.called == [("apple", {})]


async def test_no_answer_speaks_of_a_session() -> None:
    replies = [
        await legacy(message("initialize", protocolVersion="2025-11-25")),
        await modern("server/discover"),
        await modern("tools/call", name="apple"),
    ]
    assert all("session" not in json.dumps(reply.message).lower() for reply in replies)


async def test_an_unreadable_body_is_a_parse_error() -> None:
    reply = mcp.unreadable("body: is not JSON")
    assert refusal(reply) == (400, -32700)
    assert reply.message is not None
    assert reply.message["id"] is None
