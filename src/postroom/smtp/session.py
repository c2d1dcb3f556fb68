"""One logged-in conversation with a submission server: the commands of a transaction by turns (RFC 5321 4.1.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import aiosmtplib
from aiosmtplib import SMTP
from aiosmtplib.protocol import SMTPProtocol

from postroom.smtp.faults import FAILURES, SmtpFault, told
from postroom.smtp.outcome import Answer

_CHUNK = 1 << 16
"""Octets of a message that must leave within the time of a command, before more are written."""
_END = b"\r\n.\r\n"
"""Written in one piece: no server, however loose, sees an end that we have not decided on."""
_PATIENCE = 5
"""Times the time of a command for the reply to the message itself: servers look at mail before they take it."""


class Session:
    """A conversation that is ready for MAIL. A fault closes it."""

    def __init__(self, client: SMTP, command_seconds: float) -> None:
        self._client = client
        self._seconds = command_seconds

    @property
    def closed(self) -> bool:
        return not self._client.is_connected

    def close(self) -> None:
        self._client.close()

    def offers(self, extension: str) -> bool:
        """Whether EHLO named this extension."""
        return self._client.supports_extension(extension)

    @property
    def size_limit(self) -> int | None:
        """Octets that a message may have (RFC 1870); None where the server sets no fixed limit."""
        limit = self._client.esmtp_extensions.get("size", "")
        return int(limit) or None if limit.isascii() and limit.isdigit() else None

    async def mail(self, sender: str, options: Sequence[str]) -> Answer:
        """MAIL FROM. Raises `SmtpFault` if there is no reply or none that can be understood."""
        return await self._ask(f"MAIL FROM:<{sender}>", *options)

    async def rcpt(self, recipient: str) -> Answer:
        """RCPT TO; else as `mail`."""
        return await self._ask(f"RCPT TO:<{recipient}>")

    async def data(self) -> Answer | None:
        """DATA: None if the message may follow, else the refusal; else as `mail`."""
        answer = await self._ask("DATA", expecting=354)
        return None if answer.code == 354 else answer

    async def reset(self) -> None:
        """End a transaction without a message. A session that cannot is closed."""
        try:
            if not (await self._ask("RSET")).is_positive:
                self.close()
        except SmtpFault:
            self.close()

    async def message(self, octets: bytes) -> None:
        """The message after DATA, with dots doubled (RFC 5321 4.5.2), and with its last octets the dot that ends it.

        The end is written when what is before it has left us: whoever gets a `SmtpFault` from here knows that the
        server cannot have the message. `verdict` must follow at once.
        """
        stuffed = octets.replace(b"\r\n.", b"\r\n..") + _END[2:]
        stuffed = b"." + stuffed if stuffed.startswith(b".") else stuffed
        last = (len(stuffed) - len(_END)) // _CHUNK * _CHUNK
        try:
            protocol = self._protocol()
            for start in range(0, last, _CHUNK):
                protocol.write(stuffed[start : start + _CHUNK])
                async with asyncio.timeout(self._seconds):
                    await protocol._drain_helper()  # as its class says, what StreamWriter.drain() waits for
            protocol.write(stuffed[last:])
        except FAILURES as error:
            self.close()
            raise told(error) from error

    async def verdict(self) -> Answer:
        """What the server says of the message. Raises `SmtpFault` when it says nothing that can be understood.

        Then nobody knows what became of it.
        """
        try:
            reply = await self._protocol().read_response(timeout=_PATIENCE * self._seconds)
        except FAILURES as error:
            self.close()
            raise told(error) from error
        return self._understood(Answer.read(reply.code, reply.message))

    def _protocol(self) -> SMTPProtocol:
        if self._client.protocol is None:
            raise aiosmtplib.SMTPServerDisconnected("closed")
        return self._client.protocol

    async def _ask(self, command: str, *options: str, expecting: int | None = None) -> Answer:
        parts = [word.encode() for word in (command, *options)]
        try:
            reply = await self._client.execute_command(*parts)
        except FAILURES as error:
            self.close()
            raise told(error) from error
        if reply.code == expecting:
            return Answer(reply.code, None)
        return self._understood(Answer.read(reply.code, reply.message))

    def _understood(self, answer: Answer) -> Answer:
        if answer.is_positive or answer.is_refusal:
            return answer
        self.close()
        raise SmtpFault("protocol", "the server did not answer like a submission server")
