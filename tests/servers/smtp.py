"""A submission server of the tests' own: aiosmtpd with STARTTLS and a login."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

from tests.servers.ports import free_port


def _authenticator(server: object, session: object, envelope: object, mechanism: str, data: object) -> AuthResult:
    assert isinstance(data, LoginPassword)
    return AuthResult(success=data.password == b"correct-horse", handled=False)


class Letterbox:
    """Keeps what is delivered, as it came: envelope and octets."""

    def __init__(self) -> None:
        self.envelopes: list[Envelope] = []

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        self.envelopes.append(envelope)
        return "250 2.0.0 kept"


@contextlib.contextmanager
def running_smtp(certificate: Path, key: Path, handler: object | None = None) -> Iterator[int]:
    """The port of a server that wants STARTTLS before a login; mail goes to `handler` of aiosmtpd."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    controller = Controller(
        handler or object(), hostname="127.0.0.1", port=free_port(), tls_context=context, authenticator=_authenticator
    )
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()
