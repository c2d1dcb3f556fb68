"""A courier over a database of its own, in the test's event loop, with receivers at loopback."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from postroom.base.clock import HandClock
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.base.webhooksecret import fresh_secret
from postroom.config.webhooks import WebhookConfig
from postroom.events.courier import Courier
from postroom.events.delivering import Attempts
from postroom.events.egress import Egress, connect
from postroom.events.endpoint import Endpoint
from postroom.events.recheck import Sight, StillShown
from postroom.mail.model import Named
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.deliveries import Due, body_of, enqueue

EVENTS = ["message.received", "message.flags", "message.deleted", "send.outcome", "endpoint.disabled", "gap"]


async def no_name(host: str, port: int) -> Sequence[str]:
    raise AssertionError("an address needs no resolver")


async def always_shown(endpoint: Endpoint, message: Named) -> Sight:
    return Sight.SHOWN


def endpoint(folder: Path, name: str, url: str, *, mailbox: str = "work", **changed: Any) -> Endpoint:
    """An endpoint that may see everything, unless `changed` says otherwise, with a secret of its own."""
    secret = folder / f"{mailbox}-{name}.secret"
    if not secret.exists():
        secret.write_text(fresh_secret().reveal())
    told = {"name": name, "url": url, "events": EVENTS, "secret_file": str(secret), "allow_private": ["127.0.0.1/32"]}
    if "profile" not in changed:
        told["unbound"] = "true"
    return Endpoint(mailbox, WebhookConfig.model_validate(told | changed))


@dataclass
class Office:
    """What there is to be delivered, and what became of it."""

    database: Database
    clock: HandClock
    log: io.StringIO = field(default_factory=io.StringIO)
    meters: Meters = field(default_factory=Meters)
    wake: Callable[[], None] = lambda: None
    stop: Callable[[], object] = lambda: None
    """The courier begins nothing more, as before it drains."""

    async def tell(self, name: str, event: str = "message.received", mailbox: str = "work", **more: Any) -> str:
        """Enqueue an event, and its id."""
        now = self.clock.now()
        due = Due(mailbox, name, event, body_of(event, now, {"mailbox": mailbox}), **more)
        await self.database.write(lambda connection: enqueue(connection, [due], now))
        (identifier,) = await self.ask(
            "SELECT id FROM deliveries WHERE mailbox = ? AND endpoint = ? ORDER BY rowid DESC LIMIT 1", mailbox, name
        )
        self.wake()
        return str(identifier[0])

    async def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return await self.database.read(lambda connection: list(map(tuple, connection.execute(query, values))))

    async def state(self, identifier: str) -> str:
        return str((await self.ask("SELECT state FROM deliveries WHERE id = ?", identifier))[0][0])

    async def until(self, identifier: str, state: str, tries: int | None = None) -> None:
        """Until a delivery is in that state, after so many attempts."""
        counted = "" if tries is None else f" AND tries = {tries}"
        await self.until_it(identifier, f"state = '{state}'{counted}")

    async def until_it(self, identifier: str, holds: str) -> None:
        """Until that holds of a delivery."""
        async with asyncio.timeout(20):
            while not await self.ask(f"SELECT 1 FROM deliveries WHERE id = ? AND ({holds})", identifier):  # noqa: S608
                pass

    async def audited(self) -> list[str]:
        return [line for (line,) in await self.ask("SELECT line FROM audit ORDER BY seq")]

    def wind(self, seconds: float) -> None:
        self.clock.wind(seconds)
        self.wake()


@contextlib.asynccontextmanager
async def couriering(
    office: Office,
    *endpoints: Endpoint,
    still_shown: StillShown = always_shown,
    seconds: float = 10.0,
    owner: str = "courier",
    own_ports: Collection[int] = (),
) -> AsyncIterator[Courier]:
    """A courier at work while the block runs, which then ends as if the process were killed."""
    egress = Egress(own_ports, no_name, connect)
    log = Log(office.clock, office.log)
    async with asyncio.TaskGroup() as tasks:
        attempts = Attempts(
            owner,
            endpoints,
            office.database,
            egress,
            still_shown,
            office.clock,
            log,
            lambda: 0.5,
            office.meters,
            seconds,
        )
        courier = Courier(attempts, tasks)
        await courier.begin()
        running = tasks.create_task(courier.run())
        office.wake, office.stop = courier.wake, running.cancel
        try:
            yield courier
        finally:
            running.cancel()
            for task in courier.attempts_under_way:
                task.cancel()


def executed(query: str, *values: Any) -> Callable[[Connection], None]:
    def execute(connection: Connection) -> None:
        connection.execute(query, values)

    return execute
