"""The one place that logs in to a mailbox: one login at a time, rests between failures, no refused secret twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from postroom.base import backoff
from postroom.base.clock import Clock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.connection import Connection
from postroom.imap.conversation import Deadlines
from postroom.imap.entrance import Entrance
from postroom.imap.faults import (
    BusyFault,
    ConnectFault,
    CredentialFault,
    DeadlineFault,
    ImapFault,
    LoginFault,
    LostFault,
    TlsFault,
    WireFault,
)
from postroom.imap.login import Identity
from postroom.imap.opening import open_connection

_TRANSIENT = (ConnectFault, DeadlineFault, BusyFault, TlsFault, LostFault, WireFault)
REFUSED_REST = 900.0
"""Seconds for which a refused secret is not tried again; another secret is tried at once."""


def rest_after(failures: int, chance: float) -> float:
    """Seconds to leave a server alone after so many failed connections in a row; `chance` in 0..1 spreads them.

    The first failure costs no rest: a server that was restarted is met again by the very next call.
    """
    return backoff.rest_after(failures - 1, chance)


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
    entrance: Entrance = field(default_factory=Entrance)
    """The same for all mailboxes of one server."""


class Admission:
    """Opens connections to one server."""

    def __init__(self, server: Server, clock: Clock, chance: Callable[[], float] = random.random) -> None:
        self._server = server
        self._clock = clock
        self._chance = chance
        self._opening = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0
        self._last_fault: ImapFault | None = None
        self._refused: tuple[Secret, float] | None = None

    def forgive(self) -> None:
        """Whatever rest is due, the next login is tried: a person asked."""
        self._not_before, self._refused = 0.0, None

    async def open(self, *, spare: bool = False, hurried: bool = True) -> Connection:
        """A connection that is logged in. Raises an `ImapFault`, the last one again while the server is left alone.

        One that is `spare` is done without where the server has no room: that costs the others no rest. What nobody
        waits for is not `hurried`.
        """
        self._check_rest()
        async with self._server.entrance.passing(hurried=hurried), self._opening:
            self._check_rest()
            identity = await self._known_identity()
            try:
                connection = await open_connection(self._server.endpoint, identity, self._server.deadlines)
            except LoginFault:
                self._refused = (identity.secret, self._clock.monotonic() + REFUSED_REST)
                raise
            except _TRANSIENT as fault:
                if not (spare and isinstance(fault, BusyFault)):
                    self._failed(fault)
                raise
            self._failures, self._refused = 0, None
            return connection

    def _failed(self, fault: ImapFault) -> None:
        self._failures += 1
        self._not_before = self._clock.monotonic() + rest_after(self._failures, self._chance())
        self._last_fault = fault

    def _check_rest(self) -> None:
        if self._last_fault is not None and self._clock.monotonic() < self._not_before:
            raise self._last_fault.resting(self._not_before - self._clock.monotonic())

    async def _known_identity(self) -> Identity:
        try:
            async with asyncio.timeout(self._server.deadlines.connect):
                return await self._identity()
        except TimeoutError:
            raise CredentialFault("the password or token did not come in time") from None

    async def _identity(self) -> Identity:
        secret = await self._server.secret()
        if self._refused is not None:
            refused, until = self._refused
            if refused == secret and self._clock.monotonic() < until:
                raise LoginFault("the server refused the user name or the password before")
        return Identity(self._server.username, secret, self._server.auth)
