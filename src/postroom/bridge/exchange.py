"""One call as one HTTP request on a connection of its own: closing it cancels the call, and nothing is sent twice."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from postroom.base.cause import Cause
from postroom.base.http1 import NotHttpError, Reply, Request, ask
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
    request = Request(address.target, [*_headers(address, token, len(body)), *headers], body)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reply = await ask(reader, writer, request, longest_head=_LONGEST_HEAD, most=LONGEST_ANSWER)
    except TimeoutError:
        waited = f"the gateway did not answer within {ANSWER_SECONDS:.0f} seconds"
        raise Unanswered(Reason.TIMEOUT, f"{waited}; {_UNSURE}") from None
    except NotHttpError:
        raise Unanswered(Reason.NOT_MCP, f"what came back from {address.host} is no HTTP; check --url") from None
    except OSError:
        raise Unanswered(Reason.LOST, f"the connection broke before the answer was whole; {_UNSURE}") from None
    finally:
        writer.transport.abort()
    if not reply.is_whole:
        raise Unanswered(Reason.TOO_LARGE, f"the answer is longer than {LONGEST_ANSWER:,} octets; ask for less")
    return HttpAnswer(reply.status, _content_type(reply), reply.body)


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


def _headers(address: Address, token: Secret, length: int) -> Headers:
    return (
        ("Host", address.host),
        ("Authorization", f"Bearer {token.reveal()}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Accept-Encoding", "identity"),
        ("Content-Length", str(length)),
        ("Connection", "close"),
    )


def _content_type(reply: Reply) -> str:
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()
