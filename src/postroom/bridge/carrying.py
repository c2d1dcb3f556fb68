"""Messages carried both ways: many calls at once, each answered once, in the order in which answers come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from postroom.bridge.answer import check_notice, client_lines
from postroom.bridge.exchange import Post
from postroom.bridge.faults import Reason, Unanswered, error_line
from postroom.bridge.message import Cancel, Headers, Notice, Request, Unusable, agreed_version, read_message
from postroom.bridge.pipes import LONGEST_LINE
from postroom.surfaces.mcp import INVALID_REQUEST

MOST_CALLS = 64
_MOST_TOLD = 20
"""Sentences for whoever looks after the bridge: nobody may be reading, and a full pipe would hold everything up."""
MOST_OCTETS = 2 * LONGEST_LINE
"""Of the messages that are on their way together."""

Write: TypeAlias = Callable[[bytes], Awaitable[None]]


class Carrier:
    """One client's messages. `write` takes a line for it, `tell` a sentence for whoever looks after the bridge."""

    def __init__(self, post: Post, write: Write, tell: Callable[[str], None]) -> None:
        self._post = post
        self._write = write
        self._tell = tell
        self._version: str | None = None
        self._carried: dict[asyncio.Task[None], int] = {}
        self._unanswered: dict[str | int, asyncio.Task[None] | None] = {}
        """None for one that may not be cancelled."""
        self._told: set[str] = set()

    async def carry(self, lines: AsyncIterator[bytes | None]) -> None:
        """Until the lines end, and until what was begun by then is answered."""
        async with asyncio.TaskGroup() as tasks:
            async for line in lines:
                if line is None:
                    await self._write(error_line(None, INVALID_REQUEST, f"a line has at most {LONGEST_LINE:,} octets"))
                elif line.strip():
                    await self._take(line, tasks)

    async def _take(self, line: bytes, tasks: asyncio.TaskGroup) -> None:
        try:
            message = read_message(line, self._version)
        except Unusable as fault:
            await self._write(fault.line)
            return
        if isinstance(message, Request):
            await self._begin(message, line, tasks)
        elif isinstance(message, Cancel):
            self._cancel(message)
        elif isinstance(message, Notice):
            self._pass_on(message, line, tasks)
        else:
            self._tell_once("the client answered something that nobody asked; that is left out")

    async def _begin(self, request: Request, line: bytes, tasks: asyncio.TaskGroup) -> None:
        """A request whose id is in use is left out, and not under that id: the first one's answer is still to come."""
        if request.id in self._unanswered:
            told = "a request with this id is not answered yet, so this one was left out; give each its own id"
            await self._write(error_line(None, INVALID_REQUEST, told, {"id": request.id}))
        elif not self._room_for(line):
            told = f"more than {MOST_CALLS} calls, or too large ones, are on their way; wait for some of them"
            await self._write(Unanswered(Reason.BUSY, told).line(request.id))
        else:
            task = tasks.create_task(self._answer(request, line))
            self._unanswered[request.id] = task if request.method != "initialize" else None
            self._count(task, line)

    def _room_for(self, line: bytes) -> bool:
        return len(self._carried) < MOST_CALLS and sum(self._carried.values()) + len(line) <= MOST_OCTETS

    def _count(self, task: asyncio.Task[None], line: bytes) -> None:
        """Until its answer is written, so that a client who does not read what it asked for cannot ask for more."""
        self._carried[task] = len(line)
        task.add_done_callback(self._carried.pop)

    async def _answer(self, request: Request, line: bytes) -> None:
        try:
            answer = client_lines(await self._post(request.headers, line), request.id)
        except Unanswered as fault:
            answer = [fault.line(request.id)]
        if request.method == "initialize":
            self._version = agreed_version(answer[-1])
        self._unanswered.pop(request.id)  # before it is heard: the client may use the id again at once
        await self._write(b"\n".join(answer))

    def _cancel(self, cancel: Cancel) -> None:
        """Its connection is closed, which is how a call ends over HTTP; a cancelled call gets no answer."""
        if cancel.id is not None and (task := self._unanswered.get(cancel.id)) is not None:
            del self._unanswered[cancel.id]
            task.cancel()

    def _pass_on(self, notice: Notice, line: bytes, tasks: asyncio.TaskGroup) -> None:
        if self._room_for(line):
            self._count(tasks.create_task(self._notify(notice.headers, line)), line)
        else:
            self._tell_once("too many messages at once; a notice is left out")

    async def _notify(self, headers: Headers, line: bytes) -> None:
        try:
            check_notice(await self._post(headers, line))
        except Unanswered as fault:
            self._tell_once(f"a notice did not arrive: {fault}")

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(sentence)
            self._tell(sentence)
