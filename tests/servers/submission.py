"""Submission servers of the tests' own: one that reads mail as loosely as the worst, and does what a test tells it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from postroom.base.clock import HandClock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.mail.outgoing.model import Cleared
from postroom.smtp import Accepted, Submission, Submitter

CLOSE = b"<close>"
SILENT = b"<silent>"
MIDDLE = b"<middle>"
"""In the middle of a message, which is not read to its end: `CLOSE` or `SILENT`."""
_LOOSE_END = re.compile(rb"(?:\A|\r\n|\n|\r)\.(?:\r\n|\n|\r)")
_LINE = re.compile(rb"\r\n|\n|\r")


@dataclass
class LooseServer:
    """Takes CR, LF and CRLF alike for line ends, everywhere, as servers do that mail is smuggled through.

    `answers` are told by the first word that fits, instead of what it would say: `CLOSE` and `SILENT` are no words.
    A list is told by turns. `.` is the end of a message.
    """

    answers: dict[bytes, bytes | list[bytes]] = field(default_factory=dict)
    extensions: tuple[bytes, ...] = (b"8BITMIME", b"SIZE 100000000", b"AUTH PLAIN")
    heard: list[bytes] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    connects: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connects += 1
        self.writers.append(writer)
        try:
            writer.write(b"220 mx.example.org ESMTP\r\n")
            await self._converse(_Lines(reader), writer)
        except (ConnectionError, EOFError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def _converse(self, lines: _Lines, writer: asyncio.StreamWriter) -> None:
        while True:
            line = await lines.line()
            self.heard.append(line)
            answer = self._answer(line)
            if answer == CLOSE:
                return
            if answer != SILENT:
                writer.write(answer + b"\r\n")
            if answer.startswith(b"354"):
                if (middle := self._told(MIDDLE)) is not None:
                    await (writer.drain() if middle == CLOSE else asyncio.Event().wait())
                    return
                message = await lines.message()
                self.messages.append(message)
                answer = self._told(b".") or b"250 2.0.0 queued"
                if answer == CLOSE:
                    return
                if answer != SILENT:
                    writer.write(answer + b"\r\n")

    def _answer(self, line: bytes) -> bytes:
        if told := self._told(line):
            return told
        word = line.upper()
        if word.startswith(b"EHLO"):
            lines = [b"mx.example.org", *self.extensions]
            return b"\r\n".join(b"250" + (b" " if one is lines[-1] else b"-") + one for one in lines)
        known = {b"AUTH": b"235 2.7.0 in", b"DATA": b"354 go", b"QUIT": b"221 bye"}
        return known.get(word[:4], b"250 ok" if word[:4] in (b"MAIL", b"RCPT", b"RSET", b"NOOP") else b"502 what")

    def _told(self, line: bytes) -> bytes | None:
        for start, answer in self.answers.items():
            if line.upper().startswith(start.upper()):
                if isinstance(answer, list):
                    return answer.pop(0) if answer else None
                return answer
        return None

    def hang_up(self) -> None:
        """Close every connection there is."""
        for writer in self.writers:
            writer.transport.abort()


class _Lines:
    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._buffer = b""

    async def _more(self) -> None:
        octets = await self._reader.read(1 << 16)
        if not octets:
            raise EOFError
        self._buffer += octets

    async def line(self) -> bytes:
        while not (end := _LINE.search(self._buffer)):
            await self._more()
        line, self._buffer = self._buffer[: end.start()], self._buffer[end.end() :]
        return line

    async def message(self) -> bytes:
        while not (end := _LOOSE_END.search(self._buffer)):
            await self._more()
        octets, self._buffer = self._buffer[: end.start()], self._buffer[end.end() :]
        return re.sub(rb"(?m)^\.", b"", octets) + b"\r\n"


@asynccontextmanager
async def submitting(
    server: LooseServer, seconds: float = 5.0, clock: HandClock | None = None
) -> AsyncIterator[Submitter]:
    """A submitter of that server."""

    async def secret() -> Secret:
        return Secret("s3cret")

    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    login = any(one.startswith(b"AUTH") for one in server.extensions)
    endpoint = Endpoint("127.0.0.1", port, "none")
    submission = Submission(endpoint, "ana" if login else None, "password", secret if login else None, seconds, seconds)
    submitter = Submitter(submission, clock or HandClock())
    try:
        yield submitter
    finally:
        submitter.close()
        listener.close()
        server.hang_up()


def cleared(
    octets: bytes = b"Subject: x\r\n\r\nHi\r\n", *recipients: str, utf8: bool = False, sender: str = "ana@example.org"
) -> Cleared:
    """A stamp without policy, for tests of what comes behind it."""
    return Cleared(sender, recipients or ("bo@example.com",), octets, "<1@example.org>", utf8)


async def nothing(_: Accepted) -> None:
    """A journal that notes nothing."""
