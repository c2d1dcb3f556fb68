"""Events as an HTTP answer: server-sent events, one at a time, for as long as the client takes them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from postroom.base.errors import GatewayError
from postroom.base.logs import Log
from postroom.operations.eventstream import Event, EventStream
from postroom.surfaces.presence import while_present
from postroom.surfaces.responses import ALWAYS

_BEAT = b": still here\n\n"
_AGAIN = b"retry: 3000\n\n"
"""Milliseconds after which a browser that was cut off comes back."""
_PATIENCE = 30.0
"""Seconds in which a client must take one event."""
_HEADERS = dict(ALWAYS) | {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",
}


class EventStreamResponse(Response):
    """Nothing is made before the client has taken what came before it: a slow one costs no memory, and is cut."""

    def __init__(self, stream: EventStream, log: Log) -> None:
        super().__init__()
        self._stream = stream
        self._log = log
        self.raw_headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in _HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            with suppress(ClientDisconnect):
                await while_present(receive, self._all(send))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _all(self, send: Send) -> None:
        try:
            await _give(send, _AGAIN)
            async with aclosing(self._stream.run()) as events:
                async for event in events:
                    await _give(send, _BEAT if event is None else _written(event))
        except GatewayError as error:
            self._log.warning("stream.cut", code=error.code, reason=str(error.details.get("reason")))
        except TimeoutError:
            self._log.warning("stream.cut", code="slow_reader")


async def _give(send: Send, octets: bytes) -> None:
    async with asyncio.timeout(_PATIENCE):
        await send({"type": "http.response.body", "body": octets, "more_body": True})


def _written(event: Event) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (event.id.encode(), event.type.encode(), event.data)
