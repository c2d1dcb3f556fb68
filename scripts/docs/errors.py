"""The closed list of error codes, with the HTTP status and the meaning of each."""

from __future__ import annotations

from postroom.base.errors import Code
from postroom.surfaces.responses import STATUS
from scripts.docs.markdown import code, table

MEANING = {
    Code.PERMISSION_DENIED: "The token lacks a scope, or the gateway does not take calls from there.",
    Code.POLICY_DENIED: "The policy of a bound token does not allow it; `outcome` tells how a message would end.",
    Code.INVALID_CURSOR: "A bound token's cursor is good no more, or was never: start again without one.",
    Code.INVALID_IDENTITY: "The mailbox may not send from this address; `identities` are those that it may.",
    Code.NOT_FOUND: "There is no such mailbox, folder, message or file for this token.",
    Code.CONFLICT: "The call is right, but what it is about does not allow it as it is now.",
    Code.VALIDATION_ERROR: "An argument cannot be used: `argument` names it and `reason` says why.",
    Code.RATE_LIMITED: "The token has used up a limit; `retry_after` tells the seconds to wait.",
    Code.TOO_LARGE: "The call, a file or a message is over a limit.",
    Code.IMAP_ERROR: "The mailbox's IMAP server cannot be reached, refuses, or does not answer as it should.",
    Code.SMTP_ERROR: "The same of its SMTP server. `outcome` is `rejected` if the message was certainly not sent, "
    "`unknown` if nobody knows: look into Sent before sending anything again.",
    Code.INTERNAL_ERROR: "A defect of the gateway; its log says more.",
    Code.UNAUTHORIZED: "There is no token, or it is wrong, expired or revoked.",
    Code.METHOD_NOT_ALLOWED: "The path is known, but not with this method.",
    Code.UNAVAILABLE: "The gateway cannot do this now, or the operator has stopped it (`reason` is `stopped`).",
}
_SHAPE = """\
## Errors

A failed call answers `{"error": {"code": ..., "message": ..., "details": {...}}}`: over HTTP with the status below,
over MCP as a tool's answer with `isError`. `message` says what is wrong and what to do; `details` holds what a
program needs, such as `retryable`: whether the same call may be made again."""


def section() -> str:
    """The shape of an error and a table of all codes."""
    rows = [[code(one), str(STATUS[one]), MEANING[one]] for one in Code]
    return f"{_SHAPE}\n\n{table(['code', 'status', 'meaning'], rows)}"
