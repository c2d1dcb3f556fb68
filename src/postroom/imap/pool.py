"""A few connections to one mailbox, and the one place that ensures a live, authenticated, selected one."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from postroom.base.clock import Clock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.connection import Connection, Deadlines
from postroom.imap.faults import (
    BusyFault,
    ConnectFault,
    CredentialFault,
    DeadlineFault,
    ImapFault,
    LoginFault,
    LostFault,
    RefusedFault,
    TlsFault,
    WireFault,
)
from postroom.imap.login import Identity
from postroom.imap.opening import open_connection

_TRANSIENT = (ConnectFault, DeadlineFault, BusyFault, TlsFault, LostFault, WireFault)
FIRST_REST = 1.0
LONGEST_REST = 900.0
REOPEN_AFTER = 60.0
"""Seconds after which an open folder is opened again: a session does not learn that its folder was made anew."""
REFUSED_REST = 900.0
"""Seconds for which a refused secret is not tried again; another secret is tried at once."""


def rest_after(failures: int, chance: float) -> float:
    """Seconds to leave a server alone after so many failed connections in a row; `chance` in 0..1 spreads them.

    The first failure costs no rest: a server that was restarted is met again by the very next call.
    """
    if failures < 2:
        return 0.0
    return float(min(LONGEST_REST, FIRST_REST * 2 ** min(failures - 2, 20)) * (0.75 + 0.5 * chance))


@dataclass(frozen=True, slots=True)
class Server:
    """Where a mailbox lies and how to log in; `secret` is asked anew at each login, so it may be rotated."""

    endpoint: Endpoint
    username: str
    auth: str
    """`password`, `xoauth2` or `oauthbearer`."""
    secret: Callable[[], Awaitable[Secret]]
    deadlines: Deadlines
    connections: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a connection is for. One open for changes serves readers as well: they look with PEEK."""

    folder: bytes | None
    changes: bool = False
    proved: bool = True
    since: float = math.inf

    def is_open_on(self, connection: Connection) -> bool:
        selected = connection.selected
        return selected is not None and selected.name == self.folder and not (self.changes and selected.examined)


