"""A scripted IMAP peer in the test's own event loop, for faults that no real server produces on demand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

Conversation = Callable[["Peer"], Awaitable[None]]


@dataclass
class Peer:
    """One accepted connection: `says` sends, `hears` reads a line and remembers it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    heard: list[bytes]

    async def says(self, *lines: bytes) -> None:
        for line in lines:
            self.writer.write(line + b"\r\n")
        await self.writer.drain()

    async def hears(self) -> bytes:
        line = (await self.reader.readuntil(b"\r\n"))[:-2]
        self.heard.append(line)
        return line

    async def answers(self, *lines: bytes, status: bytes = b"OK done") -> bytes:
        """Hear one command and answer it; `{tag}` in no line is needed, the status gets it."""
        command = await self.hears()
        tag, _, rest = command.partition(b" ")
        await self.says(*lines, tag + b" " + status)
        return rest

    async def lets_in(self, capabilities: bytes = b"IMAP4rev1") -> None:
        """Greeting and login."""
        await self.says(b"* OK [CAPABILITY " + capabilities + b"] ready")
        await self.answers(status=b"OK [CAPABILITY " + capabilities + b"] welcome")

    async def opens(self, exists: int = 3, uid_next: int = 8, uid_validity: int = 17) -> None:
        """Answer a SELECT or EXAMINE."""
        await self.answers(
            b"* %d EXISTS" % exists,
            b"* OK [UIDVALIDITY %d] ok" % uid_validity,
            b"* OK [UIDNEXT %d] ok" % uid_next,
            status=b"OK [READ-ONLY] opened",
        )

    async def goes(self) -> None:
        self.writer.close()

    async def hangs(self) -> None:
        """Say nothing more until the other side leaves."""
        while await self.reader.read(65536):
            pass


@dataclass
class Listening:
    port: int
    heard: list[bytes] = field(default_factory=list)
    connections: int = 0
    failures: list[BaseException] = field(default_factory=list)


@contextlib.asynccontextmanager
async def listening(*conversations: Conversation) -> AsyncIterator[Listening]:
    """The n-th connection gets the n-th conversation, later ones the last."""
    state = Listening(0)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = state.connections
        state.connections += 1
        conversation = conversations[min(number, len(conversations) - 1)]
        try:
            await conversation(Peer(reader, writer, number, state.heard))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except Exception as error:  # noqa: BLE001 - shown to the test below
            state.failures.append(error)
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 24)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
    assert not state.failures, state.failures
