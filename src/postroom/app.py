"""From a configuration to a running process: the only module that knows everything."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvloop

from postroom.base.clock import Clock, SystemClock
from postroom.base.files import PRIVATE_UMASK
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.base.seal import Seal
from postroom.config import Config
from postroom.events.duty import Duty
from postroom.events.watched import Means, watched
from postroom.gate import Gate, Inside
from postroom.mailbox.directory import Directory
from postroom.mailbox.sights import Governance
from postroom.mailbox.wiring import open_mailboxes, passwords
from postroom.operations.books import Books
from postroom.operations.succession import Succession
from postroom.operations.trail import Trail
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.snapshot import Policies
from postroom.precautions import warn
from postroom.store import keys
from postroom.store.audit import Event
from postroom.store.database import Database
from postroom.store.lock import one_gateway
from postroom.store.switch import Switch
from postroom.surfaces.metrics import MetricsApplication
from postroom.surfaces.serving import BACKLOG, answering, bind, url_of
from postroom.telling import Telling
from postroom.version import VERSION


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
        gateway = f"g_{secrets.token_hex(8)}"
        # Before the database: opening it brings its schema up to date, which is not for a second one to do.
        before = stack.enter_context(one_gateway(config.state_dir, gateway, checked=not config.insecure_permissions))
        database = await Database.of(config)
        stack.push_async_callback(database.close)
        directory = await _directory(config, database, clock, log)
        stack.callback(directory.close)
        listener = listener or bind(config.server.listen.host, config.server.listen.port)
        stack.callback(listener.close)
        listener.listen(BACKLOG)
        meters = Meters()
        own_ports = {listener.getsockname()[1], await stack.enter_async_context(_measured(config, meters, clock))}
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        trail = Trail(database, config.state_dir, clock, log, gateway)
        telling = Telling(config.mailboxes, directory, database, clock, log, meters)
        books = Books(database, clock, config.limits, trail, Switch(database), tasks, telling.outcomes)
        inside = Inside(directory, database, books, telling, clock, log, meters)
        gate = Gate(config, read_again or (lambda: config), inside)
        async with (
            telling.carrying(own_ports - {None}, tasks),
            _kept(config, inside, before, tasks),
            answering(gate.application, listener, tasks, clock, books.drain),
            _listening(config, inside, tasks),
        ):
            yield Running(url_of(listener), gate.reloading.again)


@asynccontextmanager
async def _listening(config: Config, inside: Inside, tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
    """Folders are listened to and watched while the block runs; when it ends nobody waits for mail any more."""
    watching = inside.directory.watching
    inside.meters.watch("folders_listened_to", "Folders whose server tells of news.", watching.board.count_trusted)
    means = Means(lambda: inside.telling.directory, inside.database, inside.clock, inside.log)
    duty = Duty(watched(config.mailboxes), means, inside.books.trail.gateway)
    running = [tasks.create_task(watching.run()), tasks.create_task(duty.run())]
    try:
        yield
    finally:
        watching.board.close()
        for task in running:
            task.cancel()


async def _directory(config: Config, database: Database, clock: Clock, log: Log) -> Directory:
    """The mailboxes, for whoever its policies bind and for whom they do not."""
    seal = Seal(await keys.ring(database, clock.now()))
    entries = open_mailboxes(config.mailboxes, config.limits, clock)
    own_secrets = OwnSecrets(await passwords(config.mailboxes), secrets.token_bytes(32))
    governance = Governance(Policies(config), database, own_secrets)
    return Directory(entries, seal, clock, config.limits.inbox_seconds, governance, log)


@asynccontextmanager
async def _kept(config: Config, inside: Inside, before: str, tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
    """The trail is written while the block runs; it says when that began and ended, and under which configuration.

    `before` is the gateway that had our folder of state.
    """
    trail, journal, database, clock = inside.books.trail, inside.books.journal, inside.database, inside.clock
    trail.later(Event("event", "config.load", trail.now, facts={"sha256": config.sha256}))
    trail.later(Event("event", "gateway.start", trail.now, facts={"version": VERSION}))
    succession = Succession(database, clock, trail, journal, before)
    await succession.begin()
    keeping = (
        trail.keep(),
        trail.keep_counts(),
        succession.keep(),
        database.keep_listening(clock),
        journal.keep_settling(inside.directory.is_in_sent, trail),
        inside.directory.keep_tidy(),
    )
    keepers = [tasks.create_task(one) for one in keeping]
    try:
        yield
    finally:
        trail.later(Event("event", "gateway.stop", trail.now))
        for keeper in keepers:
            keeper.cancel()
        await trail.close()
        await succession.end()


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


@asynccontextmanager
async def _measured(config: Config, meters: Meters, clock: Clock) -> AsyncIterator[int | None]:
    """The metrics are given at their own address, if they have one, while the block runs; its port."""
    listen = config.server.metrics_listen
    if listen is None:
        yield None
        return
    with contextlib.closing(bind(listen.host, listen.port, "server.metrics_listen")) as listener:
        async with asyncio.TaskGroup() as tasks, answering(MetricsApplication(meters), listener, tasks, clock):
            yield listener.getsockname()[1]
