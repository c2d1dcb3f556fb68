"""A line from the client: the request, notice or cancellation that it is, and the headers it needs over HTTP."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson

from postroom.bridge.faults import error_line
from postroom.surfaces.mcp import INVALID_REQUEST, PARSE_ERROR

Headers: TypeAlias = tuple[tuple[str, str], ...]

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_LONGEST_NAME = 1_000
"""Characters of what must go into a header, where servers bound all of them together."""
_PLAIN = re.compile(r"(?!=\?)[!-~](?:[ -~]{0,998}[!-~])?", re.ASCII)
"""What a header's value may hold as it is."""


@dataclass(frozen=True, slots=True)
class Request:
    """Somebody waits for its answer."""

    id: str | int
    method: str
    headers: Headers


@dataclass(frozen=True, slots=True)
class Notice:
    """Nobody waits for an answer."""

    headers: Headers


@dataclass(frozen=True, slots=True)
class Cancel:
    """The request `id` is no longer waited for; None if it names none."""

    id: str | int | None


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to something that the gateway never asks."""


Message: TypeAlias = Request | Notice | Cancel | Response


class Unusable(Exception):
    """No message at all; `line` is the JSON-RPC error to answer with."""

    def __init__(self, code: int, message: str, identifier: str | int | None = None) -> None:
        super().__init__(message)
        self.line = error_line(identifier, code, message)


def read_message(line: bytes, version: str | None) -> Message:
    """What a line says. `version` is what `initialize` agreed on, for messages that name none. Raises Unusable."""
    message = _parsed(line)
    known = _identifier(message.get("id"))
    method = message.get("method")
    if method is None and known is not None and ("result" in message or "error" in message):
        return Response()
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise Unusable(INVALID_REQUEST, "not a JSON-RPC 2.0 request", known)
    if "id" in message:
        if known is None:
            raise Unusable(INVALID_REQUEST, "id must be a string or an integer of at most 64 bits")
        return Request(known, method, _headers(message, method, version, known))
    if method == "notifications/cancelled":
        return Cancel(_identifier(_params(message).get("requestId")))
    return Notice(_headers(message, method, version))


def _identifier(value: object) -> str | int | None:
    """What can tell one request from another. A boolean is none, though Python takes true for 1."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise Unusable(PARSE_ERROR, "this line is not JSON; send each message as one line of UTF-8") from None
    if isinstance(message, list):
        raise Unusable(INVALID_REQUEST, "batches are not supported; send one message per line")
    if not isinstance(message, dict):
        raise Unusable(INVALID_REQUEST, "not a JSON-RPC 2.0 request")
    return message


def _headers(message: dict[str, Any], method: str, version: str | None, identifier: str | int | None = None) -> Headers:
    """A message of the modern era names its version itself, and its method and tool are said again in headers."""
    params = _params(message)
    meta = params.get("_meta")
    own = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(own, str):
        agreed = None if method == "initialize" else version
        return (("MCP-Protocol-Version", agreed),) if agreed else ()
    headers = [("MCP-Protocol-Version", own), ("Mcp-Method", method)]
    if isinstance(params.get("name"), str):
        headers.append(("Mcp-Name", params["name"]))
    if any(len(value) > _LONGEST_NAME for _, value in headers):
        told = f"a method, a version and a tool's name have at most {_LONGEST_NAME:,} characters"
        raise Unusable(INVALID_REQUEST, told, identifier)
    return tuple((name, header_value(value)) for name, value in headers)


def _params(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def header_value(text: str) -> str:
    """Text as MCP 2026-07-28 writes it in a header: as it is, or as base64 where a header could not hold it."""
    if _PLAIN.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def agreed_version(answer: bytes) -> str | None:
    """The version that the answer to `initialize` names; None if it is an error."""
    result = orjson.loads(answer).get("result")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) and _PLAIN.fullmatch(version) else None
