"""The client's two pipes, of any kind and however slow: whole lines in, whole lines out, and never a blocked loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

LONGEST_LINE = 64 * 1024 * 1024
"""Above what the gateway takes by default, so that its own refusal is heard first."""
_CHUNK = 256 * 1024


class Hand:
    """A thread that does one blocking thing after another. The process may end while it is blocked."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]]] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    async def do(self, job: Callable[[], T]) -> T:
        """What the job returns, or the OSError it raises; jobs are done in the order they were given."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put((future, job))
        return await future

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            result, failure = None, None
            try:
                result = job()
            except OSError as error:
                failure = error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                future.get_loop().call_soon_threadsafe(_settle, future, result, failure)


def _settle(future: asyncio.Future[Any], result: Any, failure: OSError | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)


async def read_lines(descriptor: int, hand: Hand) -> AsyncIterator[bytes | None]:
    """Lines without their ends, up to the end of input; None in place of one that is too long to be kept."""
    line, too_long = bytearray(), False
    while chunk := await _chunk(descriptor, hand):
        first, *others = chunk.split(b"\n")
        line += first
        for other in others:
            yield None if too_long else bytes(line)
            line, too_long = bytearray(other), False
        if len(line) > LONGEST_LINE:
            line, too_long = bytearray(), True
    if line or too_long:
        yield None if too_long else bytes(line)


async def _chunk(descriptor: int, hand: Hand) -> bytes:
    """Some octets; none at the end, and none from a pipe that is broken, which will give no more either."""
    try:
        return await hand.do(lambda: os.read(descriptor, _CHUNK))
    except OSError:
        return b""


async def write_line(descriptor: int, hand: Hand, line: bytes) -> None:
    """A whole line. Raises OSError when nobody reads there any more."""
    await hand.do(lambda: _write_all(descriptor, line + b"\n"))


def _write_all(descriptor: int, octets: bytes) -> None:
    rest = memoryview(octets)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
