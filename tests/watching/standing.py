"""A mailbox that is watched for endpoints, in the test's own event loop: what is due to each can be looked at."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from postroom.base.clock import HandClock, SystemClock
from postroom.base.logs import Log
from postroom.config import Config
from postroom.events.duty import Duty
from postroom.events.watched import Means, Watched, watched
from postroom.mailbox.directory import Directory
from postroom.mailbox.sights import Governance
from postroom.mailbox.wiring import open_mailboxes
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.snapshot import Policies
from postroom.store.database import FILE_NAME, Database
from tests.servers.dovecot import PASSWORD
from tests.servers.inprocess import SEAL
from tests.servers.patience import until

RECEIVED, RESET = "message.received", "mailbox.reset"
LIMITS = {"requests_per_minute": 6000, "burst": 500, "concurrent": 32}
BOSS = [{"id": "boss", "match": {"from": "boss@corp.example"}, "action": "hide"}]
DANA = [{"id": "dana", "match": {"from": "dana@example.org"}, "action": "hide"}]


def endpoint(name: str, *events: str, profile: str | None = None) -> dict[str, Any]:
    """A webhook as the configuration has it; bound to a profile, or unbound."""
    whose = {"user": "ana", "profile": profile} if profile else {"unbound": True}
    return {"name": name, "url": "https://hooks.example", "secret_env": "HOOK", "events": events, **whose}


def configuration(
    port: int, user: str, endpoints: Sequence[Mapping[str, Any]], folders: Sequence[str] = (), rules: Any = BOSS
) -> Config:
    """One mailbox `work`; the profile `desk` sees INBOX and what `rules` leave of it."""
    policy = {
        "folders": {"rules": [{"match": "INBOX", "access": "readable"}]},
        "limits": LIMITS,
        "messages": {"rules": rules},
    }
    imap = {"host": "127.0.0.1", "port": str(port), "tls": "none", "username": user, "password": PASSWORD}
    mailbox = {"name": "work", "imap": imap, "webhooks": endpoints, "watch": folders}
    return Config.model_validate(
        {
            "mailboxes": [mailbox],
            "policies": {"desk": policy},
            "profiles": {"desk": {"policy": "desk"}},
            "limits": {"connect_seconds": 5, "command_seconds": 10},
        }
    )


@dataclass
class Standing:
    """What is watched, by what, and the clock that it lives by."""

    config: Config
    database: Database
    directory: Directory
    clock: HandClock
    log: io.StringIO

    @property
    def watched(self) -> Watched:
        (one,) = watched(self.config.mailboxes)
        return one

    @property
    def means(self) -> Means:
        return Means(
            directory=lambda: self.directory,
            database=self.database,
            clock=self.clock,
            log=Log(SystemClock(), self.log),
            chance=lambda: 0.5,
        )

    def narrow(self, rules: Any) -> None:
        """Another policy is in force."""
        (policy,) = self.config.policies.values()
        changed = policy.model_copy(update={"messages": policy.messages.model_validate({"rules": rules})})
        self.config = self.config.model_copy(update={"policies": {"desk": changed}})
        self.directory = self.directory.under(Policies(self.config))

    async def due(self, endpoint: str) -> list[tuple[str, Any]]:
        """What an endpoint is to be told, in the order in which it was found: type, and uid or data."""
        query = "SELECT body FROM deliveries WHERE endpoint = ? ORDER BY rowid"
        rows = await self.database.read(lambda connection: connection.execute(query, (endpoint,)).fetchall())
        bodies = [json.loads(body) for (body,) in rows]
        assert all(len(body) <= 4096 for (body,) in rows)
        return [(body["type"], body["data"].get("uid", body["data"])) for body in bodies]

    async def received(self, endpoint: str) -> list[int]:
        """The UIDs of new messages that an unbound endpoint is to be told of."""
        return [int(str(uid).partition("-")[0]) for kind, uid in await self.due(endpoint) if kind == RECEIVED]

    async def marked(self, folder: str = "INBOX") -> tuple[int, int] | None:
        query = "SELECT uid_validity, uid FROM marks WHERE mailbox = 'work' AND folder = ?"
        return await self.database.read(lambda connection: connection.execute(query, (folder,)).fetchone())

    @asynccontextmanager
    async def watching(self, owner: str = "g_1", **more: Any) -> AsyncIterator[Duty]:
        """The watcher at work, and who listens for it."""
        duty = Duty([self.watched], self.means, owner, **more)
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(self.directory.watching.run()), tasks.create_task(duty.run())]
            try:
                yield duty
            finally:
                for task in running:
                    task.cancel()

    async def until(self, happens: Callable[[], Any], pace: float = 0.05, seconds: float = 20) -> None:
        """Return once an awaited answer is true, while the clock goes on by `pace` again and again."""
        async with asyncio.timeout(seconds):
            for _ in range(100_000):
                if await happens():
                    return
                self.clock.wind(pace)
                await asyncio.sleep(0.005)

    async def trusted(self, *folders: str) -> None:
        """Returns when somebody listens, and has looked once."""
        board = self.directory.watching.board
        for folder in folders or ("INBOX",):
            await until(lambda one=folder: board.trusts(("work", one)), lambda: self.clock.wind(0.02))


@asynccontextmanager
async def standing(config: Config, folder: Path, clock: HandClock | None = None) -> AsyncIterator[Standing]:
    """A life of a gateway over the database in that folder; what was found before is still there."""
    clock, log = clock or HandClock(), io.StringIO()
    database = await Database.open(folder / FILE_NAME)
    entries = open_mailboxes(config.mailboxes, config.limits, clock)
    governance = Governance(Policies(config), database, OwnSecrets([], bytes(32)))
    directory = Directory(entries, SEAL, clock, 10.0, governance, Log(SystemClock(), log))
    try:
        yield Standing(config, database, directory, clock, log)
    finally:
        directory.close()
        await database.close()
