"""A TCP proxy in the test's own event loop, whose connections can be cut and whose server can be away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass
class Proxy:
    """Passes octets on to `target`; while `away`, whoever connects is hung up on."""

    target: int
    port: int = 0
    away: bool = False
    connections: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    def cut(self) -> None:
        """End every connection now, in the middle of whatever it does."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def ended(self) -> None:
        """Returns when nothing is passed on any more."""
        while self._running:
            await asyncio.wait(self._running)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.away:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        self.connections += 1
        beyond_reader, beyond_writer = await asyncio.open_connection("127.0.0.1", self.target)
        self._writers |= {writer, beyond_writer}
        await asyncio.gather(_pass_on(reader, beyond_writer), _pass_on(beyond_reader, writer))


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while octets := await reader.read(65536):
            writer.write(octets)
            await writer.drain()
    writer.transport.abort()


@contextlib.asynccontextmanager
async def proxied(target: int) -> AsyncIterator[Proxy]:
    proxy = Proxy(target)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        await proxy.ended()
