"""Requests' bodies: read within bounds of size, time and number, and understood as JSON of bounded work."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import orjson
from starlette.requests import Request

from postroom.base.errors import Code, GatewayError, invalid

BODY_SECONDS = 60.0
"""For a whole request body to arrive."""
LARGE = 1_000_000
"""Octets from which on a body is large: one with files in it."""
LARGE_AT_ONCE = 2
"""Each is some times its size in memory until its call is over."""
MOST_VALUES = 500_000
"""Of a large body. A file is one text; reading a million values holds everybody up."""
_DEEPEST = 32


class Bodies:
    """One for the process; no body is longer than `limit` octets."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._room = asyncio.Semaphore(LARGE_AT_ONCE)

    async def read(self, request: Request, held: AsyncExitStack) -> bytes:
        """The whole body. A large one takes a place, given back with `held`, which must last as long as the call.

        Raises `too_large` as soon as that is known, `unavailable` when it does not come or find a place in time.
        """
        declared = request.headers.get("content-length", "")
        if not declared.isdigit() or int(declared) <= self._limit:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await self._read_within(request, held)
            except TimeoutError:
                told = "The request's body did not come in time; send it again."
                raise GatewayError(Code.UNAVAILABLE, told) from None
            if body is not None:
                return body
        told = f"The request is larger than the {self._limit:,} octets taken here."
        raise GatewayError(Code.TOO_LARGE, told, limit=self._limit)

    async def _read_within(self, request: Request, held: AsyncExitStack) -> bytes | None:
        """The body, or None when it grows past the limit."""
        body, large = bytearray(), False
        async for chunk in request.stream():
            body += chunk
            if len(body) > self._limit:
                return None
            if len(body) > LARGE and not large:
                await held.enter_async_context(self._room)
                large = True
        return bytes(body)


def is_json(request: Request) -> bool:
    """Whether the body is declared to be JSON, which no form of a foreign page can declare."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def parse_json(body: bytes) -> Any:
    """JSON of bounded depth and, where it is large, of few values. Raises `validation_error` or `too_large`."""
    if len(body) > LARGE and sum(map(body.count, (b",", b"[", b"{"))) > MOST_VALUES:
        told = f"A request of more than {LARGE:,} octets may hold {MOST_VALUES:,} values; send less in one call."
        raise GatewayError(Code.TOO_LARGE, told, limit=MOST_VALUES)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise invalid("body", "is not JSON") from None
    if not _shallow(value):
        raise invalid("body", f"is nested deeper than {_DEEPEST} levels")
    return value


def _shallow(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        if not inner:
            return True
        level = [one for one in inner if isinstance(one, dict | list)]
    return not level
