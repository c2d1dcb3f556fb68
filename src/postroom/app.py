"""From a configuration to a running process: the only module that knows everything."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
import uvloop

from postroom.base.clock import Clock, SystemClock
from postroom.base.files import PRIVATE_UMASK
from postroom.base.logs import Log
from postroom.base.seal import Seal
from postroom.config import Config
from postroom.events.duty import Duty
from postroom.events.watched import Means, watched
from postroom.mailbox.directory import Directory
from postroom.mailbox.sights import Governance
from postroom.mailbox.wiring import open_mailbox, passwords
from postroom.operations.books import Books
from postroom.operations.perform import Corridor
from postroom.operations.trail import Trail
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.snapshot import Policies
from postroom.precautions import warn
from postroom.reloading import Reloading
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
    """A gateway that answers."""

    url: str
    """Where it listens, whatever name it is published under."""
    reload: Callable[[], Awaitable[None]]
    """Reads the configuration again; see `reloading`."""


@asynccontextmanager
async def running(
    config: Config,
    *,
    clock: Clock | None = None,
    log: Log | None = None,
    listener: socket.socket | None = None,
    read_again: Callable[[], Config] | None = None,
) -> AsyncIterator[Running]:
    """A gateway that answers while the block runs; everything it opened is closed after it.

    `listener` is a socket that `bind` gave, for one who had to know the port before. `read_again` loads the
    configuration's file anew; without it, reloading finds what is in force already.
    """
    clock = clock or SystemClock()
    log = log or Log(clock)
    async with contextlib.AsyncExitStack() as stack:
        path = config.state_dir / FILE_NAME
        database = await Database.open(path, insecure_permissions=config.insecure_permissions)
        stack.push_async_callback(database.close)
        stack.enter_context(one_gateway(config.state_dir))
        directory = await _directory(config, database, clock, log)
        stack.callback(directory.close)
        switch = Switch.open(path)
        stack.callback(switch.close)
        listener = listener or bind(config.server.listen.host, config.server.listen.port)
        stack.callback(listener.close)
        listener.listen(512)
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        trail = Trail(database, config.state_dir, clock, log)
        books = Books(database, clock, config.limits, trail, switch, tasks)
        inside = _Inside(directory, database, books, clock, log)
        gate = _Gate(config, read_again or (lambda: config), inside)
        async with (
            _kept(config, books, directory, tasks, clock),
            _answering(gate, listener, books, tasks, clock),
            _listening(config, gate, inside, tasks),
        ):
            yield Running(_url(listener), gate.reloading.again)


@asynccontextmanager
async def _listening(config: Config, gate: _Gate, inside: _Inside, tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
    """Folders are listened to and watched while the block runs; when it ends nobody waits for mail any more."""
    watching = inside.directory.watching
    means = Means(lambda: gate.directory, inside.database, inside.clock, inside.log)
    duty = Duty(watched(config.mailboxes), means, f"g_{secrets.token_hex(8)}")
    running = [tasks.create_task(watching.run()), tasks.create_task(duty.run())]
    try:
        yield
    finally:
        watching.board.close()
        for task in running:
            task.cancel()


@asynccontextmanager
async def _answering(
    gate: _Gate, listener: socket.socket, books: Books, tasks: asyncio.TaskGroup, clock: Clock
) -> AsyncIterator[None]:
    """Requests are answered while the block runs; those that it ends among have some seconds to end too."""
    server = _Server(gate.application)
    serving = tasks.create_task(server.serve(sockets=[listener]))
    try:
        await server.answering.wait()
        yield
    finally:
        server.should_exit = True
        since = clock.monotonic()
        await serving
        await books.drain(max(0.0, _GRACE_SECONDS - (clock.monotonic() - since)))


async def _directory(config: Config, database: Database, clock: Clock, log: Log) -> Directory:
    """The mailboxes, for whoever its policies bind and for whom they do not."""
    seal = Seal(await keys.ring(database, clock.now()))
    entries = [open_mailbox(mailbox, config.limits, clock) for mailbox in config.mailboxes]
    own_secrets = OwnSecrets(await passwords(config.mailboxes), secrets.token_bytes(32))
    governance = Governance(Policies(config), database, own_secrets)
    return Directory(entries, seal, clock, config.limits.inbox_seconds, governance, log)


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


def serve(config: Config, read_again: Callable[[], Config]) -> None:
    """Run until SIGINT or SIGTERM; at SIGHUP the configuration is read again."""
    os.umask(PRIVATE_UMASK)
    run(_until_stopped(config, read_again))


def run(program: Coroutine[Any, Any, None]) -> None:
    """Run on the event loop that the product runs on, whoever starts it."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(program)


async def _until_stopped(config: Config, read_again: Callable[[], Config]) -> None:
    clock = SystemClock()
    log = Log(clock)
    log.capture_libraries()
    warn(config, log)
    stop, hangup = asyncio.Event(), asyncio.Event()
    stop_on_signals(stop)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hangup.set)
    async with running(config, clock=clock, log=log, read_again=read_again) as gateway, asyncio.TaskGroup() as tasks:
        log.info("gateway.started", count=len(config.mailboxes), listen=gateway.url, version=VERSION)
        reloading = tasks.create_task(_reload_at(hangup, gateway.reload))
        await stop.wait()
        reloading.cancel()
    log.info("gateway.stopped")


async def _reload_at(hangup: asyncio.Event, reload: Callable[[], Awaitable[None]]) -> None:
    """One reload at a time, and another one for signals that came meanwhile."""
    while True:
        await hangup.wait()
        hangup.clear()
        await reload()


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


@dataclass(frozen=True, slots=True)
class _Inside:
    """What is behind the application, whichever configuration is in force."""

    directory: Directory
    database: Database
    books: Books
    clock: Clock
    log: Log


class _Gate:
    """The application, and the configuration that it serves by."""

    def __init__(self, config: Config, read_again: Callable[[], Config], inside: _Inside) -> None:
        server, limits, log = config.server, config.limits, inside.log
        self._inside = inside
        self.directory = inside.directory
        """By the policies that are in force."""
        self._corridor = Corridor(
            inside.directory, inside.clock, log, limits, inside.books, public_url=server.public_url
        )
        self.reloading = Reloading(config, read_again, self._take, inside.books.trail, log)
        self.application = Application(
            Guard(server.public_url, server.allowed_hosts, server.allowed_origins),
            self._authenticator(config),
            self._corridor,
            Documents(server.public_url, lambda: self.reloading.is_stale),
            limits.request_max_bytes,
            log,
        )

    def _take(self, config: Config) -> None:
        self.directory = self._inside.directory.under(Policies(config))
        self.application.serve(self._authenticator(config), self._corridor.over(self.directory))

    def _authenticator(self, config: Config) -> Authenticator:
        names = [mailbox.name for mailbox in config.mailboxes]
        inside = self._inside
        return Authenticator(config.tokens, names, inside.database, inside.clock, inside.books.trail)


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
