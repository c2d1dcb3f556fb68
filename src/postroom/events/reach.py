"""Whether a mailbox can be reached: told once when it cannot for a while, and once when it can again."""

from __future__ import annotations

from postroom.base.errors import Code, GatewayError
from postroom.events.endpoint import Endpoint
from postroom.events.watched import Means, Watched, due, glimpse_of
from postroom.mailbox.discretion import discreet
from postroom.mailbox.faults import is_refused
from postroom.mailbox.notices import RECOVERED, UNREACHABLE, of_mailbox
from postroom.store import marks
from postroom.store.deliveries import Due
from postroom.store.findings import record_lost, record_reached
from postroom.store.leases import Lease

PATIENCE = 60.0
"""Seconds of failing after which it is told."""
ATTEMPTS = 3
"""Failures in a row after which it is told, however quickly they came."""


class Reach:
    """Of one mailbox, for as long as it is watched."""

    def __init__(self, watched: Watched, means: Means) -> None:
        self._watched = watched
        self._means = means
        self._lost: bool | None = None
        self._failures = 0
        self._failing_since = 0.0

    async def succeeded(self, lease: Lease) -> None:
        """It was reached. Raises StoreError, LeaseLostError."""
        self._failures = 0
        if await self._is_lost():
            tellings = [
                due(endpoint, of_mailbox(RECOVERED, endpoint.mailbox), self._means)
                for endpoint in self._receivers(RECOVERED)
            ]
            if await record_reached(self._means.database, lease, tellings, self._means.clock.now()):
                self._means.log.info("watch.recovered", mailbox=self._watched.mailbox)
            self._lost = False

    async def failed(self, error: GatewayError, lease: Lease) -> None:
        """It could not be reached, for that reason. Raises StoreError, LeaseLostError."""
        now = self._means.clock.monotonic()
        if not self._failures:
            self._failing_since = now
        self._failures += 1
        if self._failures < ATTEMPTS and now - self._failing_since < PATIENCE:
            return
        if not await self._is_lost():
            tellings = [self._lost_to(endpoint, error) for endpoint in self._receivers(UNREACHABLE)]
            if await record_lost(self._means.database, lease, tellings, self._means.clock.now()):
                self._means.log.warning("watch.unreachable", mailbox=self._watched.mailbox, reason=reason_of(error))
            self._lost = True

    def _lost_to(self, endpoint: Endpoint, error: GatewayError) -> Due:
        said = discreet(error) if endpoint.caller.binding is not None else error
        return due(endpoint, of_mailbox(UNREACHABLE, endpoint.mailbox, reason=reason_of(said)), self._means)

    def _receivers(self, kind: str) -> list[Endpoint]:
        """Those for whom the mailbox exists."""
        directory = self._means.directory()
        return [one for one in self._watched.who_want(kind) if glimpse_of(one, directory) is not None]

    async def _is_lost(self) -> bool:
        if self._lost is None:
            self._lost = await marks.is_unreachable(self._means.database, self._watched.mailbox)
        return self._lost


def reason_of(error: GatewayError) -> str:
    """Our own word for what is wrong; nothing that a server said."""
    return str(error.details.get("reason", error.code))


def is_out_of_reach(error: GatewayError) -> bool:
    """Whether it is the mail server that fails, and not that it refuses what it was asked for."""
    return error.code is Code.IMAP_ERROR and not is_refused(error)
