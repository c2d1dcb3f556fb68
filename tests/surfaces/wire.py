"""What the tests of the wire share: requests, the shape of an error, and octets exactly as given."""

from __future__ import annotations

import socket

import httpx2

from tests.servers.gateway import Gateway

OPEN = ("/health", "/openapi.json", "/docs")
ABSENT = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/.well-known/",
    "/.well-known",
    "/register",
)
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
JSON = {"Content-Type": "application/json"}


def code(response: httpx2.Response) -> str:
    """The error's code, once its shape has been looked at."""
    body = response.json()
    assert response.headers["content-type"] == "application/json"
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"code", "message", "details"}
    assert isinstance(body["error"]["message"], str)
    assert isinstance(body["error"]["details"], dict)
    return str(body["error"]["code"])


def exchange(gateway: Gateway, request: bytes) -> bytes:
    """What comes back for these very octets, up to the end of the answer's headers and what came with them."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.partition(b"\r\n\r\n")[2]:
            octets = connection.recv(65536)
            if not octets:
                break
            answer += octets
        return answer
