"""HTTP and MCP at as little cost to the caller as Python allows: one connection, kept open, blocking."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

_CHUNK = 256 * 1024


class Http:
    """One connection to a gateway. Answers must tell their length, as all but a message's source do."""

    def __init__(self, port: int, token: str, receive_buffer: int | None = None) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.settimeout(120)
        self._socket.connect(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"

    def close(self) -> None:
        self._socket.close()

    def get(self, path: str) -> bytes:
        return b"".join(self.stream(path))

    def post(self, path: str, body: bytes, more: str = "") -> bytes:
        """Send JSON; the answer's body."""
        headers = f"{more}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self._socket.sendall(f"POST {path} HTTP/1.1\r\n{self._headers}{headers}\r\n".encode() + body)
        return b"".join(self._body())

    def stream(self, path: str) -> Iterator[bytes]:
        """The body in pieces as they arrive. Raises `RuntimeError` for a status of 300 and more."""
        self._socket.sendall(f"GET {path} HTTP/1.1\r\n{self._headers}\r\n".encode())
        return self._body()

    def _body(self) -> Iterator[bytes]:
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._some()
        head, _, body = received.partition(b"\r\n\r\n")
        if int(head[9:12]) >= 300:
            raise RuntimeError((head + b"\n" + body[:300]).decode("utf-8", "replace"))
        left = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]) - len(body)
        yield body
        while left > 0:
            piece = self._some()
            left -= len(piece)
            yield piece

    def _some(self) -> bytes:
        chunk = self._socket.recv(_CHUNK)
        if not chunk:
            raise EOFError("the gateway closed the connection")
        return chunk


class Mcp:
    """MCP's legacy line, stateless: one POST for each request."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def request(self, method: str, params: dict[str, Any] | None = None) -> bytes:
        """The answer's event. Raises `RuntimeError` if a tool failed."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        headers = "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n"
        answer = self._http.post("/mcp", json.dumps(body).encode(), headers)
        if b'"isError":true' in answer or b'"error":{' in answer[:200]:
            raise RuntimeError(answer[:400].decode("utf-8", "replace"))
        return answer

    def answer(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A call's answer as values."""
        event = self.call(tool, arguments).partition(b"data: ")[2]
        answer: dict[str, Any] = json.loads(event)["result"]["structuredContent"]
        return answer

    def call(self, tool: str, arguments: dict[str, Any]) -> bytes:
        return self.request("tools/call", {"name": tool, "arguments": arguments})
