"""One HTTP/1.1 request over an open connection, and its answer within bounds (RFC 9112)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import h11

_CHUNK = 64 * 1024
_MOST_INTERIM = 16
"""Answers such as 100 or 103 before the one that counts."""


class NotHttpError(Exception):
    """What came back is no answer of HTTP, or one with a head past the bound."""


@dataclass(frozen=True, slots=True)
class Request:
    """A POST; `headers` are all that is sent, `Content-Length` among them."""

    target: str
    headers: Sequence[tuple[str, str]] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; header names are in lower case, the last of a name counts."""

    status: int
    headers: dict[str, str]
    body: bytes
    is_whole: bool
    """False where the body went on past the bound."""


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request, *, longest_head: int, most: int
) -> Reply:
    """The answer, with at most so many octets of its body; the connection is of no use afterwards.

    Raises `NotHttpError`, and `OSError` where the connection breaks before the answer is whole. How long it may take
    is the caller's business.
    """
    conversation = h11.Connection(h11.CLIENT, max_incomplete_event_size=longest_head)
    head = h11.Request(method="POST", target=request.target, headers=list(request.headers))
    for event in (head, h11.Data(data=request.body), h11.EndOfMessage()):
        writer.write(conversation.send(event) or b"")
    # Not drained: an answer such as "too large" comes before the whole request is gone.
    try:
        return await _Answering(conversation, reader, 2 * most + longest_head).reply(most)
    except h11.RemoteProtocolError:
        raise NotHttpError from None


class _Answering:
    def __init__(self, conversation: h11.Connection, reader: asyncio.StreamReader, most_received: int) -> None:
        self._conversation = conversation
        self._reader = reader
        self._left = most_received
        """Octets that may still come, whatever they are: chunks of one octet cost more than they hold."""

    async def reply(self, most: int) -> Reply:
        head, body, interim = None, bytearray(), 0
        while True:
            event = self._next_event()
            if event is h11.NEED_DATA:
                if self._left <= 0:
                    return self._cut(head, body[:most])
                await self._receive()
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data) and head is not None:
                body += event.data
                if len(body) > most:
                    return self._cut(head, body[:most])
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return _reply(head, bytes(body), is_whole=True)
            elif isinstance(event, h11.InformationalResponse) and interim < _MOST_INTERIM:
                interim += 1
            else:
                raise NotHttpError if isinstance(event, h11.InformationalResponse) else ConnectionResetError

    async def _receive(self) -> None:
        data = await self._reader.read(_CHUNK)
        self._left -= len(data)
        self._conversation.receive_data(data)

    def _cut(self, head: h11.Response | None, body: bytearray) -> Reply:
        if head is None:
            raise NotHttpError
        return _reply(head, bytes(body), is_whole=False)

    def _next_event(self) -> object:
        """h11 has one error for an answer that is wrong and for one that the end cuts off."""
        try:
            return self._conversation.next_event()
        except h11.RemoteProtocolError:
            if self._conversation.trailing_data[1]:
                raise ConnectionResetError from None
            raise


def _reply(head: h11.Response, body: bytes, *, is_whole: bool) -> Reply:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
    return Reply(head.status_code, headers, body, is_whole)
