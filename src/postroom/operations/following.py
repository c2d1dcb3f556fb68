"""The event stream: new mail of all mailboxes, told to a program as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from typing import Annotated

from pydantic import Field

from postroom.base.caller import Scope
from postroom.operations.access import Access
from postroom.operations.ask import FolderAsk
from postroom.operations.eventstream import Event, EventStream
from postroom.operations.filters import Filters
from postroom.operations.inbox import names_of
from postroom.operations.operation import READS, Call, operation


class Events(Filters, FolderAsk):
    mailbox: Annotated[str | None, Field(description="One, or several: a,b; default all")] = None
    since_cursor: Annotated[str | None, Field(description="Go on after this cursor of inbox or of an event")] = None


@operation(
    "GET /events",
    title="Event stream",
    effect=READS,
    access=Access(Scope.READ, every_mailbox=True),
    is_tool=False,
)
async def events(call: Call, ask: Events) -> EventStream:
    """New mail of all mailboxes as server-sent events, each with mailbox, folder and uid; read it with get_message.

    An event's id is a cursor: Last-Event-ID, or since_cursor, goes on after it, here and in inbox.
    """
    if call.books is not None:
        call.books.streams.check(call.caller.token)
    stream = call.directory.stream(call.caller, names_of(ask.mailbox), ask.folder, ask.query(), call.stands)
    await stream.begin(ask.since_cursor)

    async def run() -> AsyncGenerator[Event | None, None]:
        async with AsyncExitStack() as held:
            if call.books is not None:
                held.enter_context(call.books.streams.one_more(call.caller.token))
            telling = await held.enter_async_context(aclosing(stream.run()))
            async for told in telling:
                yield (
                    None
                    if told is None
                    else Event(told.cursor, told.notice.type, told.notice.json(call.now()).encode())
                )

    return EventStream(run)
