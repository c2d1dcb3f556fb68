"""One call as one HTTP request on a connection of its own: closing it cancels the call, and nothing is sent twice."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import h11

from postroom.base.cause import Cause
from postroom.base.secret import Secret
from postroom.base.tls import context_for, unreached, why_not
from postroom.bridge.address import Address
from postroom.bridge.faults import Reason, Unanswered
from postroom.bridge.message import Headers

CONNECT_SECONDS = 15.0
ANSWER_SECONDS = 300.0
"""From the request to the last octet of its answer: longer than the gateway gives any call."""
LONGEST_ANSWER = 64 * 1024 * 1024
_LONGEST_HEAD = 64 * 1024
_CHUNK = 64 * 1024
_UNSURE = "whether the call was carried out is not known, so look before you repeat it"

_START = "start the gateway there with postroom serve, or give its address with --url"
_TRUST = "mend the certificate, or give the one of its authority with --ca-file"
_PLAIN = "give --url http:// if that is meant"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """`content_type` is in lower case and without parameters."""

    status: int
    content_type: str
    body: bytes


Post: TypeAlias = Callable[[Headers, bytes], Awaitable[HttpAnswer]]
"""A message's headers and octets to the answer; raises Unanswered."""


async def post(address: Address, token: Secret, headers: Headers, body: bytes) -> HttpAnswer:
    """Ask once, and leave no connection behind."""
    reader, writer = await _connected(address)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            conversation = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
            for event in (_request(address, token, headers, len(body)), h11.Data(data=body), h11.EndOfMessage()):
                writer.write(conversation.send(event) or b"")
            # Not drained: an answer such as "too large" comes before the whole message is gone.
            return await _answer(conversation, reader)
    except TimeoutError:
        waited = f"the gateway did not answer within {ANSWER_SECONDS:.0f} seconds"
        raise Unanswered(Reason.TIMEOUT, f"{waited}; {_UNSURE}") from None
    except h11.RemoteProtocolError:
        raise Unanswered(Reason.NOT_MCP, f"what came back from {address.host} is no HTTP; check --url") from None
    except OSError:
        raise Unanswered(Reason.LOST, f"the connection broke before the answer was whole; {_UNSURE}") from None
    finally:
        writer.transport.abort()


async def _connected(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    endpoint = address.endpoint
    context = context_for(endpoint) if endpoint.tls == "ssl" else None
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await asyncio.open_connection(endpoint.host, endpoint.port, ssl=context)
    except TimeoutError:
        raise _unreached(address, f"no connection within {CONNECT_SECONDS:.0f} seconds", _START) from None
    except ssl.SSLError as failure:
        cause, why = why_not(failure)
        raise _unreached(address, why, _PLAIN if cause is Cause.PLAIN_SPOKEN else _TRUST, Reason.TLS) from None
    except OSError as failure:
        raise _unreached(address, unreached(failure)[1], _START) from None
    except UnicodeError:
        raise _unreached(address, "no connection: no host can have this name", _START) from None


def _unreached(address: Address, why: str, remedy: str, reason: Reason = Reason.UNREACHABLE) -> Unanswered:
    return Unanswered(reason, f"nothing was done, for {address.host} cannot be reached: {why}; {remedy}")


def _request(address: Address, token: Secret, headers: Headers, length: int) -> h11.Request:
    always = (
        ("Host", address.host),
        ("Authorization", f"Bearer {token.reveal()}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Accept-Encoding", "identity"),
        ("Content-Length", str(length)),
        ("Connection", "close"),
    )
    return h11.Request(method="POST", target=address.target, headers=[*always, *headers])


async def _answer(conversation: h11.Connection, reader: asyncio.StreamReader) -> HttpAnswer:
    """The answer, whole. Raises Unanswered where it grows past the bound, h11's errors where it is no HTTP."""
    status, kind, body = 0, "", bytearray()
    while True:
        event = _next_event(conversation)
        if event is h11.NEED_DATA:
            conversation.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Response):
            status, kind = event.status_code, _content_type(event)
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > LONGEST_ANSWER:
                raise Unanswered(Reason.TOO_LARGE, f"the answer is longer than {LONGEST_ANSWER:,} octets; ask for less")
        elif isinstance(event, h11.EndOfMessage):
            return HttpAnswer(status, kind, bytes(body))
        elif not isinstance(event, h11.InformationalResponse):
            raise ConnectionResetError


def _next_event(conversation: h11.Connection) -> object:
    """h11 has one error for an answer that is wrong and for one that the end cuts off."""
    try:
        return conversation.next_event()
    except h11.RemoteProtocolError:
        if conversation.trailing_data[1]:
            raise ConnectionResetError from None
        raise


def _content_type(response: h11.Response) -> str:
    value = dict(response.headers).get(b"content-type", b"")
    return value.partition(b";")[0].strip().lower().decode("latin-1")
