"""The product over a mail server in memory: real directory, corridor, books and database, at a clock wound by hand."""

from __future__ import annotations

import asyncio
import io
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import orjson

from postroom.base.caller import Binding, Caller, Scope, Toolset
from postroom.base.clock import HandClock
from postroom.base.errors import GatewayError
from postroom.base.logs import Log
from postroom.base.seal import KeyRing, Seal
from postroom.config import Config
from postroom.mailbox.account import Account
from postroom.mailbox.directory import Directory
from postroom.mailbox.entry import Entry
from postroom.mailbox.sentcopy import SentCopies
from postroom.mailbox.sights import Governance
from postroom.operations.blob import Blob
from postroom.operations.books import Books
from postroom.operations.operation import Surface
from postroom.operations.perform import Corridor
from postroom.operations.trail import Trail
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.snapshot import Policies
from postroom.store import sqlite
from postroom.store.database import FILE_NAME, Database
from postroom.store.switch import Switch
from tests.noninterference.memory import MemoryServer, Outbox
from tests.noninterference.policies import declared
from tests.noninterference.pool import MemoryPool
from tests.noninterference.watched import Watch

SEAL = Seal(KeyRing(1, {1: bytes(range(32))}))
"""The keys are the same in all worlds."""
MAILBOX = "work"
_EMPTIED = (
    "marks",
    "told",
    "deliveries",
    "leases",
    "own_messages",
    "own_drafts",
    "untrusted_reads",
    "own_trash",
    "sends",
    "spending",
    "audit",
    "audit_open",
)


class QuickClock(HandClock):
    """Whoever sleeps makes the time pass."""

    async def sleep(self, seconds: float) -> None:
        self.wind(max(seconds, 0.0))


def caller(profile: str, toolset: Toolset, user: str = "ana", restrict: tuple[str, ...] = ()) -> Caller:
    """A bound token with all that it can have."""
    scopes = frozenset(Scope) - {Scope.ADMIN} if toolset is Toolset.MAILBOX else frozenset[Scope]()
    return Caller(f"of-{user}", scopes, frozenset({MAILBOX}), toolset, Binding(user, profile, restrict))


@dataclass(frozen=True)
class Told:
    """The answer to one call as octets, and as the values that they are made of."""

    octets: bytes
    values: Any = field(default=None, compare=False)

    @property
    def failed(self) -> bool:
        return isinstance(self.values, dict) and "error" in self.values


@dataclass
class House:
    """One world: its server, what left it, and the corridor to it."""

    server: MemoryServer
    outbox: Outbox
    corridor: Corridor
    clock: HandClock
    watch: Watch
    """What an endpoint of the caller's identity is told."""

    async def look(self) -> Told:
        """The events since the last look."""
        values = await self.watch.look()
        return Told(orjson.dumps(values), values)

    async def ask(self, name: str, arguments: Mapping[str, Any], who: Caller, surface: Surface) -> Told:
        try:
            answer = await self.corridor.perform(name, arguments, who, surface)
            values = await _read(answer) if isinstance(answer, Blob) else answer
        except GatewayError as error:
            values = error.body()
        return Told(orjson.dumps(values), values)


async def _read(blob: Blob) -> dict[str, Any]:
    """A file as a program gets it: what its headers say, and all of its octets."""
    octets = b"".join([piece async for piece in blob.octets()])
    facts = {"content_type": blob.content_type, "filename": blob.filename, "size": blob.size, "sniffed": blob.sniffed}
    return {**blob.facts, **facts, "octets": octets.decode("latin-1")}


@dataclass
class Ground:
    """What worlds are built on, one after another: a configuration, and a database that is emptied for each."""

    config: Config
    policies: Policies
    database: Database
    folder: Path

    @classmethod
    async def open(cls, folder: Path, text: str) -> Ground:
        config = await asyncio.to_thread(declared, folder, text)
        with mock.patch.object(sqlite, "connect", _unsynchronized):
            database = await Database.open(folder / FILE_NAME)
        return cls(config, Policies(config), database, folder)

    async def close(self) -> None:
        await self.database.close()

    async def emptied(self) -> None:
        def empty(connection: Any) -> None:
            for table in _EMPTIED:
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours

        await self.database.write(empty)

    @asynccontextmanager
    async def house(
        self, server: MemoryServer, tasks: Any, clock: HandClock | None = None, profile: str = "heads"
    ) -> AsyncIterator[House]:
        """A gateway that has just started, before this server."""
        await self.emptied()
        clock, outbox = clock or QuickClock(), Outbox()
        (settings,) = self.config.mailboxes
        account = Account(settings.name, MemoryPool(server, clock.monotonic), settings.folders)  # type: ignore[arg-type]
        copies = SentCopies(account, settings.files_sent_copy, "smtp.example")
        entry = Entry(settings, account, outbox, copies)  # type: ignore[arg-type]
        governance = Governance(self.policies, self.database, OwnSecrets(["correct-horse"], b"k" * 32))
        directory = Directory([entry], SEAL, clock, self.config.limits.inbox_seconds, governance)
        log = Log(clock, io.StringIO())
        trail = Trail(self.database, self.folder, clock, log)
        books = Books(self.database, clock, self.config.limits, trail, Switch(self.database), tasks)
        corridor = Corridor(directory, clock, log, self.config.limits, books, public_url=self.config.server.public_url)
        yield House(server, outbox, corridor, clock, Watch(directory, self.database, clock, log, profile))
        await books.drain(5)


_connect = sqlite.connect


def _unsynchronized(path: Path) -> Any:
    """What a power cut would lose is no loss here."""
    connection = _connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


@contextmanager
def numbered_ids() -> Iterator[Callable[[int], None]]:
    """New Message-IDs by number instead of by chance; what is given tells which number comes next."""
    numbers = iter(range(0))

    def number() -> uuid.UUID:
        return uuid.UUID(int=next(numbers))

    def begin(at: int) -> None:
        nonlocal numbers
        numbers = iter(range(at * 1_000, (at + 1) * 1_000))

    with ExitStack() as stack:
        stack.enter_context(mock.patch("postroom.mailbox.outbox.uuid4", number))
        yield begin
