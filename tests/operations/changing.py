"""A corridor with books, over operations made for tests: two that change things, one that sends, one that reads."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from postroom.base.caller import Caller, Scope, Toolset
from postroom.base.clock import HandClock
from postroom.base.errors import GatewayError
from postroom.base.logs import Log
from postroom.config import LimitsConfig
from postroom.mailbox.directory import Directory
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Boolean, FolderAsk, MailboxAsk, Uids
from postroom.operations.books import Books
from postroom.operations.operation import CHANGES, READS, SENDS, Call, Operation, Surface, operation
from postroom.operations.perform import Corridor
from postroom.operations.trail import Trail
from postroom.store.audit import Event
from postroom.store.database import Database
from postroom.store.switch import Stopped, Switch, throw
from tests.servers import stores
from tests.servers.inprocess import directory_of
from tests.servers.ports import refusing_port

ALL = frozenset(Scope)


class MoveAsk(FolderAsk):
    uids: Annotated[Uids, Field(min_length=1)]
    subject: str = ""


class SendAsk(MailboxAsk):
    to: list[str]
    body: str = ""
    draft: Boolean = False


class ReadAsk(MailboxAsk):
    text: str = ""


class Done(Answer):
    done: int


@dataclass
class Desk:
    """What a test holds: the corridor, and what happens within its operations."""

    corridor: Corridor
    books: Books
    trail: Trail
    database: Database
    clock: HandClock
    log: io.StringIO
    folder: Path
    within: list[Callable[[Call], Coroutine[Any, Any, None]]] = field(default_factory=list)

    async def call(
        self, name: str, scopes: frozenset[Scope] = ALL, surface: Surface = Surface.MCP, **arguments: Any
    ) -> dict[str, Any]:
        """The answer, or the error's body."""
        caller = Caller("agent", scopes, frozenset({"work", "home"}))
        try:
            answer = await self.corridor.perform(name, {"mailbox": "work"} | arguments, caller, surface)
        except GatewayError as error:
            return error.body()["error"]
        assert isinstance(answer, dict)
        return answer

    def on_disk(self) -> list[dict[str, Any]]:
        """The records that another process would find at this moment, without what chains them."""
        lines = stores.sql(self.folder, "SELECT line FROM audit ORDER BY seq")
        chain = ("v", "seq", "prev", "mac", "key", "at")
        return [{k: v for k, v in json.loads(line).items() if k not in chain} for (line,) in lines]

    def happened(self) -> list[str]:
        """The events in the log that tell of more than that a call ended."""
        events = [json.loads(line)["event"] for line in self.log.getvalue().splitlines()]
        return [event for event in events if event != "call.done"]

    async def records(self) -> list[dict[str, Any]]:
        await self.trail.flush()
        return self.on_disk()

    async def throw(self, what: Stopped | None) -> None:
        """As another process would."""
        database = await stores.opened(self.folder)
        await database.write(lambda connection: throw(connection, what, self.clock.now()))
        await database.close()


@asynccontextmanager
async def desk(
    folder: Path, limits: LimitsConfig | None = None, directory: Directory | None = None
) -> AsyncIterator[Desk]:
    clock, log, limits = HandClock(), io.StringIO(), limits or LimitsConfig()
    database = await stores.opened(folder)
    ports = {"work": refusing_port(), "home": refusing_port()}
    async with asyncio.TaskGroup() as tasks:
        trail = Trail(database, folder, clock, Log(clock, log))
        books = Books(database, clock, limits, trail, Switch(database), tasks)
        held: list[Desk] = []
        corridor = Corridor(
            directory or directory_of(ports, clock),
            clock,
            Log(clock, log),
            limits,
            books,
            {Toolset.MAILBOX: catalogue_of(held)},
        )
        held.append(Desk(corridor, books, trail, database, clock, log, folder))
        yield held[0]
        await books.drain(0)
        await trail.close()
    await database.close()


def catalogue_of(held: list[Desk]) -> dict[str, Operation[Any, Any]]:
    async def happens(call: Call) -> None:
        for step in held[0].within:
            await step(call)

    @operation("POST /mailboxes/{mailbox}/move", title="Move", effect=CHANGES, access=Access(Scope.ORGANIZE))
    async def move(call: Call, ask: MoveAsk) -> Done:
        """Move."""
        await call.spend_moves(len(ask.uids))
        await happens(call)
        call.note(moved=len(ask.uids))
        return Done(done=len(ask.uids))

    @operation(
        "POST /mailboxes/{mailbox}/send",
        title="Send",
        effect=SENDS,
        access=Access(Scope.SEND, instead={"draft": Scope.DRAFT}),
        audited=lambda ask: {"to": ask.to},
    )
    async def send(call: Call, ask: SendAsk) -> Done:
        """Send."""
        await happens(call)
        return Done(done=1)

    @operation("GET /mailboxes/{mailbox}/read", title="Read", effect=READS, access=Access(Scope.READ))
    async def read(call: Call, ask: ReadAsk) -> Done:
        """Read."""
        await happens(call)
        return Done(done=1)

    return {one.name: one for one in (move, send, read)}


def begun(request: str) -> Event:
    return Event("intent", "mcp.move", HandClock().now(), request, "agent", "work")
