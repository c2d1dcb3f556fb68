"""Before a token is shown, a request costs little: heads are bounded in size and time, and answers must be taken."""

from __future__ import annotations

import contextlib
import resource
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from postroom.surfaces import bodies, http_connection
from postroom.surfaces.http_connection import BoundedConnection
from tests.servers.gateway import Gateway

HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


def sent(gateway: Gateway, *chunks: bytes) -> bytes:
    """All that comes back until the gateway closes."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=30) as client:
        with contextlib.suppress(ConnectionError):
            for chunk in chunks:
                client.sendall(chunk)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while chunk := client.recv(65536):
                answer += chunk
    return answer


def test_an_endless_header_is_refused_and_costs_no_memory(gateway: Gateway) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = sent(gateway, HEAD + b"X: ", *[b"x" * 65536] * 800)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30 * 1024
    assert gateway.get("/health", None).status_code == 200


def test_an_endless_address_is_refused(gateway: Gateway) -> None:
    answer = sent(gateway, b"GET /", *[b"x" * 65536] * 100)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


def test_a_head_of_ordinary_size_is_served(gateway: Gateway) -> None:
    answer = sent(gateway, HEAD + b"X: " + b"x" * 30_000 + b"\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_requests_on_one_connection_are_each_measured_anew(gateway: Gateway) -> None:
    one = HEAD + b"X: " + b"x" * 30_000 + b"\r\n\r\n"
    answer = sent(gateway, *[one] * 5, HEAD + b"Connection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200 ") == 6


@pytest.mark.parametrize("begun", [b"", b"GET /health HTT", HEAD])
def test_a_head_that_never_ends_is_given_up(gateway: Gateway, begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "HEAD_SECONDS", 0.2)
    assert sent(gateway, begun) == b""


@pytest.mark.parametrize("path", [b"/mcp", b"/mailboxes/work/messages/read"])
def test_a_body_that_never_comes_is_given_up(gateway: Gateway, path: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.2)
    bearer = b"Authorization: Bearer " + gateway.tokens["all"].encode()
    head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + bearer
    answer = sent(gateway, head + b"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
    assert answer.startswith(b"HTTP/1.1 503 ")


class Unread:
    """A transport whose other end takes so many octets between two looks."""

    def __init__(self, waiting: int, takes: int, end: socket.socket) -> None:
        self.waiting, self.takes, self.aborted, self.timers = waiting, takes, False, list[Any]()
        self.end = end

    def get_extra_info(self, _: str) -> socket.socket:
        return self.end

    def is_closing(self) -> bool:
        return True

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def abort(self) -> None:
        self.aborted = True

    def call_later(self, _: float, look: Any, *arguments: Any) -> Any:
        self.timers.append(lambda: look(*arguments))
        return SimpleNamespace(cancel=self.timers.clear)

    def pass_time(self) -> None:
        self.waiting = max(0, self.waiting - self.takes)
        self.timers.pop()()


def closing(transport: Unread) -> None:
    """A connection over it that waits for the client to take the rest."""
    connection = BoundedConnection(Config(lambda _: None, log_config=None), ServerState(), {}, cast(Any, transport))
    connection.transport = cast(Any, transport)
    connection.timeout_keep_alive_handler()


@pytest.mark.parametrize(("takes", "rounds"), [(20_000, 3), (0, 1)])
def test_a_closing_connection_waits_for_a_slow_client_and_not_for_one_that_takes_nothing(
    takes: int, rounds: int
) -> None:
    with contextlib.closing(socket.socket()) as end:
        transport = Unread(60_000, takes, end)
        closing(transport)
        for _ in range(rounds):
            assert not transport.aborted
            transport.pass_time()
        assert transport.aborted is (takes == 0)


def test_what_a_client_takes_of_what_the_system_holds_counts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        end, _ = server.accept()
        with contextlib.closing(end):
            end.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    end.send(bytes(65536))
            transport = Unread(60_000, 0, end)
            closing(transport)
            left = 2_000_000
            while left > 0:
                left -= len(client.recv(65536))
            transport.pass_time()
            assert not transport.aborted
            transport.pass_time()
            assert transport.aborted
