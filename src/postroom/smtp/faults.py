"""What can go wrong between us and a submission server before it has a message; nothing was handed over then."""

from __future__ import annotations

import ssl

import aiosmtplib

from postroom.base.cause import Cause
from postroom.base.tls import unreached, why_not


class SmtpFault(Exception):
    """Why submission is not possible; `reason` is a word of the same closed list as for IMAP.

    Two more: `too_large` and `not_offered`, for a message that this server does not take. `said` is the server's own
    words, foreign and for no caller; `certificate` is DER, where it is known.
    """

    def __init__(
        self, reason: str, what: str, cause: Cause | None = None, *, said: str = "", certificate: bytes = b""
    ) -> None:
        super().__init__(what)
        self.reason = reason
        self.what = what
        self.cause = cause
        self.said = said
        self.certificate = certificate


_KINDS: tuple[tuple[type[Exception], str, str], ...] = (
    (aiosmtplib.SMTPTimeoutError, "timeout", "the server did not answer in time"),
    (TimeoutError, "timeout", "the server did not answer in time"),
    (aiosmtplib.SMTPConnectError, "refused", "no connection"),
    (aiosmtplib.SMTPServerDisconnected, "lost", "the server closed the connection"),
    (ConnectionError, "lost", "the server closed the connection"),
    (aiosmtplib.SMTPNotSupported, "protocol", "the server does not offer what is configured (STARTTLS or a login)"),
    (OSError, "refused", "no connection"),
)
FAILURES = (aiosmtplib.SMTPException, OSError, TimeoutError)
"""What the library raises, all of which `told` has words for."""


def told(error: Exception) -> SmtpFault:
    """The library's exception in our terms."""
    root = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(root, ssl.SSLError):
        cause, why = why_not(root)
        return SmtpFault("tls", why, cause)
    if isinstance(error, aiosmtplib.SMTPConnectTimeoutError):
        greets = isinstance(error.__cause__, aiosmtplib.SMTPTimeoutError)
        return SmtpFault("timeout", "the server did not answer in time", Cause.SILENT if greets else Cause.NO_ANSWER)
    if isinstance(error, aiosmtplib.SMTPConnectError) and isinstance(root, OSError):
        cause, why = unreached(root)
        return SmtpFault("refused", why, cause)
    for kind, reason, what in _KINDS:
        if isinstance(error, kind):
            return SmtpFault(reason, what)
    return SmtpFault("protocol", "the server did not answer like a submission server")
