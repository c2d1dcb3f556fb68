"""The web server: a socket, an application that answers at it, and an end in which running requests may end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp

from postroom.base.clock import Clock
from postroom.surfaces.http_connection import BoundedConnection

GRACE_SECONDS = 10
"""How long running requests may take to end after the process was asked to stop."""
BACKLOG = 512
"""Connections that may wait to be accepted; more are refused by the system."""


def bind(host: str, port: int, key: str = "server.listen") -> socket.socket:
    """A socket to listen at. Raises `OSError` when the address is taken or not ours.

    Its two names are the address, and the `key` of the configuration that says it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol must be named: only then does asyncio turn Nagle's algorithm off, which costs 40 ms an answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as failure:
        listener.close()
        raise OSError(failure.errno, failure.strerror, f"{host}:{port}", None, key) from failure
    return listener


def url_of(listener: socket.socket) -> str:
    """Where it listens, whatever name it is published under."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@asynccontextmanager
async def answering(
    application: ASGIApp,
    listener: socket.socket,
    tasks: asyncio.TaskGroup,
    clock: Clock,
    drain: Callable[[float], Awaitable[None]] | None = None,
) -> AsyncIterator[None]:
    """Requests are answered while the block runs; `drain` is given the seconds that are left for what they began."""
    server = _Server(application)
    serving = tasks.create_task(server.serve(sockets=[listener]))
    try:
        await server.answering.wait()
        yield
    finally:
        server.should_exit = True
        since = clock.monotonic()
        await serving
        if drain is not None:
            await drain(max(0.0, GRACE_SECONDS - (clock.monotonic() - since)))


class _Server(uvicorn.Server):
    """uvicorn that tells when it answers and leaves signals to us."""

    def __init__(self, application: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                http=BoundedConnection,
                proxy_headers=False,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                backlog=BACKLOG,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self.answering = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.answering.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
