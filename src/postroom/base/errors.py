"""Every failure a caller may see: a code, a sentence that helps to repair the call, and details."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The closed list of error codes of both surfaces."""

    PERMISSION_DENIED = "permission_denied"
    POLICY_DENIED = "policy_denied"
    INVALID_CURSOR = "invalid_cursor"
    INVALID_IDENTITY = "invalid_identity"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    VALIDATION_ERROR = "validation_error"
    RATE_LIMITED = "rate_limited"
    TOO_LARGE = "too_large"
    IMAP_ERROR = "imap_error"
    SMTP_ERROR = "smtp_error"
    INTERNAL_ERROR = "internal_error"
    UNAUTHORIZED = "unauthorized"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    UNAVAILABLE = "unavailable"


class GatewayError(Exception):
    """A failure in the caller's terms.

    `message` is one sentence: what is wrong and what to do. `details` holds what a program needs to repair the
    call. Neither ever holds mail content, a secret, or text that an upstream server wrote.
    """

    def __init__(self, code: Code, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: Mapping[str, Any] = details

    def body(self) -> dict[str, Any]:
        """The one shape of an error on both surfaces."""
        return {"error": {"code": self.code.value, "message": self.message, "details": dict(self.details)}}


def not_found(message: str, **details: Any) -> GatewayError:
    """Something named in the call does not exist for this caller."""
    return GatewayError(Code.NOT_FOUND, message, **details)


def invalid(argument: str, reason: str, **details: Any) -> GatewayError:
    """An argument that cannot be used; `reason` says why in words that repair it."""
    message = f"{argument}: {reason}"
    return GatewayError(Code.VALIDATION_ERROR, message, argument=argument, reason=reason, **details)


def internal() -> GatewayError:
    """Something unexpected: the log has the traceback, the caller gets no inner text."""
    return GatewayError(Code.INTERNAL_ERROR, "The gateway failed unexpectedly; its log says more. Try again once.")
