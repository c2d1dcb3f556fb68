"""Why a call got no answer from the gateway, as the JSON-RPC error that its caller gets instead."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import orjson

UNANSWERED = -32010
"""In the range that JSON-RPC leaves to implementations, and outside of what MCP took of it (-32020 and below)."""

Id = str | int | None


class Reason(StrEnum):
    """`data.reason` of the error."""

    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    LOST = "lost"
    """The connection broke after the call was on its way."""
    UNAUTHORIZED = "unauthorized"
    REFUSED = "refused"
    """The gateway, or what stands before it, answered with an HTTP error."""
    NOT_MCP = "not_mcp"
    TOO_LARGE = "too_large"
    BUSY = "busy"


class Unanswered(Exception):
    """The call has no answer; the sentence says why and what to do. It never holds the token."""

    def __init__(self, reason: Reason, message: str, **data: Any) -> None:
        super().__init__(message)
        self.reason = reason
        self.data = data

    def line(self, identifier: Id) -> bytes:
        """The error for that request."""
        return error_line(identifier, UNANSWERED, str(self), {"reason": self.reason.value, **self.data})


def error_line(identifier: Id, code: int, message: str, data: dict[str, Any] | None = None) -> bytes:
    """A JSON-RPC error as one line without its end; `identifier` is None where the request's is not known."""
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return orjson.dumps({"jsonrpc": "2.0", "id": identifier, "error": error})