class Pool:
    """Hands out connections, at most `server.connections` at once. Nobody else opens or logs in."""

    def __init__(self, server: Server, clock: Clock, chance: Callable[[], float] = random.random) -> None:
        self._server = server
        self._clock = clock
        self._chance = chance
        self._room = asyncio.Semaphore(server.connections)
        self._idle: list[Connection] = []
        self._out: set[Connection] = set()
        self._back = asyncio.Event()
        self._opened: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._woken: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._opening = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0
        self._last_fault: ImapFault | None = None
        self._refused: tuple[Secret, float] | None = None
        self._closed = False

    @property
    def command_seconds(self) -> float:
        return self._server.deadlines.command

    def ago(self, seconds: float) -> float:
        """The moment so long ago, for `since`."""
        return self._clock.monotonic() - seconds

    @asynccontextmanager
    async def connection(
        self, folder: bytes | None = None, *, changes: bool = False, proved: bool = True, since: float = math.inf
    ) -> AsyncIterator[Connection]:
        """An authenticated connection with `folder` open, for reading or for changes.

        `proved` asks for a NOOP before a kept one is used, which shows that the server is there and brings its news;
        without, the first command may find it gone. One that was asked `since` that moment of our clock is not asked
        again. Raises an `ImapFault`. When the block ends the connection is kept if it is still whole.
        """
        async with self._place():
            connection = await self._ready(_Wanted(folder, changes, proved, since))
            try:
                yield connection
            finally:
                self._keep(connection)

    def close(self) -> None:
        """Close what is idle; what is in use closes when it comes back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    async def probe(self) -> None:
        """Connect and log in once, whatever rest is due: a person asked. Raises an `ImapFault`."""
        async with self._place():
            self._not_before, self._refused = 0.0, None
            if self._idle:
                self._idle.pop().close()
            self._keep(await self._open())

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """One of the pool's places; who waits longer than a command may take is told so."""
        try:
            async with asyncio.timeout(self._server.deadlines.command):
                await self._room.acquire()
        except TimeoutError:
            raise BusyFault("all connections of this mailbox are in use") from None
        try:
            yield
        finally:
            self._room.release()

    async def _ready(self, wanted: _Wanted) -> Connection:
        connection = await self._reused(wanted)
        if connection is None:
            try:
                connection = await self._open()
            except BusyFault as fault:
                return await self._given_back(wanted, fault)
            self._out.add(connection)
            await self._select(connection, wanted)
        return connection

    async def _given_back(self, wanted: _Wanted, fault: BusyFault) -> Connection:
        """What another call is done with: the server allows fewer connections than we do. Raises `fault` without."""
        try:
            async with asyncio.timeout(self._server.deadlines.command):
                while self._out:
                    self._back.clear()
                    await self._back.wait()
                    connection = await self._reused(wanted)
                    if connection is not None:
                        return connection
        except TimeoutError:
            pass
        raise fault

    async def _reused(self, wanted: _Wanted) -> Connection | None:
        """An idle connection that answers, the one with this folder open first. Dead ones are dropped."""
        while self._idle:
            connection = self._take(wanted)
            try:
                if connection.closed:
                    self._keep(connection)
                    continue
                if not await self._is_ready(connection, wanted):
                    await self._select(connection, wanted)
            except (LostFault, DeadlineFault, WireFault):
                connection.close()
                self._keep(connection)
                continue
            except BaseException:
                self._keep(connection)
                raise
            return connection
        return None

    async def _is_ready(self, connection: Connection, wanted: _Wanted) -> bool:
        """Whether it can be used as it is; for what needs no folder that is known once it answers."""
        if wanted.folder is not None and not self._is_open(connection, wanted):
            return False
        if not wanted.proved or self._woken.get(connection, -math.inf) >= wanted.since:
            return True
        moment = self._clock.monotonic()
        is_awake = await _wake(connection)
        self._woken[connection] = moment
        return is_awake

    def _is_open(self, connection: Connection, wanted: _Wanted) -> bool:
        opened = self._opened.get(connection, 0.0)
        return wanted.is_open_on(connection) and self._clock.monotonic() - opened < REOPEN_AFTER

    def _take(self, wanted: _Wanted) -> Connection:
        """The idle connection that needs least to be as wanted."""
        reading = _Wanted(wanted.folder)
        best = max(reversed(self._idle), key=lambda one: (wanted.is_open_on(one), reading.is_open_on(one)))
        self._idle.remove(best)
        self._out.add(best)
        return best

    async def _select(self, connection: Connection, wanted: _Wanted) -> None:
        if wanted.folder is None:
            return
        try:
            await connection.select(wanted.folder, read_only=not wanted.changes)
            self._opened[connection] = self._clock.monotonic()
        except BaseException:
            self._keep(connection)
            raise

    def _keep(self, connection: Connection) -> None:
        self._out.discard(connection)
        self._back.set()
        if connection in self._idle:
            return
        if self._closed or connection.closed:
            connection.close()
        else:
            self._idle.append(connection)

    async def _open(self) -> Connection:
        async with self._opening:
            self._check_rest()
            try:
                async with asyncio.timeout(self._server.deadlines.connect):
                    identity = await self._identity()
            except TimeoutError:
                raise CredentialFault("the password or token did not come in time") from None
            try:
                connection = await open_connection(self._server.endpoint, identity, self._server.deadlines)
            except LoginFault:
                self._refused = (identity.secret, self._clock.monotonic() + REFUSED_REST)
                raise
            except _TRANSIENT as fault:
                self._failures += 1
                self._not_before = self._clock.monotonic() + rest_after(self._failures, self._chance())
                self._last_fault = fault
                raise
            self._failures, self._refused = 0, None
            return connection

    def _check_rest(self) -> None:
        if self._last_fault is not None and self._clock.monotonic() < self._not_before:
            raise self._last_fault.resting(self._not_before - self._clock.monotonic())

    async def _identity(self) -> Identity:
        secret = await self._server.secret()
        if self._refused is not None:
            refused, until = self._refused
            if refused == secret and self._clock.monotonic() < until:
                raise LoginFault("the server refused the user name or the password before")
        return Identity(self._server.username, secret, self._server.auth)


async def _wake(connection: Connection) -> bool:
    """See that the server is still there, and hear its news; one that refuses even this tells none."""
    try:
        await connection.run("NOOP")
    except RefusedFault:
        return False
    return True
