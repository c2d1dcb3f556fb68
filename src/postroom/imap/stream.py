"""A socket as bounded lines and chunks, with TLS that can be begun late and never keeps what came before it."""

from __future__ import annotations

import asyncio
import ssl
from typing import cast

from postroom.base.cause import Cause
from postroom.base.tls import Endpoint, context_for, pin_of, shown_certificate, unreached, why_not
from postroom.imap.faults import ConnectFault, LostFault, TlsFault, WireFault

MAX_LINE = 4 * 1024 * 1024
"""Octets of one line: room for a long SEARCH answer, none for an endless one."""
_CHUNK = 64 * 1024
_HIGH_WATER = 2 * _CHUNK


class Stream(asyncio.Protocol):
    """The two ends of one TCP connection: read what is asked for, hold little more than that."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._transport: asyncio.Transport | None = None
        self._arrival: asyncio.Future[None] | None = None
        """Of whoever waits for octets."""
        self._room: asyncio.Future[None] | None = None
        """Of whoever waits to write, while the other side does not read."""
        self._paused = False
        self._ended = False

    # -- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes, but do what they do.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > _HIGH_WATER and not self._paused and self._transport:
            self._paused = True
            self._transport.pause_reading()
        _done(self._arrival)

    def eof_received(self) -> bool:
        self._ended = True
        _done(self._arrival)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        _done(self._arrival)
        _done(self._room)

    def pause_writing(self) -> None:
        self._room = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        _done(self._room)
        self._room = None

    # -- what we call

    @property
    def ended(self) -> bool:
        """The other side has closed, or we have."""
        return self._ended or self._transport is None or self._transport.is_closing()

    async def read_line(self) -> bytes:
        """One line without its end (CRLF, or LF from careless servers). Raises `WireFault` past `MAX_LINE`."""
        while True:
            end = self._buffer.find(b"\n", self._scanned)
            if end >= 0:
                line = bytes(self._buffer[:end])
                self._drop(end + 1)
                return line.removesuffix(b"\r")
            self._scanned = len(self._buffer)
            if self._scanned > MAX_LINE:
                raise WireFault(f"a line of more than {MAX_LINE:,} octets")
            await self._more()

    async def read_exactly(self, count: int) -> bytes:
        """`count` octets, in one piece: the caller bounds them."""
        while len(self._buffer) < count:
            await self._more()
        octets = bytes(self._buffer[:count])
        self._drop(count)
        return octets

    async def read_some(self, at_most: int) -> bytes:
        """At least one octet and at most `at_most`, or a chunk's worth."""
        if not self._buffer:
            await self._more()
        octets = bytes(self._buffer[: min(at_most, _CHUNK)])
        self._drop(len(octets))
        return octets

    async def write(self, octets: bytes) -> None:
        """Hand over octets, waiting while the other side does not take them."""
        if self.ended or self._transport is None:
            raise LostFault("the server closed the connection")
        self._transport.write(octets)
        if self._room is not None:
            await asyncio.shield(self._room)

    def post(self, octets: bytes) -> None:
        """Hand over a few octets without waiting; on a connection that is closed they are lost."""
        if not self.ended and self._transport is not None:
            self._transport.write(octets)

    async def start_tls(self, endpoint: Endpoint) -> None:
        """Begin TLS. Octets sent ahead of it are an injection (CVE-2021-38371 kind): refused, not obeyed."""
        if self._buffer:
            raise TlsFault("the server sent more after accepting STARTTLS: somebody may be in between")
        loop = asyncio.get_running_loop()
        assert self._transport is not None  # noqa: S101 - only called on an open stream
        try:
            transport = await loop.start_tls(
                self._transport, self, context_for(endpoint), server_hostname=endpoint.host
            )
        except (ssl.SSLError, OSError) as error:
            raise _tls_fault(error) from error
        if transport is None:
            raise TlsFault("the server closed the connection during the TLS handshake")
        self._transport = transport
        self.check_pin(endpoint)

    def close(self) -> None:
        """End at once; what was not written is lost."""
        self._ended = True
        if self._transport is not None:
            self._transport.abort()

    def check_pin(self, endpoint: Endpoint) -> None:
        """With a pinned certificate, that certificate and no other. Raises `TlsFault`."""
        if not endpoint.pin or self._transport is None:
            return
        shown = shown_certificate(self._transport.get_extra_info("ssl_object"))
        if (pin := pin_of(shown)) != endpoint.pin:
            self.close()
            told = f"the certificate's SHA-256 is {pin}, not the pinned one"
            raise TlsFault(told, Cause.CERTIFICATE_CHANGED, shown)

    async def _more(self) -> None:
        if self._ended:
            raise LostFault("the server closed the connection")
        if self._paused and self._transport:
            self._paused = False
            self._transport.resume_reading()
        self._arrival = asyncio.get_running_loop().create_future()
        try:
            await self._arrival
        finally:
            self._arrival = None

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self._scanned = 0


def _done(awaited: asyncio.Future[None] | None) -> None:
    if awaited is not None and not awaited.done():
        awaited.set_result(None)


async def connect(endpoint: Endpoint) -> Stream:
    """An open stream, with TLS if the endpoint begins with it. Raises `ConnectFault` or `TlsFault`."""
    loop = asyncio.get_running_loop()
    context = context_for(endpoint) if endpoint.tls == "ssl" else None
    try:
        _, stream = await loop.create_connection(Stream, endpoint.host, endpoint.port, ssl=context)
    except ssl.SSLError as error:
        raise _tls_fault(error) from error
    except OSError as error:
        if context is not None and isinstance(error, ConnectionResetError | ConnectionAbortedError):
            raise TlsFault("the server closed the connection during the TLS handshake", Cause.HANDSHAKE) from error
        cause, told = unreached(error)
        raise ConnectFault(told, cause) from error
    if endpoint.tls == "ssl":
        stream.check_pin(endpoint)
    return stream


def _tls_fault(error: Exception) -> TlsFault:
    cause, told = why_not(error)
    return TlsFault(told, cause)
