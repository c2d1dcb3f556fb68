"""The words of one conversation with an IMAP server: one command in flight, everything bounded by time and size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from postroom.imap.faults import DeadlineFault, LostFault, RefusedFault, WireFault
from postroom.imap.incoming import Incoming, Sink
from postroom.imap.reply import Reply, Selected, code_number
from postroom.imap.stream import Stream
from postroom.imap.wire import (
    Argument,
    Atom,
    Continuation,
    Garbled,
    Outgoing,
    Response,
    Status,
    Stray,
    Token,
    Untagged,
    octets_of,
    write_command,
)

MAX_UNTAGGED = 200_000
"""Responses before the tagged one."""
_YIELD_EVERY = 64
_LARGE = 64 * 1024
"""Octets of a response that is work enough to let others in after it."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds for a connection with its login, and for one command (`limits` of the configuration)."""

    connect: float
    command: float


class Conversation:
    """Commands and answers, and what answers tell of the server and the open folder.

    After any fault but `RefusedFault` it is closed: its state cannot be trusted.
    """

    def __init__(self, stream: Stream, deadlines: Deadlines) -> None:
        self._stream = stream
        self._deadlines = deadlines
        self._lock = asyncio.Lock()
        self._tags = 0
        self._capabilities: frozenset[str] = frozenset()
        self._announced = False
        self._incoming = Incoming(stream)
        self._telling_flags = False
        self.hear: Callable[[Untagged | None], None] = _no_ear
        """Told at once of each change in the open folder, which is None if it could not be read, and of each STATUS."""
        self.selected: Selected | None = None
        self.news = 0
        """How many changes in the open folder the server has told of unasked: while it stays, nothing has changed."""

    @property
    def closed(self) -> bool:
        return self._stream.ended

    @property
    def capabilities(self) -> frozenset[str]:
        """As announced last: what a server offers may change with TLS and with the login."""
        return self._capabilities

    def close(self) -> None:
        self._stream.close()

    async def run(self, name: str, *arguments: Argument, sink: Sink | None = None) -> Reply:
        """Send one command and read its answer.

        With `sink`, literals are handed to it in chunks instead of being held. Raises `RefusedFault` for NO and
        BAD, `DeadlineFault`, `LostFault` or `WireFault` otherwise. A cancelled command closes the connection.
        """
        reply, refused = await self.run_leniently(name, *arguments, sink=sink)
        if refused:
            raise refused
        return reply

    async def run_leniently(
        self, name: str, *arguments: Argument, sink: Sink | None = None
    ) -> tuple[Reply, RefusedFault | None]:
        """As `run`, but a refusal is returned beside what the server told before it."""
        async with self._lock, self._whole_or_closed():
            tag = self._next_tag()
            out = write_command(tag, name, arguments, literal_plus=self._literal_plus(arguments))
            self._telling_flags = name in ("UID FETCH", "UID STORE")
            reply = await self._exchange(tag, out, sink)
        return reply, refusal_of(reply)

    # -- one exchange

    def _next_tag(self) -> bytes:
        self._tags += 1
        self._incoming.spent = 0
        return b"P%d" % self._tags

    def _literal_plus(self, arguments: Sequence[Argument]) -> bool:
        if "LITERAL+" in self._capabilities:
            return True
        sizes = [len(octets_of(argument)) for argument in arguments if not isinstance(argument, Atom)]
        return "LITERAL-" in self._capabilities and all(size <= 4096 for size in sizes)

    @asynccontextmanager
    async def _whole_or_closed(self, seconds: float | None = None) -> AsyncIterator[asyncio.Timeout]:
        """Whatever interrupts the block, a deadline or a cancellation included, closes the connection."""
        try:
            async with asyncio.timeout(seconds or self._deadlines.command) as deadline:
                yield deadline
        except TimeoutError:
            self.close()
            raise DeadlineFault("the server did not answer in time") from None
        except BaseException:
            self.close()
            raise

    async def _exchange(self, tag: bytes, out: Outgoing, sink: Sink | None) -> Reply:
        reply = Reply(Status(None, "OK", None, [], ""))
        for number, segment in enumerate(out.segments):
            if number and out.wait:
                early = await self._read_until(tag, reply, sink, wants_continuation=True)
                if early is not None:
                    return early
            await self._stream.write(segment)
        done = await self._read_until(tag, reply, sink, wants_continuation=False)
        if done is None:
            raise WireFault("the server asks for more of a finished command")
        return done

    async def _read_until(
        self, tag: bytes, reply: Reply, sink: Sink | None, *, wants_continuation: bool
    ) -> Reply | None:
        """Read to the tagged status, or to a continuation (None)."""
        broken = False
        for count in range(MAX_UNTAGGED):
            before = self._incoming.spent
            response = await self._incoming.read_response(sink)
            if count % _YIELD_EVERY == _YIELD_EVERY - 1 or self._incoming.spent - before > _LARGE:
                await asyncio.sleep(0)
            if isinstance(response, Stray):
                if not broken:
                    raise WireFault("a line that is no response")
                continue
            broken = isinstance(response, Garbled)
            if isinstance(response, Continuation):
                if wants_continuation:
                    return None
                raise WireFault("a continuation that nobody asked for")
            if isinstance(response, Status) and response.tag is not None:
                if response.tag != tag:
                    raise WireFault("the answer to another command")
                self._note_status(response)
                reply.status = response
                return reply
            self._note(response, reply)
        raise WireFault(f"more than {MAX_UNTAGGED:,} responses to one command")

    # -- what responses mean for the connection

    def _note(self, response: Response, reply: Reply) -> None:
        if isinstance(response, Garbled):
            reply.garbled.append(response)
            self.news += 1
            self.hear(None)
        elif isinstance(response, Untagged):
            reply.untagged.append(response)
            self._note_untagged(response)
        elif isinstance(response, Status):
            reply.untagged.append(Untagged(response.kind, None, [_code_token(response), *response.code_values]))
            self._note_status(response)
            if response.kind == "BYE":
                raise LostFault("the server ended the session")

    def _note_status(self, status: Status) -> None:
        if status.code == "CAPABILITY":
            self._learn(status.code_values)
        elif status.code == "UIDVALIDITY" and status.tag is None and self.selected is not None:
            # The folder was made anew under an open session: what UIDs named before, they name no more.
            validity = code_number(status.code_values) or 0
            self.selected = replace(self.selected, uid_validity=validity, uid_next=None, renumbered=True)
            self.news += 1
            self.hear(None)

    def _note_untagged(self, response: Untagged) -> None:
        if response.kind == "CAPABILITY":
            self._learn(response.values)
        elif self.selected is not None and (response.number is not None or response.kind == "VANISHED"):
            if not (self._telling_flags and response.kind == "FETCH" and b"UID" in _item_names(response)):
                self.news += 1
                self.hear(response)
            if response.kind == "EXISTS" and response.number is not None:
                # More mail than before: what UIDNEXT was at the SELECT says nothing any more.
                uid_next = None if response.number > self.selected.exists else self.selected.uid_next
                self.selected = replace(self.selected, exists=response.number, uid_next=uid_next)
            elif response.kind == "EXPUNGE":
                self.selected = replace(self.selected, exists=max(0, self.selected.exists - 1))
        elif response.kind == "STATUS":
            self.hear(response)

    def _learn(self, values: Sequence[Token]) -> None:
        self._capabilities = _shared(
            frozenset(value.decode("ascii", "replace").upper() for value in values if isinstance(value, bytes))
        )
        self._announced = True


_announcements: WeakValueDictionary[int, frozenset[str]] = WeakValueDictionary()


def _shared(names: frozenset[str]) -> frozenset[str]:
    """The same set for all connections that were told the same: of a thousand each would keep kilobytes of it."""
    known = _announcements.setdefault(hash(names), names)
    return known if known == names else names


def _no_ear(_: Untagged | None) -> None:
    """Nobody listens: what comes in between is heard of where it matters, by `news`."""


def refusal_of(reply: Reply) -> RefusedFault | None:
    status = reply.status
    if status.kind == "OK":
        return None
    return RefusedFault(status.text, status.code, unknown=status.kind == "BAD")


def _item_names(response: Untagged) -> Sequence[Token]:
    """Names and values of a FETCH response, by turns; flag news that nobody asked for has no UID (RFC 9051 7.5.2)."""
    items = response.values[0] if response.values else None
    return items if isinstance(items, list) else ()


def _code_token(status: Status) -> Token:
    return status.code.encode() if status.code else None
