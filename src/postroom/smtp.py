"""The submission server of a mailbox (RFC 6409): reached, proved and logged in to; nothing is sent yet."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiosmtplib
from aiosmtplib import SMTP

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint, context_for, shown_pin, why_not


class SmtpFault(Exception):
    """Why submission is not possible; `reason` is a word of the same closed list as for IMAP."""

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason
        self.what = what


@dataclass(frozen=True, slots=True)
class Submission:
    """Where mail is handed over, and as whom; `secret` is None for a server that wants no login."""

    endpoint: Endpoint
    username: str | None
    auth: str
    secret: Callable[[], Awaitable[Secret]] | None
    connect_seconds: float
    command_seconds: float

    async def probe(self) -> None:
        """Connect, agree on TLS, say EHLO, log in, leave. Raises `SmtpFault`."""
        secret = await self.secret() if self.secret else None
        client = self._client()
        try:
            await self._open(client)
            if secret is not None:
                await self._log_in(client, secret)
            await client.quit()
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            raise _told(error) from error
        finally:
            client.close()

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
            await client.starttls(timeout=self.connect_seconds)
        if self.endpoint.tls != "none":
            self._check_pin(client)
        await client.ehlo()

    def _check_pin(self, client: SMTP) -> None:
        if not self.endpoint.pin or client.transport is None:
            return
        shown = shown_pin(client.transport.get_extra_info("ssl_object"))
        if shown != self.endpoint.pin:
            raise SmtpFault("tls", f"the certificate's SHA-256 is {shown}, not the pinned one")

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
            raise SmtpFault("protocol", "the server offers no login with a password on this connection")

    async def _oauthbearer(self, client: SMTP, username: str, secret: Secret) -> None:
        """RFC 7628 4: the error challenge is answered with ^A, then comes the refusal."""
        message = f"n,a={username},\x01auth=Bearer {secret.reveal()}\x01\x01".encode()
        reply = await client.execute_command(b"AUTH", b"OAUTHBEARER", base64.b64encode(message))
        if reply.code == 334:
            reply = await client.execute_command(base64.b64encode(b"\x01"))
        if reply.code != 235:
            raise aiosmtplib.SMTPAuthenticationError(reply.code, "")


_KINDS: tuple[tuple[type[Exception], str, str], ...] = (
    (aiosmtplib.SMTPAuthenticationError, "login_refused", "the server refused the user name or the password"),
    (aiosmtplib.SMTPTimeoutError, "timeout", "the server did not answer in time"),
    (TimeoutError, "timeout", "the server did not answer in time"),
    (aiosmtplib.SMTPConnectError, "refused", "no connection"),
    (aiosmtplib.SMTPServerDisconnected, "lost", "the server closed the connection"),
    (aiosmtplib.SMTPNotSupported, "protocol", "the server does not offer what is configured (STARTTLS or a login)"),
    (OSError, "refused", "no connection"),
)


def _told(error: Exception) -> SmtpFault:
    if isinstance(error, aiosmtplib.SMTPAuthenticationError) and 400 <= error.code < 500:
        return SmtpFault("busy", "the server has no room for a login now")
    if isinstance(error, ssl.SSLError) or isinstance(error.__cause__, ssl.SSLError):
        cause = error if isinstance(error, ssl.SSLError) else error.__cause__
        return SmtpFault("tls", why_not(cause if isinstance(cause, Exception) else error))
    for kind, reason, what in _KINDS:
        if isinstance(error, kind):
            return SmtpFault(reason, what)
    return SmtpFault("protocol", "the server did not answer like a submission server")
