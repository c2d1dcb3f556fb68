"""One HTTP connection, in bounds: requests begin in time, and answers are taken; nobody has shown a token yet."""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress
from fcntl import ioctl
from termios import TIOCOUTQ
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

LONGEST_HEAD = 64 * 1024
"""Octets of a request's line and headers together."""
HEAD_SECONDS = 20.0
"""From the connection, or the answer before, to the end of a request's headers once they have begun."""
TAKING_SECONDS = 30.0
"""Between two looks at whether a client takes what waits for it."""
LEAST_TAKEN = 16 * 1024
"""Octets that a client must take meanwhile of an answer; one that took less would hold its place for ever."""


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's own parser takes heads of any size, for as long as they take, and waits for readers without end."""

    _head: int | None = 0
    """Octets of the head that is being read; None while a body is."""
    _deadline: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None
    _running: RequestResponseCycle | None = None
    """The request that is being answered; uvicorn knows the last that came, which may be one that waits for it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_looking()
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            self._head += len(data)
            if self._deadline is None:
                self._await_head()
        super().data_received(data)
        if self._head is not None and self._head > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The request's line and headers are too long.")
            self._see_it_end()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0

    def on_headers_complete(self) -> None:
        self._head = None
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._head = 0

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_later()

    def resume_writing(self) -> None:
        self._stop_looking()
        super().resume_writing()
        self._see_it_end()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._see_it_end()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._see_it_end()

    def _see_it_end(self) -> None:
        """A connection that is being closed stays until the client has taken all."""
        if self.transport.is_closing():
            self._look_later()

    def _look_later(self) -> None:
        self._stop_looking()
        self._taking = self.loop.call_later(TAKING_SECONDS, self._look, _untaken(self.transport))

    def _look(self, before: int) -> None:
        if before - _untaken(self.transport) < LEAST_TAKEN:
            self.transport.abort()
        else:
            self._look_later()

    def _stop_looking(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def _await_head(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()
            self._see_it_end()


def _untaken(transport: asyncio.Transport) -> int:
    """Octets that the client has not taken yet.

    The system's own buffer counts: it asks for more only once a third of it is free, on a slow line after minutes.
    """
    waiting = transport.get_write_buffer_size()
    with suppress(OSError):
        (held,) = struct.unpack("i", ioctl(transport.get_extra_info("socket").fileno(), TIOCOUTQ, bytes(4)))
        waiting += held
    return waiting
