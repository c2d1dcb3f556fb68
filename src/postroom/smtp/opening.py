"""From an endpoint to a submission server that has introduced itself: connect, TLS, pin, EHLO."""

from __future__ import annotations

import asyncio
from typing import cast

from aiosmtplib import SMTP

from postroom.base.cause import Cause
from postroom.base.tls import Endpoint, context_for, pin_of, shown_certificate
from postroom.smtp.faults import SmtpFault

OUR_NAME = "[127.0.0.1]"
"""What EHLO says of us (RFC 5321 4.1.3): the name of the machine is nobody's business, and asking for it takes time."""


class Client(SMTP):
    """One that closes at once: a polite end of TLS waits for the other side, which may be gone, or the wrong one."""

    def close(self) -> None:
        if self.transport is not None:
            cast(asyncio.WriteTransport, self.transport).abort()  # uvloop's are transports by their methods alone
        super().close()


def client_of(endpoint: Endpoint, command_seconds: float) -> SMTP:
    """A client that is not connected yet."""
    return Client(
        hostname=endpoint.host,
        port=endpoint.port,
        local_hostname=OUR_NAME,
        use_tls=endpoint.tls == "ssl",
        start_tls=False,
        tls_context=context_for(endpoint),
        timeout=command_seconds,
    )


async def introduce(client: SMTP, endpoint: Endpoint, connect_seconds: float) -> None:
    """Connect, agree on TLS as configured, and hear what is offered. Raises `SmtpFault` and the library's."""
    await client.connect(timeout=connect_seconds)
    if endpoint.tls == "starttls":
        await _start_tls(client, connect_seconds)
    if endpoint.tls != "none":
        _check_pin(client, endpoint.pin)
    await client.ehlo()


async def _start_tls(client: SMTP, connect_seconds: float) -> None:
    await client.ehlo()
    if not client.supports_extension("starttls"):
        raise SmtpFault("tls", "the server offers no STARTTLS", Cause.NO_STARTTLS)
    await client.starttls(timeout=connect_seconds)


def _check_pin(client: SMTP, pinned: str | None) -> None:
    if not pinned or client.transport is None:
        return
    shown = shown_certificate(client.transport.get_extra_info("ssl_object"))
    if (pin := pin_of(shown)) != pinned:
        told = f"the certificate's SHA-256 is {pin}, not the pinned one"
        raise SmtpFault("tls", told, Cause.CERTIFICATE_CHANGED, certificate=shown)
