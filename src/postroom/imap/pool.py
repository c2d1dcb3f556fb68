"""A few connections to one mailbox, and the one place that ensures a live, authenticated, selected one."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from postroom.base.clock import Clock
from postroom.imap.admission import Admission, Server
from postroom.imap.connection import Connection
from postroom.imap.faults import BusyFault, DeadlineFault, LostFault, RefusedFault, WireFault

REOPEN_AFTER = 60.0
"""Seconds after which an open folder is opened again: a session does not learn that its folder was made anew."""

CROWDED_REST = 900.0
"""Seconds for which no connection is asked for beside those of the pool once the server had no room for it."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a connection is for. One open for changes serves readers as well: they look with PEEK."""

    folder: bytes | None
    changes: bool = False
    proved: bool = True
    since: float = math.inf
    glance: bool = False

    def is_open_on(self, connection: Connection) -> bool:
        selected = connection.selected
        return selected is not None and selected.name == self.folder and not (self.changes and selected.examined)


@dataclass(slots=True)
class _Past:
    """Of a connection: moments of our clock, and whether nobody but glances has used it."""

    opened: float = -math.inf
    """Its folder."""
    woken: float = -math.inf
    left: float = -math.inf
    glanced: bool = False


KEPT_SECONDS = 120.0
"""How long a connection is kept that nobody uses."""


class Pool:
    """Hands out connections, at most `server.connections` at once; `Admission` opens and logs in."""

    def __init__(self, server: Server, clock: Clock, chance: Callable[[], float] = random.random) -> None:
        self._server = server
        self._clock = clock
        self._admission = Admission(server, clock, chance)
        self._room = asyncio.Semaphore(server.connections)
        self._idle: list[Connection] = []
        self._out: set[Connection] = set()
        self._back = asyncio.Event()
        self._pasts: WeakKeyDictionary[Connection, _Past] = WeakKeyDictionary()
        self._spare: Connection | None = None
        self._no_spare_before = 0.0
        self._closed = False

    @property
    def command_seconds(self) -> float:
        return self._server.deadlines.command

    def ago(self, seconds: float) -> float:
        """The moment so long ago, for `since`."""
        return self._clock.monotonic() - seconds

    @asynccontextmanager
    async def connection(
        self,
        folder: bytes | None = None,
        *,
        changes: bool = False,
        proved: bool = True,
        since: float = math.inf,
        glance: bool = False,
    ) -> AsyncIterator[Connection]:
        """An authenticated connection with `folder` open, for reading or for changes.

        `proved` asks for a NOOP before a kept one is used, which shows that the server is there and brings its news;
        without, the first command may find it gone. One that was asked `since` that moment of our clock is not asked
        again. Raises an `ImapFault`. When the block ends the connection is kept if it is still whole; one that was
        opened for a `glance`, and that nobody else has used, is closed by `end_glances`.
        """
        async with self._place():
            connection = await self._ready(_Wanted(folder, changes, proved, since, glance))
            self._past(connection).glanced &= glance
            try:
                yield connection
            finally:
                self._keep(connection)

    async def apart(self) -> Connection:
        """A connection beside those of the pool; whoever asks closes it, one at a time. Raises an `ImapFault`.

        It is closed as soon as the server has no room for one of the pool's, and then not given out for a while.
        """
        if self._clock.monotonic() < self._no_spare_before:
            raise BusyFault("the server has no room for another connection now")
        try:
            self._spare = await self._admission.open(spare=True, hurried=False)
        except BusyFault:
            self._no_spare_before = self._clock.monotonic() + CROWDED_REST
            raise
        return self._spare

    def close(self) -> None:
        """Close what is idle; what is in use closes when it comes back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def tidy(self) -> None:
        """Close what nobody has used for a while: a server's room is for whoever needs it, and so is memory."""
        before = self.ago(KEPT_SECONDS)
        self._drop(lambda past: past.left <= before)

    def end_glances(self) -> None:
        """Close what was opened to see whether something happened, and was of no other use."""
        self._drop(lambda past: past.glanced)

    def _drop(self, is_over: Callable[[_Past], bool]) -> None:
        for connection in [one for one in self._idle if is_over(self._past(one))]:
            self._idle.remove(connection)
            connection.close()

    async def probe(self) -> None:
        """Connect and log in once, whatever rest is due: a person asked. Raises an `ImapFault`."""
        async with self._place():
            self._admission.forgive()
            if self._idle:
                self._idle.pop().close()
            self._keep(await self._admission.open())

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
                connection = await self._open(hurried=not wanted.glance)
            except BusyFault as fault:
                return await self._given_back(wanted, fault)
            self._out.add(connection)
            self._past(connection).glanced = wanted.glance
            await self._select(connection, wanted)
        return connection

    async def _open(self, *, hurried: bool) -> Connection:
        try:
            return await self._admission.open(hurried=hurried)
        except BusyFault:
            if self._spare is None or self._spare.closed:
                raise
        # Whoever only listens makes room for who has something to do.
        self._spare.close()
        self._no_spare_before = self._clock.monotonic() + CROWDED_REST
        self._admission.forgive()
        return await self._admission.open()

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
        past = self._past(connection)
        if not wanted.proved or past.woken >= wanted.since:
            return True
        moment = self._clock.monotonic()
        is_awake = await _wake(connection)
        past.woken = moment
        return is_awake

    def _is_open(self, connection: Connection, wanted: _Wanted) -> bool:
        return wanted.is_open_on(connection) and self._past(connection).opened > self.ago(REOPEN_AFTER)

    def _past(self, connection: Connection) -> _Past:
        return self._pasts.setdefault(connection, _Past())

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
            self._past(connection).opened = self._clock.monotonic()
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
            self._past(connection).left = self._clock.monotonic()
            self._idle.append(connection)


async def _wake(connection: Connection) -> bool:
    """See that the server is still there, and hear its news; one that refuses even this tells none."""
    try:
        await connection.run("NOOP")
    except RefusedFault:
        return False
    return True
