"""The submission server of a mailbox (RFC 6409): reached, proved and logged in to; nothing is sent yet."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import aiosmtplib
from aiosmtplib import SMTP

from postroom.base.cause import Cause
from postroom.base.refusal import REFUSED, quotable, why_refused
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint, context_for, inspecting, pin_of, shown_certificate, unreached, why_not


class SmtpFault(Exception):
    """Why submission is not possible; `reason` is a word of the same closed list as for IMAP.

    `said` is the server's own words, foreign and for no caller; `certificate` is DER, where it is known.
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


@dataclass(frozen=True, slots=True)
class Submission:
    """Where mail is handed over, and as whom; `secret` is None for a server that wants no login."""

    endpoint: Endpoint
    username: str | None
    auth: str
    secret: Callable[[], Awaitable[Secret]] | None
    connect_seconds: float
    command_seconds: float

    async def probe(self) -> frozenset[str]:
        """Connect, agree on TLS, say EHLO, log in, leave: the extensions offered. Raises `SmtpFault`."""
        secret = await self.secret() if self.secret else None
        client = self._client()
        try:
            await self._open(client)
            offered = frozenset(name.upper() for name in client.esmtp_extensions)
            if secret is not None:
                await self._log_in(client, secret)
            await client.quit()
        except aiosmtplib.SMTPAuthenticationError as error:
            raise self._refusal(error, secret) from error
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            raise _told(error) from error
        finally:
            client.close()
        return offered

    async def inspect_certificate(self, tls: str) -> bytes:
        """The certificate that the server shows by this TLS mode, as DER; empty if none is seen. No login."""
        try:
            await replace(self, endpoint=inspecting(self.endpoint, tls), secret=None).probe()
        except SmtpFault as fault:
            return fault.certificate
        return b""

    def _client(self) -> SMTP:
        return SMTP(
            hostname=self.endpoint.host,
            port=self.endpoint.port,
            use_tls=self.endpoint.tls == "ssl",
            start_tls=False,
            tls_context=context_for(self.endpoint),
            timeout=self.command_seconds,
        )

    async def _open(self, client: SMTP) -> None:
        await client.connect(timeout=self.connect_seconds)
        if self.endpoint.tls == "starttls":
            await self._start_tls(client)
        if self.endpoint.tls != "none":
            self._check_pin(client)
        await client.ehlo()

    async def _start_tls(self, client: SMTP) -> None:
        await client.ehlo()
        if not client.supports_extension("starttls"):
            raise SmtpFault("tls", "the server offers no STARTTLS", Cause.NO_STARTTLS)
        await client.starttls(timeout=self.connect_seconds)

    def _check_pin(self, client: SMTP) -> None:
        if not self.endpoint.pin or client.transport is None:
            return
        shown = shown_certificate(client.transport.get_extra_info("ssl_object"))
        if (pin := pin_of(shown)) != self.endpoint.pin:
            told = f"the certificate's SHA-256 is {pin}, not the pinned one"
            raise SmtpFault("tls", told, Cause.CERTIFICATE_CHANGED, certificate=shown)

    async def _log_in(self, client: SMTP, secret: Secret) -> None:
        username = self.username or ""
        if self.auth == "xoauth2":
            await client.auth_xoauth2(username, secret.reveal())
        elif self.auth == "oauthbearer":
            await self._oauthbearer(client, username, secret)
        else:
            await self._password(client, username, secret)

    async def _password(self, client: SMTP, username: str, secret: Secret) -> None:
        """One mechanism, once: the library's own login would offer a refused password again by every other one."""
        offered = client.supported_auth_methods
        if "plain" in offered:
            await client.auth_plain(username, secret.reveal())
        elif "login" in offered:
            await client.auth_login(username, secret.reveal())
        else:
            told = "the server offers no login with a password on this connection"
            raise SmtpFault("protocol", told, Cause.NO_LOGIN_OFFERED)

    async def _oauthbearer(self, client: SMTP, username: str, secret: Secret) -> None:
        """RFC 7628 4: the error challenge is answered with ^A, then comes the refusal."""
        message = f"n,a={username},\x01auth=Bearer {secret.reveal()}\x01\x01".encode()
        reply = await client.execute_command(b"AUTH", b"OAUTHBEARER", base64.b64encode(message))
        if reply.code == 334:
            reply = await client.execute_command(base64.b64encode(b"\x01"))
        if reply.code != 235:
            raise aiosmtplib.SMTPAuthenticationError(reply.code, reply.message)

    def _refusal(self, error: aiosmtplib.SMTPAuthenticationError, secret: Secret | None) -> SmtpFault:
        """What a refused login means: no room now, or wrong credentials, as far as the server says."""
        if 400 <= error.code < 500:
            return SmtpFault("busy", "the server has no room for a login now")
        cause = why_refused(error.message.partition(" ")[0], error.message, self.auth)
        said = quotable(f"{error.code} {error.message}", secret.reveal() if secret else "")
        return SmtpFault("login_refused", REFUSED[cause], cause, said=said)


_KINDS: tuple[tuple[type[Exception], str, str], ...] = (
    (aiosmtplib.SMTPTimeoutError, "timeout", "the server did not answer in time"),
    (TimeoutError, "timeout", "the server did not answer in time"),
    (aiosmtplib.SMTPConnectError, "refused", "no connection"),
    (aiosmtplib.SMTPServerDisconnected, "lost", "the server closed the connection"),
    (aiosmtplib.SMTPNotSupported, "protocol", "the server does not offer what is configured (STARTTLS or a login)"),
    (OSError, "refused", "no connection"),
)


def _told(error: Exception) -> SmtpFault:
    root = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(root, ssl.SSLError):
        cause, told = why_not(root)
        return SmtpFault("tls", told, cause)
    if isinstance(error, aiosmtplib.SMTPConnectTimeoutError):
        greets = isinstance(error.__cause__, aiosmtplib.SMTPTimeoutError)
        return SmtpFault("timeout", "the server did not answer in time", Cause.SILENT if greets else Cause.NO_ANSWER)
    if isinstance(error, aiosmtplib.SMTPConnectError) and isinstance(root, OSError):
        cause, told = unreached(root)
        return SmtpFault("refused", told, cause)
    for kind, reason, what in _KINDS:
        if isinstance(error, kind):
            return SmtpFault(reason, what)
    return SmtpFault("protocol", "the server did not answer like a submission server")
