"""The Model Context Protocol as a function: a message and its headers in, a reply out; both protocol eras, no state.

Legacy is the `initialize` line up to 2025-11-25, modern is 2026-07-28; the MCP-Protocol-Version header tells which.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

MODERN = ("2026-07-28",)
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_META = "io.modelcontextprotocol/"
_VERSION_KEY = f"{_META}protocolVersion"
_CAPABILITIES_KEY = f"{_META}clientCapabilities"
_LIST_TTL_MS = 60_000
_DISCOVER_TTL_MS = 3_600_000

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

Json: TypeAlias = dict[str, Any]


class Tools(Protocol):
    """What the protocol needs of the product: the tools of this caller, and calling one."""

    name: str
    version: str
    instructions: str

    def list(self) -> list[Json]:
        """Tool descriptions in a fixed order."""
        ...

    async def call(self, name: str, arguments: Json) -> tuple[Json, bool]:
        """The answer as JSON, and whether it is an error. Raises nothing."""
        ...

    def dumps(self, value: Json) -> str:
        """Compact JSON text."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP status and a JSON-RPC message; no message means an empty body."""

    status: int
    message: Json | None


class _Refusal(Exception):
    """A JSON-RPC error and the HTTP status it goes with."""

    def __init__(self, status: int, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error: Json = {"code": code, "message": message} | ({"data": data} if data else {})


async def reply(message: object, headers: Mapping[str, str], tools: Tools) -> Reply:
    """Answer one POST. `headers` has lower-case names."""
    identifier: Any = None
    try:
        request = _request(message)
        identifier = request["id"] if request else None
        modern = _is_modern(headers.get("mcp-protocol-version"))
        if request is None:
            return Reply(202, None)
        meta = _meta_of(request)
        if modern or meta.get(_VERSION_KEY) in MODERN:
            _check_envelope(request, meta, headers)
        if modern:
            result = await _modern(request, tools)
        else:
            result = await _legacy(request, tools)
    except _Refusal as refusal:
        return Reply(refusal.status, {"jsonrpc": "2.0", "id": identifier, "error": refusal.error})
    return Reply(200, {"jsonrpc": "2.0", "id": identifier, "result": result})


def unreadable(reason: str) -> Reply:
    """The reply to a body that is no JSON."""
    return Reply(400, {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": reason}})


def _request(message: object) -> Json | None:
    """The request, which has an id; None for a notification, which nobody answers."""
    if isinstance(message, list):
        raise _Refusal(400, INVALID_REQUEST, "batches are not supported; send one message per POST")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise _Refusal(400, INVALID_REQUEST, "not a JSON-RPC 2.0 request")
    if "id" not in message:
        return None
    identifier = message["id"]
    if isinstance(identifier, bool) or not isinstance(identifier, str | int):
        raise _Refusal(400, INVALID_REQUEST, "id must be a string or an integer")
    return message


def _meta_of(request: Json) -> Json:
    params = request.get("params", {})
    if not isinstance(params, dict):
        raise _Refusal(400, INVALID_PARAMS, "params must be an object")
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _is_modern(version: str | None) -> bool:
    if version is None or version in LEGACY:
        return False
    if version in MODERN:
        return True
    raise _Refusal(
        400, UNSUPPORTED_VERSION, "unsupported protocol version", {"supported": list(MODERN), "requested": version}
    )


def _check_envelope(request: Json, meta: Json, headers: Mapping[str, str]) -> None:
    """The modern era repeats its routing in headers; a message that disagrees with itself is refused."""
    missing = [key for key in (_VERSION_KEY, _CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise _Refusal(400, INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    if not isinstance(meta[_CAPABILITIES_KEY], dict):
        raise _Refusal(400, INVALID_PARAMS, f"params._meta: {_CAPABILITIES_KEY} must be an object")
    _must_equal("MCP-Protocol-Version", headers.get("mcp-protocol-version"), meta[_VERSION_KEY])
    _must_equal("Mcp-Method", _header_value(headers.get("mcp-method")), request["method"])
    params = request["params"]
    if request["method"] == "tools/call" and isinstance(params.get("name"), str):
        _must_equal("Mcp-Name", _header_value(headers.get("mcp-name")), params["name"])


def _must_equal(header: str, value: str | None, expected: object) -> None:
    if value is None or value != expected:
        raise _Refusal(400, HEADER_MISMATCH, f"the {header} header does not match the request body")


_BASE64_VALUE = re.compile(r"=\?base64\?(.*)\?=\Z")


def _header_value(value: str | None) -> str | None:
    match = _BASE64_VALUE.match(value or "")
    if not match:
        return value
    try:
        return base64.b64decode(match[1], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None


async def _legacy(request: Json, tools: Tools) -> Json:
    handlers: dict[str, Callable[[], Awaitable[Json]]] = {
        "initialize": lambda: _initialize(request, tools),
        "ping": _ping,
        "tools/list": lambda: _list(tools),
        "tools/call": lambda: _call(request, tools, refused=200),
    }
    handler = handlers.get(request["method"])
    if handler is None:
        raise _Refusal(200, METHOD_NOT_FOUND, "method not found")
    return await handler()


async def _modern(request: Json, tools: Tools) -> Json:
    handlers: dict[str, Callable[[], Awaitable[Json]]] = {
        "server/discover": lambda: _discover(tools),
        "tools/list": lambda: _cached(_list(tools), _LIST_TTL_MS, "private"),
        "tools/call": lambda: _call(request, tools, refused=400),
    }
    handler = handlers.get(request["method"])
    if handler is None:
        raise _Refusal(404, METHOD_NOT_FOUND, "method not found")
    result = await handler()
    return {"resultType": "complete", **result, "_meta": {f"{_META}serverInfo": _server_info(tools)}}


async def _initialize(request: Json, tools: Tools) -> Json:
    asked = request.get("params", {}).get("protocolVersion")
    return {
        "protocolVersion": asked if asked in LEGACY else LEGACY[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": _server_info(tools),
        "instructions": tools.instructions,
    }


async def _ping() -> Json:
    return {}


async def _discover(tools: Tools) -> Json:
    return {
        "supportedVersions": list(MODERN),
        "capabilities": {"tools": {"listChanged": False}},
        "instructions": tools.instructions,
        "ttlMs": _DISCOVER_TTL_MS,
        "cacheScope": "public",
    }


async def _list(tools: Tools) -> Json:
    return {"tools": tools.list()}


async def _cached(result: Awaitable[Json], ttl_ms: int, scope: str) -> Json:
    return {**await result, "ttlMs": ttl_ms, "cacheScope": scope}


async def _call(request: Json, tools: Tools, *, refused: int) -> Json:
    """The same complete JSON as text and as structuredContent: hosts show the model one or the other.

    `refused` is the HTTP status of a malformed call: legacy clients read no answer under another one than 200.
    """
    params = request.get("params", {})
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise _Refusal(refused, INVALID_PARAMS, "params.name must be a tool's name")
    if arguments is not None and not isinstance(arguments, dict):
        raise _Refusal(refused, INVALID_PARAMS, "params.arguments must be an object")
    answer, failed = await tools.call(name, arguments or {})
    return {
        "content": [{"type": "text", "text": tools.dumps(answer)}],
        "structuredContent": answer,
        "isError": failed,
    }


def _server_info(tools: Tools) -> Json:
    return {"name": tools.name, "title": "Postroom", "version": tools.version}
