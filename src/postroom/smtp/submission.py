"""Where a mailbox hands over its mail, and as whom (RFC 6409): reached, proved and logged in to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from aiosmtplib import SMTP

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint, inspecting
from postroom.smtp.faults import FAILURES, SmtpFault, told
from postroom.smtp.login import log_in
from postroom.smtp.opening import client_of, introduce


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
        client = await self.connect(await self.secret() if self.secret else None)
        try:
            offered = frozenset(name.upper() for name in client.esmtp_extensions)
            await client.quit()
        except FAILURES as error:
            raise told(error) from error
        finally:
            client.close()
        return offered

    async def connect(self, secret: Secret | None) -> SMTP:
        """A client that is logged in, or that needs no login. Raises `SmtpFault`."""
        client = client_of(self.endpoint, self.command_seconds)
        try:
            await introduce(client, self.endpoint, self.connect_seconds)
            if secret is not None:
                await log_in(client, self.username or "", self.auth, secret)
        except FAILURES as error:
            client.close()
            raise told(error) from error
        except BaseException:
            client.close()
            raise
        return client

    async def inspect_certificate(self, tls: str) -> bytes:
        """The certificate that the server shows by this TLS mode, as DER; empty if none is seen. No login."""
        try:
            await replace(self, endpoint=inspecting(self.endpoint, tls), secret=None).probe()
        except SmtpFault as fault:
            return fault.certificate
        return b""
