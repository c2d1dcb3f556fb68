"""Responses as they come off the stream, each command's answer bounded in what is held of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from postroom.imap.faults import WireFault
from postroom.imap.stream import Stream
from postroom.imap.wire import Literal, Piece, Response, announced_literal, read_response

MAX_LITERAL = 48 * 1024 * 1024
"""Octets of one literal that are held in memory; larger ones must be streamed or are refused."""
MAX_ANSWER = 96 * 1024 * 1024
"""Octets held for one command's whole answer."""
_TOKEN_COST = 32
_LITERAL_COST = 128
"""Octets that a token or literal takes at least, whatever it holds: many small ones are a large answer."""

Sink: TypeAlias = Callable[[bytes], Awaitable[None]]


class Incoming:
    """Puts lines and literals together. `spent` is what the present answer has cost; a new command sets it to 0."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.spent = 0

    async def read_response(self, sink: Sink | None) -> Response:
        """The next response, its literals handed to `sink` in chunks if there is one. Raises `WireFault`."""
        pieces: list[Piece] = []
        while True:
            line = await self._stream.read_line()
            self._spend(_cost(line))
            if not pieces and not line.strip():
                continue
            pieces.append(line)
            size = announced_literal(line, first=len(pieces) == 1)
            if size is None:
                return read_response(pieces)
            pieces.append(await self._read_literal(size, sink))

    async def _read_literal(self, size: int, sink: Sink | None) -> Literal:
        self._spend(_LITERAL_COST)
        if sink is None:
            if size > MAX_LITERAL:
                raise WireFault(f"a literal of {size:,} octets is more than the gateway takes")
            self._spend(size)
            return Literal(await self._stream.read_exactly(size))
        left = size
        while left:
            chunk = await self._stream.read_some(left)
            left -= len(chunk)
            await sink(chunk)
        return Literal(b"", streamed=size)

    def _spend(self, octets: int) -> None:
        self.spent += octets
        if self.spent > MAX_ANSWER:
            raise WireFault(f"an answer of more than {MAX_ANSWER:,} octets")


def _cost(line: bytes) -> int:
    return len(line) + 2 + _TOKEN_COST * (line.count(b" ") + line.count(b"(") + line.count(b'"'))
