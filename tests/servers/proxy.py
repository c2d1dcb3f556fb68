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
    host: str = "127.0.0.1"
    port: int = 0
    away: bool = False
    connections: int = 0
    left: int | None = None
    """So many more pieces, of commands or of answers, are passed on before every connection is cut; None is no end."""
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def open(self) -> int:
        """Connections that are there now."""
        return len(self._running)

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
        beyond_reader, beyond_writer = await asyncio.open_connection(self.host, self.target)
        self._writers |= {writer, beyond_writer}
        await asyncio.gather(self._pass_on(reader, beyond_writer), self._pass_on(beyond_reader, writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while (octets := await reader.read(65536)) and self._lets_pass():
                writer.write(octets)
                await writer.drain()
        writer.transport.abort()

    def _lets_pass(self) -> bool:
        if self.left is None:
            return True
        self.left -= 1
        if self.left < 0:
            self.left = None
            self.cut()
        return self.left is not None


@contextlib.asynccontextmanager
async def proxied(target: int, host: str = "127.0.0.1") -> AsyncIterator[Proxy]:
    proxy = Proxy(target, host)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        await proxy.ended()
