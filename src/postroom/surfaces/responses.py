"""Requests read within bounds, and answers with the headers that every one of them carries."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from postroom.base.errors import Code, GatewayError, invalid

STATUS: Mapping[Code, int] = {
    Code.PERMISSION_DENIED: 403,
    Code.INVALID_IDENTITY: 403,
    Code.NOT_FOUND: 404,
    Code.CONFLICT: 409,
    Code.VALIDATION_ERROR: 422,
    Code.RATE_LIMITED: 429,
    Code.TOO_LARGE: 413,
    Code.IMAP_ERROR: 502,
    Code.SMTP_ERROR: 502,
    Code.INTERNAL_ERROR: 500,
    Code.UNAUTHORIZED: 401,
    Code.METHOD_NOT_ALLOWED: 405,
    Code.UNAVAILABLE: 503,
}
ALWAYS: Mapping[str, str] = {"Cache-Control": "no-store", "Vary": "Authorization", "X-Content-Type-Options": "nosniff"}
_DEEPEST = 32
BODY_SECONDS = 60.0
"""For a whole request body to arrive."""
LARGEST_CALL = 1_000_000
"""Octets of a call's JSON: no operation takes files yet, and reading JSON holds everybody up."""


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        orjson.dumps(value),
        status_code=status,
        headers=dict(ALWAYS) | dict(headers or {}),
        media_type="application/json",
    )


def error_response(error: GatewayError, headers: Mapping[str, str] | None = None) -> Response:
    """The error's body under the status that its code has."""
    more = dict(headers or {})
    if "retry_after" in error.details:
        more["Retry-After"] = str(error.details["retry_after"])
    return json_response(error.body(), STATUS[error.code], more)


def empty_response(status: int) -> Response:
    return Response(status_code=status, headers=ALWAYS)


def event_response(value: Any) -> Response:
    """One server-sent event, as MCP's streamable HTTP transport frames an answer."""
    body = b"event: message\r\ndata: " + orjson.dumps(value) + b"\r\n\r\n"
    headers = dict(ALWAYS) | {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
    return Response(body, headers=headers, media_type="text/event-stream")


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body. Raises `too_large` as soon as it is known to be."""
    declared = request.headers.get("content-length", "")
    if not declared.isdigit() or int(declared) <= limit:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read_within(request, limit)
        except TimeoutError:
            raise GatewayError(Code.UNAVAILABLE, "The request's body did not come in time; send it again.") from None
        if body is not None:
            return body
    raise GatewayError(Code.TOO_LARGE, f"The request is larger than the {limit:,} octets taken here.", limit=limit)


async def _read_within(request: Request, limit: int) -> bytes | None:
    """The body, or None when it grows past the limit."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def is_json(request: Request) -> bool:
    """Whether the body is declared to be JSON, which no form of a foreign page can declare."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def parse_json(body: bytes) -> Any:
    """JSON of bounded depth. Raises `validation_error`."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise invalid("body", "is not JSON") from None
    if not _shallow(value):
        raise invalid("body", f"is nested deeper than {_DEEPEST} levels")
    return value


def _shallow(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        if not inner:
            return True
        level = [one for one in inner if isinstance(one, dict | list)]
    return not level
