"""What an endpoint of the caller's identity is told of watched folders: the events of one look, in both worlds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.base.logs import Log
from postroom.config.webhooks import WebhookConfig
from postroom.events.arrivals import Arrivals
from postroom.events.changes import Changes
from postroom.events.endpoint import Endpoint
from postroom.events.watched import Means, Watched
from postroom.mailbox.directory import Directory
from postroom.store import leases
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.leases import Lease
from tests.noninterference.worlds import HIDDEN, STANDING

TOOL = "webhook"
"""What the log calls a look, which is no operation."""
_KINDS = ("message.received", "message.flags", "message.deleted", "mailbox.reset")
_MAILBOX = "work"


@dataclass
class Watch:
    """Of one world. All folders are watched, those too that the endpoint may not know of."""

    directory: Directory
    database: Database
    clock: Clock
    log: Log
    profile: str
    _lease: Lease | None = field(default=None)

    async def look(self) -> list[tuple[str, Any]]:
        """Types and bodies of what is to be told since the last look; the first one finds what is there already."""
        settings = WebhookConfig.model_construct(
            name="desk", events=_KINDS, user="ana", profile=self.profile, unbound=False
        )
        watched = Watched(_MAILBOX, (*STANDING, *HIDDEN), (Endpoint(_MAILBOX, settings),))
        means = Means(lambda: self.directory, self.database, self.clock, self.log, chance=lambda: 0.5)
        arrivals, changes = Arrivals(watched, means), Changes(watched, means)
        for folder in watched.folders:
            try:
                await arrivals.look(folder, await self._held())
                await changes.look(folder, await self._held())
            except GatewayError as error:
                if error.code is not Code.NOT_FOUND:
                    raise
        rows = await self.database.write(_taken)
        return [(kind, orjson.loads(body)) for kind, body in rows]

    async def _held(self) -> Lease:
        if self._lease is None:
            (self._lease,) = await leases.take(self.database, [_MAILBOX], "g_1", self.clock.now(), most=1, alone=True)
        return self._lease


def _taken(connection: Connection) -> list[tuple[str, str]]:
    """All that waits, in the order in which it was written; then nothing does."""
    rows = connection.execute("SELECT type, body FROM deliveries ORDER BY rowid").fetchall()
    connection.execute("DELETE FROM deliveries")
    return list(rows)
