"""A receiver of webhooks in the test's own event loop: keeps what is posted, answers as it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import orjson

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


def status(code: int, *headers: str, body: bytes = b"") -> bytes:
    """An answer of that status."""
    lines = [f"HTTP/1.1 {code} X", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


@dataclass(frozen=True)
class Post:
    line: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        return dict(orjson.loads(self.body))


Answer = Callable[[Post], bytes]


@dataclass
class Receiver:
    port: int = 0
    posts: list[Post] = field(default_factory=list)
    answer: Answer = lambda _: NO_CONTENT
    connections: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    hangs: bool = False
    """Take posts and say nothing."""
    end: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def until(self, count: int) -> None:
        """Until so many were posted."""
        async with asyncio.timeout(20):
            while len(self.posts) < count:
                self.arrived.clear()
                await self.arrived.wait()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            self.posts.append(await _read(reader))
            self.arrived.set()
            if self.hangs:
                await reader.read()
            else:
                writer.write(self.answer(self.posts[-1]))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def receiving(
    answer: Answer = lambda _: NO_CONTENT, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """Listening at loopback while the block runs."""
    receiver = Receiver(answer=answer)
    server = await asyncio.start_server(receiver.accept, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


async def _read(reader: asyncio.StreamReader) -> Post:
    line, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")[:-4].split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in rest)}
    return Post(line, headers, await reader.readexactly(int(headers["content-length"])))


@contextlib.contextmanager
def receiving_thread(answer: Answer = lambda _: NO_CONTENT) -> Iterator[Receiver]:
    """The same in a loop of its own, for tests that block."""
    started: Future[Receiver] = Future()
    loop = asyncio.new_event_loop()

    async def listen() -> None:
        async with receiving(answer) as receiver:
            started.set_result(receiver)
            await receiver.end.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(listen(),))
    thread.start()
    receiver = started.result(20)
    try:
        yield receiver
    finally:
        loop.call_soon_threadsafe(receiver.end.set)
        thread.join()
        loop.close()
