"""`postroom bridge` as a client has it: a process, its pipes, and lines of JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from tests.servers.peer import Conversation, Peer

COMMAND = (sys.executable, "-c", "from postroom.cli import main; main()", "bridge")
TOKEN = "psr_a_notatoken_of_any_gateway"
_SECONDS = 30.0


@dataclass
class Bridge:
    process: asyncio.subprocess.Process

    async def says(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def hears(self) -> dict[str, Any]:
        """The next line, which is JSON and one whole message."""
        assert self.process.stdout is not None
        async with asyncio.timeout(_SECONDS):
            line = await self.process.stdout.readline()
        assert line.endswith(b"\n"), line
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return dict(message)

    async def asks(self, method: str, params: dict[str, Any] | None = None, identifier: Any = 1) -> dict[str, Any]:
        await self.says(request(method, params, identifier))
        return await self.hears()

    async def ends(self) -> tuple[int, bytes, bytes]:
        """Its stdin is closed: its status, what it still said, and what it told on stderr."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(_SECONDS):
            out, err = await self.process.communicate()
        return self.process.returncode or 0, out, err


def request(method: str, params: dict[str, Any] | None = None, identifier: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method} | ({} if params is None else {"params": params})


def call(tool: str, arguments: dict[str, Any], identifier: Any = 1) -> dict[str, Any]:
    return request("tools/call", {"name": tool, "arguments": arguments}, identifier)


def modern(method: str, params: dict[str, Any] | None = None, identifier: Any = 1) -> dict[str, Any]:
    """A request of the stateless era, which names its version itself."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return request(method, {**(params or {}), "_meta": meta}, identifier)


@contextlib.asynccontextmanager
async def bridging(url: str, token: str = TOKEN, *options: str) -> AsyncIterator[Bridge]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "--url",
        url,
        *options,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "POSTROOM_TOKEN": token},
        limit=1 << 24,
    )
    try:
        yield Bridge(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def heard_request(peer: Peer) -> tuple[bytes, bytes]:
    """The head and the body of one HTTP request."""
    head = await peer.reader.readuntil(b"\r\n\r\n")
    (length,) = (int(line[16:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length: "))
    return head, await peer.reader.readexactly(length)


def answering(*lines: bytes, body: bytes = b"") -> Conversation:
    """A gateway that hears a request, says these lines of a head and this body, and leaves."""

    async def conversation(peer: Peer) -> None:
        await heard_request(peer)
        await peer.says(*lines, b"")
        peer.writer.write(body)
        await peer.writer.drain()
        await peer.goes()

    return conversation


def answering_json(status: bytes, body: dict[str, Any]) -> Conversation:
    return answering(b"HTTP/1.1 " + status, b"Content-Type: application/json", body=json.dumps(body).encode())
