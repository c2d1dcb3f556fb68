"""Answers, with the headers that every one of them carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from postroom.base.errors import Code, GatewayError

STATUS: Mapping[Code, int] = {
    Code.PERMISSION_DENIED: 403,
    Code.POLICY_DENIED: 403,
    Code.INVALID_CURSOR: 422,
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
