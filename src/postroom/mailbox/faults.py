"""Mail servers' failures told in the caller's terms: what happened, and what a person or an agent can do."""

from __future__ import annotations

import math

from postroom.base.cause import Cause
from postroom.base.errors import Code, GatewayError
from postroom.imap.faults import BusyFault, ImapFault, RefusedFault
from postroom.smtp import SmtpFault

_ADVICE = {
    "refused": "The operator should check host and port, and that the server is up; later it may work again.",
    "timeout": "Try again; if it stays, the server is overloaded or the network drops packets.",
    "tls": "The operator must check the tls mode, the port, ca_file and certificate_sha256.",
    "lost": "Try again.",
    "protocol": "The server is broken, or not the one that the configuration means; the operator should look at it.",
    "login_refused": "The operator must correct the user name or password, or make an app password; "
    "it is not tried again with the same one.",
    "busy": "Try again a little later.",
    "credential": "The operator must correct the reference to the password in the configuration.",
    "too_large": "Send less: fewer or smaller files.",
    "not_offered": "Leave the addresses out that have letters beyond ASCII before the @.",
    "command_refused": "The server does not do this for this mailbox.",
}
_ADVICE_BY_CAUSE = {
    Cause.HOST_UNKNOWN: "The operator must correct the host name in the configuration.",
    Cause.TOKEN_REFUSED: "The operator must see to a new access token; this one is not tried again.",
    Cause.APP_PASSWORD: "The operator must make an app password at the provider and configure it.",
    Cause.OAUTH: "The operator must configure auth: xoauth2 with an access token.",
    Cause.BROWSER: "The operator must log in to the account with a browser, or make an app password.",
    Cause.SWITCHED_OFF: "The operator must switch it on in the account's settings at the provider.",
}
"""Where the cause tells more than the reason; `postroom check` tells the operator more."""
NO_SUCH_FOLDER = {"NONEXISTENT", "TRYCREATE", "CANNOT"}
"""Response codes that tell of a folder that is not there."""
_BUSY = {"UNAVAILABLE", "INUSE", "LIMIT"}
_CONFLICTS = {
    "OVERQUOTA": "it is full. Erase messages from Trash, or ask its operator for more room.",
    "NOPERM": "its server does not permit this login to do that. Its operator could.",
    "READ-ONLY": "its server lets nothing be changed there. Leave it as it is, or use another folder.",
}
"""Response codes (RFC 5530, RFC 9208) that tell a caller more than that a command was refused."""
_RETRYABLE = {"refused", "timeout", "lost", "busy"}


def imap_error(fault: ImapFault, mailbox: str) -> GatewayError:
    """An `imap_error` with its reason, whether trying again can help, and after how many seconds."""
    details = {"reason": fault.reason, "mailbox": mailbox, "retryable": fault.reason in _RETRYABLE}
    if fault.retry_after is not None:
        details["retry_after"] = math.ceil(fault.retry_after)
    what = "the server refused the command" if fault.reason == "command_refused" else fault.what
    return GatewayError(Code.IMAP_ERROR, f"Mailbox {mailbox}: {what}. {_advice(fault)}", **details)


def why_undone(error: GatewayError) -> str:
    """Why what should follow a thing that is done was not; no advice to call again, which would do it twice."""
    return "its IMAP server cannot be reached now." if error.details.get("retryable") else error.message


def refusal(fault: RefusedFault, mailbox: str) -> GatewayError:
    """A NO of the server, told by its response code."""
    if fault.code in _CONFLICTS:
        return GatewayError(Code.CONFLICT, f"Mailbox {mailbox}: {_CONFLICTS[fault.code]}", mailbox=mailbox)
    return imap_error(BusyFault("the server cannot do this now") if fault.code in _BUSY else fault, mailbox)


def is_refused(error: GatewayError) -> bool:
    """Whether the server answered, and would not do this."""
    return error.details.get("reason") == RefusedFault.reason


def read_only(folder: str) -> GatewayError:
    """A folder that the server opens for reading alone."""
    return GatewayError(
        Code.CONFLICT,
        f"Folder {folder!r} is read-only on its server: nothing in it can be changed.",
        argument="folder",
        reason="read_only",
    )


def smtp_error(fault: SmtpFault, mailbox: str) -> GatewayError:
    """An `smtp_error` with its reason and whether trying again can help."""
    details = {"reason": fault.reason, "mailbox": mailbox, "retryable": fault.reason in _RETRYABLE}
    return GatewayError(Code.SMTP_ERROR, f"Mailbox {mailbox}: {fault.what}. {_advice(fault)}", **details)


def _advice(fault: ImapFault | SmtpFault) -> str:
    told = _ADVICE_BY_CAUSE.get(fault.cause) if fault.cause else None
    return told or _ADVICE.get(fault.reason, "Try again.")
