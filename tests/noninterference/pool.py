"""Connections to a server in memory, handed out as the product's own pool hands out those over a wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.noninterference.conversation import MemoryConnection
from tests.noninterference.memory import MemoryServer


class MemoryPool:
    """Stands for `imap.pool.Pool`: kept connections, told of news when they are handed out proved."""

    command_seconds = 30.0

    def __init__(self, server: MemoryServer, monotonic: Callable[[], float]) -> None:
        self._server = server
        self._monotonic = monotonic
        self._idle: list[MemoryConnection] = []

    def ago(self, seconds: float) -> float:
        return self._monotonic() - seconds

    @asynccontextmanager
    async def connection(
        self,
        folder: bytes | None = None,
        *,
        changes: bool = False,
        proved: bool = True,
        since: float = 0.0,
        glance: bool = False,
    ) -> AsyncIterator[MemoryConnection]:
        connection = self._taken(folder, changes) or MemoryConnection(self._server)
        if folder is not None and not connection.is_open_on(folder, changes):
            await connection.select(folder, read_only=not changes)
        elif proved:
            connection.hear()
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def end_glances(self) -> None:
        """It keeps all."""

    async def probe(self) -> None:
        """It is always there."""

    def close(self) -> None:
        self._idle.clear()

    def _taken(self, folder: bytes | None, changes: bool) -> MemoryConnection | None:
        if not self._idle:
            return None
        best = max(self._idle, key=lambda one: folder is not None and one.is_open_on(folder, changes))
        self._idle.remove(best)
        return best
