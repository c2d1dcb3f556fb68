"""What can go wrong between us and an IMAP server, in the protocol's own terms."""

from __future__ import annotations

from postroom.base.cause import Cause


class ImapFault(Exception):
    """Base of every failure this package raises; `reason` is a word of the closed list of `imap_error`."""

    reason = "protocol"
    retry_after: float | None = None
    """Seconds until a new try is worth it, when that is known."""

    def __init__(self, what: str, cause: Cause | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.cause = cause

    def resting(self, seconds: float) -> ImapFault:
        """The same failure told again, without a new try, while the server is left alone."""
        told = type(self)(self.what, self.cause)
        told.retry_after = seconds
        return told


class ConnectFault(ImapFault):
    """No connection: the address does not resolve or nobody accepts."""

    reason = "refused"


class TlsFault(ImapFault):
    """TLS could not be agreed on, or the certificate is not the one expected; `certificate` is its DER, if known."""

    reason = "tls"

    def __init__(self, what: str, cause: Cause | None = None, certificate: bytes = b"") -> None:
        super().__init__(what, cause)
        self.certificate = certificate


class DeadlineFault(ImapFault):
    """The server did not answer in the time that the configuration allows."""

    reason = "timeout"


class LostFault(ImapFault):
    """The connection ended, or had to be ended, before the answer was whole."""

    reason = "lost"


class WireFault(ImapFault):
    """The server sent octets that are not IMAP, or more of them than we accept."""

    reason = "protocol"


class LoginFault(ImapFault):
    """The server refused the credentials: trying again with the same ones only locks accounts.

    `said` is the server's own words: foreign, made fit for a terminal, without the secret, and for no caller.
    """

    reason = "login_refused"

    def __init__(self, what: str, cause: Cause | None = None, said: str = "") -> None:
        super().__init__(what, cause)
        self.said = said


class BusyFault(ImapFault):
    """The server has no room now: a connection limit, or a rest it asks for."""

    reason = "busy"


class CredentialFault(ImapFault):
    """Our own side could not produce the password or token."""

    reason = "credential"


class RefusedFault(ImapFault):
    """The server answered NO or BAD to a command; `code` is its response code (RFC 5530), upper case, or None.

    `unknown` is true for BAD: the server does not know such a command, or not like this.
    """

    reason = "command_refused"

    def __init__(self, what: str, code: str | None, *, unknown: bool = False) -> None:
        super().__init__(what)
        self.code = code
        self.unknown = unknown
