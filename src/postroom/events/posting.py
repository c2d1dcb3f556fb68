"""One signed POST and what came of it: bounded in time and size, no redirect followed, nothing kept of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from postroom.base.http1 import NotHttpError, Reply, Request, ask
from postroom.base.refusal import one_line
from postroom.config.targets import Network, Target
from postroom.events.egress import Egress, Unposted
from postroom.events.signing import Headers
from postroom.mail.date import parse_date

TOTAL_SECONDS = 15.0
USER_AGENT = "Postroom-Webhooks/1"
LONGEST_ANSWER = 16 * 1024
_LONGEST_HEAD = 16 * 1024
LONGEST_SAID = 200
"""Characters of the answer's body that are kept for the operator."""


@dataclass(frozen=True, slots=True)
class Posted:
    """A receiver's answer. `said` is foreign text, cleaned and cut."""

    status: int
    said: str
    retry_after: float | None = None
    """Seconds that it asks us to wait."""

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """It wants nothing any more (RFC 9110 15.5.11)."""
        return self.status == 410


async def post(
    egress: Egress,
    target: Target,
    private: Iterable[Network],
    headers: Headers,
    body: bytes,
    *,
    now: datetime,
    seconds: float = TOTAL_SECONDS,
) -> Posted:
    """The answer, whichever it is, within so many seconds of the beginning. Raises `Unposted`."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await egress.open(target, private)
            try:
                request = Request(target.path, _headers(target, headers, body), body)
                reply = await ask(reader, writer, request, longest_head=_LONGEST_HEAD, most=LONGEST_ANSWER)
            finally:
                writer.transport.abort()
    except TimeoutError:
        raise Unposted(f"no whole answer within {seconds:g} seconds") from None
    except NotHttpError:
        raise Unposted("what came back is no HTTP") from None
    except OSError:
        raise Unposted("the connection broke before the answer was whole") from None
    return Posted(reply.status, _said(reply), _retry_after(reply, now))


def _headers(target: Target, headers: Headers, body: bytes) -> Headers:
    return (
        ("Host", target.authority),
        ("User-Agent", USER_AGENT),
        ("Content-Type", "application/json"),
        ("Accept-Encoding", "identity"),
        *headers,
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    )


def _said(reply: Reply) -> str:
    return one_line(reply.body[: 4 * LONGEST_SAID].decode("utf-8", "replace"), LONGEST_SAID)


def _retry_after(reply: Reply, now: datetime) -> float | None:
    """Seconds from now (RFC 9110 10.2.3), or None where nothing readable is said."""
    value = reply.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdecimal() and len(value) <= 10:
        return float(value)
    moment = parse_date(value.encode("latin-1", "replace"))
    return None if moment is None else max(0.0, (moment - now).total_seconds())
