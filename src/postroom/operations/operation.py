"""The declaration of an operation: everything both surfaces, the schemas and the documents derive from."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast, get_type_hints

from postroom.base.caller import Caller
from postroom.base.errors import GatewayError
from postroom.mailbox.directory import Directory
from postroom.mailbox.outbox import Outbox
from postroom.mailbox.view import MailboxView
from postroom.mailbox.waiting import Stands, always
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask
from postroom.operations.blob import Blob
from postroom.operations.books import Books
from postroom.operations.eventstream import EventStream
from postroom.operations.journal import Journal
from postroom.operations.places import Place
from postroom.operations.schema import argument_schema
from postroom.operations.trail import unwritable
from postroom.store.switch import Stopped


class Surface(StrEnum):
    """Where a call came from: a few arguments have one default for programs and one for models."""

    HTTP = "http"
    MCP = "mcp"


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call does to the world, in the terms of MCP's annotations."""

    read_only: bool
    idempotent: bool
    destructive: bool
    open_world: bool


READS = Effect(read_only=True, idempotent=True, destructive=False, open_world=False)
PROBES = Effect(read_only=True, idempotent=True, destructive=False, open_world=True)
WRITES = Effect(read_only=False, idempotent=False, destructive=False, open_world=False)
CHANGES = Effect(read_only=False, idempotent=True, destructive=False, open_world=False)
REMOVES = Effect(read_only=False, idempotent=False, destructive=True, open_world=False)
SENDS = Effect(read_only=False, idempotent=False, destructive=True, open_world=True)


@dataclass(frozen=True, slots=True)
class Call:
    """One call: who asks, from where, and the only road to mail."""

    caller: Caller
    surface: Surface
    directory: Directory
    failed: Callable[[GatewayError], None] = lambda _: None
    """Tell the operator's log of a mail server's failure that the answer names instead of being it."""
    books: Books | None = None
    """Where it is counted what tokens spend; without any, nothing may be spent."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the handler noted."""
    request: str = ""
    """The name of this call in the log and the audit."""
    place: Place = field(default_factory=Place)
    """Among those that hold much at once."""
    public_url: str = ""
    """Where files can be had."""
    stands: Stands = always
    """Whether it could still be made as it was: to be asked by what takes its time before it tells more."""

    def note(self, **facts: Any) -> None:
        """Add facts to the record of this call's outcome: small JSON values, never what a message says."""
        self.facts.update(facts)

    async def spend_moves(self, count: int) -> None:
        """Before moving or deleting that many messages. Raises `rate_limited` with `retry_after`."""
        if self.books is None:
            raise unwritable()
        await self.books.spend_moves(self.caller.token, count)

    async def spend_changes(self, view: MailboxView, count: int) -> None:
        """Before changing that many messages in any way. Raises `rate_limited` for a bound caller's daily bound."""
        if self.books is None:
            raise unwritable()
        if (most := view.most_changes) is not None:
            await self.books.spend_changes(f"{self.caller.identity} {view.name}", count, most)

    async def stopped(self, what: Stopped = Stopped.SENDS) -> bool:
        """Whether the operator has stopped that since the call began: to be asked before what cannot be undone."""
        if self.books is None:
            raise unwritable()
        return await self.books.stopped(what)

    def mailbox(self, name: str | None) -> MailboxView:
        """Raises `not_found` or `conflict`."""
        return self.directory.view(self.caller, name)

    def outbox(self, name: str | None) -> Outbox:
        """The way out of a mailbox. Raises `not_found` or `conflict`."""
        return self.directory.outbox(self.caller, name)

    @property
    def journal(self) -> Journal:
        """What was sent, so that nothing is sent twice. Raises `unavailable` where no books are kept."""
        if self.books is None:
            raise unwritable()
        return self.books.journal

    def now(self) -> datetime:
        """The time as the books have it. Raises `unavailable` where none are kept."""
        if self.books is None:
            raise unwritable()
        return self.books.trail.now

    @property
    def budget(self) -> int | None:
        """Characters that an answer should stay under, or None: a model pays for every word."""
        return MODEL_BUDGET if self.surface is Surface.MCP else None


MODEL_BUDGET = 30_000

AskT = TypeVar("AskT", bound=Ask)
AnswerT = TypeVar("AnswerT", bound=Answer | Blob | EventStream)


@dataclass(frozen=True, slots=True)
class Operation(Generic[AskT, AnswerT]):
    """`routes` are "METHOD /path/{argument}"; `foreign` names answer fields that strangers wrote, if any."""

    name: str
    title: str
    description: str
    routes: tuple[str, ...]
    effect: Effect
    access: Access
    ask: type[AskT]
    answer: Any
    """The type that `run` returns: a model, or a union of models."""
    run: Callable[[Call, AskT], Awaitable[AnswerT]]
    foreign: str | None
    is_tool: bool
    """A model is offered it; what is not is for programs alone."""
    audited: Callable[[AskT], Mapping[str, Any]]
    """What the audit's intent says of validated arguments."""

    def schema(self, caller: Caller) -> dict[str, Any]:
        """The arguments as offered to this caller."""
        return self.access.narrow(argument_schema(self.ask), caller)

    def sends(self, ask: Ask) -> bool:
        """Whether a call with these arguments lets something out: not one that makes do with another scope."""
        if self.effect.read_only or not self.effect.open_world:
            return False
        return not any(getattr(ask, name) is True for name in self.access.instead)


Handler = Callable[[Call, AskT], Awaitable[AnswerT]]


def _messages(ask: Ask) -> dict[str, Any]:
    """Of how many messages a call is."""
    uids, uid = getattr(ask, "uids", None), getattr(ask, "uid", None)
    return {"messages": len(uids) if uids else 1} if uids or uid else {}


def operation(
    *routes: str,
    title: str,
    effect: Effect,
    access: Access,
    foreign: str | None = None,
    is_tool: bool = True,
    audited: Callable[[Any], Mapping[str, Any]] = _messages,
) -> Callable[[Handler[AskT, AnswerT]], Operation[AskT, AnswerT]]:
    """Turn a handler into its declaration: name, models and description are its own."""

    def declare(handler: Handler[AskT, AnswerT]) -> Operation[AskT, AnswerT]:
        hints = get_type_hints(handler)
        return Operation(
            name=handler.__name__,
            title=title,
            description=" ".join((inspect.getdoc(handler) or "").split()),
            routes=routes,
            effect=effect,
            access=access,
            ask=cast("type[AskT]", hints["ask"]),
            answer=hints["return"],
            run=handler,
            foreign=foreign,
            is_tool=is_tool,
            audited=audited,
        )

    return declare
