"""From a configuration to a running process: the only module that knows everything."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
import uvloop

from postroom.base.clock import Clock, SystemClock
from postroom.base.files import PRIVATE_UMASK, exposure
from postroom.base.logs import Log
from postroom.base.seal import Seal
from postroom.config import Config
from postroom.mailbox.directory import Directory
from postroom.mailbox.sights import Governance
from postroom.mailbox.wiring import open_mailbox, passwords
from postroom.operations.books import Books
from postroom.operations.perform import Corridor
from postroom.operations.trail import Trail
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.snapshot import Policies
from postroom.store import keys
from postroom.store.audit import Event
from postroom.store.database import FILE_NAME, Database
from postroom.store.lock import one_gateway
from postroom.store.switch import Switch
from postroom.surfaces.application import Application
from postroom.surfaces.authenticate import Authenticator
from postroom.surfaces.documents import Documents
from postroom.surfaces.guard import Guard
from postroom.surfaces.http_connection import BoundedConnection
from postroom.version import VERSION

_GRACE_SECONDS = 10
"""How long running requests may take to end after the process was asked to stop."""


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that answers. `url` is where it listens, whatever name it is published under."""

    url: str


@asynccontextmanager
async def running(
    config: Config, *, clock: Clock | None = None, log: Log | None = None, listener: socket.socket | None = None
) -> AsyncIterator[Running]:
    """A gateway that answers while the block runs; everything it opened is closed after it.

    `listener` is a socket that `bind` gave, for one who had to know the port before.
    """
    clock = clock or SystemClock()
    log = log or Log(clock)
    async with contextlib.AsyncExitStack() as stack:
        path = config.state_dir / FILE_NAME
        database = await Database.open(path, insecure_permissions=config.insecure_permissions)
        stack.push_async_callback(database.close)
        stack.enter_context(one_gateway(config.state_dir))
        seal = Seal(await keys.ring(database, clock.now()))
        entries = [open_mailbox(mailbox, config.limits, clock) for mailbox in config.mailboxes]
        secrets_ = OwnSecrets(await passwords(config.mailboxes), secrets.token_bytes(32))
        governance = Governance(Policies(config), database, secrets_)
        directory = Directory(entries, seal, clock, config.limits.inbox_seconds, governance)
        stack.callback(directory.close)
        switch = Switch.open(path)
        stack.callback(switch.close)
        listener = listener or bind(config.server.listen.host, config.server.listen.port)
        stack.callback(listener.close)
        listener.listen(512)
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        trail = Trail(database, config.state_dir, clock, log)
        books = Books(database, clock, config.limits, trail, switch, tasks)
        server = _Server(_application(config, directory, database, books, clock, log))
        async with _kept(config, books, directory, tasks, clock):
            serving = tasks.create_task(server.serve(sockets=[listener]))
            try:
                await server.answering.wait()
                yield Running(_url(listener))
            finally:
                server.should_exit = True
                since = clock.monotonic()
                await serving
                await books.drain(max(0.0, _GRACE_SECONDS - (clock.monotonic() - since)))


@asynccontextmanager
async def _kept(
    config: Config, books: Books, directory: Directory, tasks: asyncio.TaskGroup, clock: Clock
) -> AsyncIterator[None]:
    """The trail is written while the block runs; it says when that began and ended, and under which configuration."""
    trail = books.trail
    trail.later(Event("event", "config.load", clock.now(), facts={"sha256": config.sha256}))
    trail.later(Event("event", "gateway.start", clock.now(), facts={"version": VERSION}))
    await trail.settle(books.journal.settled)
    await books.journal.recover()
    settling = books.journal.keep_settling(directory.is_in_sent, trail)
    keepers = [tasks.create_task(keeping) for keeping in (trail.keep(), trail.keep_counts(), settling)]
    try:
        yield
    finally:
        trail.later(Event("event", "gateway.stop", clock.now()))
        for keeper in keepers:
            keeper.cancel()
        await trail.close()


def serve(config: Config) -> None:
    """Run until SIGINT or SIGTERM."""
    os.umask(PRIVATE_UMASK)
    run(_until_stopped(config))


def run(program: Coroutine[Any, Any, None]) -> None:
    """Run on the event loop that the product runs on, whoever starts it."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(program)


async def _until_stopped(config: Config) -> None:
    clock = SystemClock()
    log = Log(clock)
    log.capture_libraries()
    for name in passwords_written_out(config):
        log.warning("config.password_written_out", mailbox=name)
    stop = asyncio.Event()
    stop_on_signals(stop)
    for name in passwords_open_to_others(config):
        log.warning("config.password_readable_by_others", mailbox=name)
    async with running(config, clock=clock, log=log) as gateway:
        log.info("gateway.started", count=len(config.mailboxes), listen=gateway.url, version=VERSION)
        await stop.wait()
    log.info("gateway.stopped")


def passwords_written_out(config: Config) -> list[str]:
    """Mailboxes whose password stands in the configuration file itself, where a reference would be safer."""
    return [
        mailbox.name
        for mailbox in config.mailboxes
        if any(server is not None and server.password is not None for server in (mailbox.imap, mailbox.smtp))
    ]


def passwords_open_to_others(config: Config) -> list[str]:
    """Mailboxes whose password or token file other users of the machine can read."""
    return [
        mailbox.name
        for mailbox in config.mailboxes
        if any(
            file is not None and exposure(file, file.stat())
            for server in (mailbox.imap, mailbox.smtp)
            if server is not None
            for file in (server.password_file, server.token_file)
        )
    ]


def stop_on_signals(stop: asyncio.Event) -> None:
    """Set `stop` at the first SIGINT or SIGTERM."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)


class _Server(uvicorn.Server):
    """uvicorn that tells when it answers and leaves signals to us."""

    def __init__(self, application: Application) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                http=BoundedConnection,
                proxy_headers=False,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self.answering = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.answering.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _application(
    config: Config, directory: Directory, database: Database, books: Books, clock: Clock, log: Log
) -> Application:
    names = [mailbox.name for mailbox in config.mailboxes]
    return Application(
        Guard(config.server.public_url, config.server.allowed_hosts, config.server.allowed_origins),
        Authenticator(config.tokens, names, database, clock, books.trail),
        Corridor(directory, clock, log, config.limits, books, public_url=config.server.public_url),
        Documents(config.server.public_url),
        config.limits.request_max_bytes,
        log,
    )


def bind(host: str, port: int) -> socket.socket:
    """A socket for `running` to listen at. Raises `OSError` when the address is taken or not ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol must be named: only then does asyncio turn Nagle's algorithm off, which costs 40 ms an answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
