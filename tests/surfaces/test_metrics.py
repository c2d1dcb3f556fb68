"""What a monitor reads, who may read it, and that a gateway with too much to do says so at once."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx2
import pytest

from postroom.surfaces import http_connection
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.ports import free_port
from tests.surfaces.wire import code

NOBODY = """
  - {name: none, smtp: {host: 127.0.0.1, port: 9, tls: none}}
"""
TOKENS = {"all": ("read, admin", "none")}


def numbers(page: str) -> dict[str, float]:
    """The samples of an exposition, by name and labels."""
    lines = (line.rpartition(" ") for line in page.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_calls_are_counted_by_tool_surface_and_end(tmp_path: Path) -> None:
    with running_gateway(tmp_path, NOBODY, TOKENS) as gateway:
        gateway.get("/mailboxes")
        gateway.call("mailboxes", {})
        gateway.call("no_such_tool", {})
        page = gateway.get("/metrics")
    told = numbers(page.text)
    assert page.headers["content-type"].startswith("text/plain; version=")
    assert told['postroom_calls_total{outcome="ok",surface="http",tool="mailboxes"}'] == 1
    assert told['postroom_calls_total{outcome="ok",surface="mcp",tool="mailboxes"}'] == 1
    assert told['postroom_calls_total{outcome="not_found",surface="mcp",tool="unknown"}'] == 1
    assert told['postroom_call_seconds_count{surface="mcp"}'] == 2
    assert told["postroom_requests_running"] == 1  # this one
    assert told["process_resident_memory_bytes"] > 1_000_000


@pytest.mark.parametrize(("token", "status"), [("read", 403), (None, 401), ("admin", 200)])
def test_the_metrics_need_a_token_with_admin(gateway: Gateway, token: str | None, status: int) -> None:
    assert gateway.get("/metrics", token).status_code == status


def test_nothing_is_changed_by_asking_in_another_way(gateway: Gateway) -> None:
    with gateway.http("admin") as client:
        assert code(client.post("/metrics")) == "method_not_allowed"


def test_an_address_of_their_own_gives_the_metrics_without_a_token_and_nothing_else(tmp_path: Path) -> None:
    port = free_port()
    with running_gateway(tmp_path, NOBODY, TOKENS, server=f", metrics_listen: '127.0.0.1:{port}'"):
        page = httpx2.get(f"http://127.0.0.1:{port}/metrics")
        assert "postroom_requests_running" in numbers(page.text)
        assert httpx2.get(f"http://127.0.0.1:{port}/mailboxes").status_code == 404
        assert httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}).status_code == 404


def test_a_request_for_which_there_is_no_room_is_told_so_before_it_is_read(tmp_path: Path) -> None:
    with running_gateway(tmp_path, NOBODY, TOKENS, "limits: {requests_at_once: 2}") as gateway:
        slow = [half_a_request(gateway) for _ in range(2)]
        refused = next(answer for _ in range(1_000) if (answer := gateway.get("/mailboxes")).status_code != 200)
        assert (refused.status_code, code(refused), refused.headers["retry-after"]) == (503, "unavailable", "1")
        assert refused.json()["error"]["details"] == {"reason": "overload", "retry_after": 1}
        for one in slow:
            one.close()
        assert any(gateway.get("/mailboxes").status_code == 200 for _ in range(1_000))
        assert numbers(gateway.get("/metrics").text)["postroom_requests_turned_away_total"] >= 1


def test_what_is_open_to_everybody_takes_no_place_and_is_answered_when_there_is_none(tmp_path: Path) -> None:
    with running_gateway(tmp_path, NOBODY, TOKENS, "limits: {requests_at_once: 2}") as gateway:
        deaf = [unread_answers(gateway) for _ in range(2)]
        assert {gateway.get("/mailboxes").status_code for _ in range(100)} == {200}
        slow = [half_a_request(gateway) for _ in range(2)]
        assert any(gateway.get("/mailboxes").status_code == 503 for _ in range(1_000))
        assert gateway.get("/health", None).status_code == 200  # nobody starts anew what has too much to do
        for one in (*deaf, *slow):
            one.close()


def test_who_takes_nothing_of_its_answers_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(http_connection, "TAKING_SECONDS", 0.2)
    with running_gateway(tmp_path, NOBODY, TOKENS) as gateway:
        before = open_files(gateway)
        deaf = unread_answers(gateway)
        assert any(open_files(gateway) == before + 2 for _ in range(1_000))  # both ends are ours
        assert any(open_files(gateway) == before + 1 for _ in range(2_000))
        assert not [one for one in caplog.records if one.name == "uvicorn.error"]
        deaf.close()


def open_files(gateway: Gateway) -> float:
    return numbers(gateway.get("/metrics").text)["process_open_fds"]


def unread_answers(gateway: Gateway) -> socket.socket:
    """A connection that asks for more than all buffers hold, without a token, and reads nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", gateway.port))
    connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
    return connection


def half_a_request(gateway: Gateway) -> socket.socket:
    """A connection that never sends the body that it has announced."""
    connection = socket.create_connection(("127.0.0.1", gateway.port))
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.tokens['all']}\r\n"
    connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n".encode())
    return connection
