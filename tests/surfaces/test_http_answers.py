"""What every answer carries: headers, frames, the one shape of an error."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.servers.gateway import Gateway
from tests.surfaces.wire import ABSENT, JSON, OPEN, PING, code


def answers(gateway: Gateway, client: httpx2.Client, anyone: httpx2.Client) -> Iterator[httpx2.Response]:
    yield anyone.get("/mailboxes")
    yield from (anyone.get(path) for path in (*OPEN, *ABSENT))
    yield anyone.post("/health")
    yield client.get("/mailboxes")
    yield client.head("/mailboxes")
    yield client.get("/nothing")
    yield client.put("/mailboxes")
    yield client.get("/mcp")
    yield client.get("/mailboxes/work/messages?limit=x")
    yield client.get("/mailboxes/down/folders")
    yield client.get("/health", headers={"Host": "evil.example"})
    yield client.get("/health", headers={"Origin": "http://evil.example"})
    yield client.get("/health", headers={"Origin": "http://[::1"})
    yield client.post("/mcp", json=PING)
    yield client.post("/mcp", json=PING | {"method": "tools/call", "params": {"name": "nothing"}})
    yield client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    yield client.post("/mcp", json=[])
    yield client.post("/mcp", content=b"{", headers=JSON)
    yield client.post("/mcp", json=PING, headers={"Accept": "text/html"})
    yield client.post("/mcp", content=b"{}")
    yield client.post("/mcp", json=PING, headers={"MCP-Protocol-Version": "2099-01-01"})


def test_every_answer_may_be_kept_by_nobody_and_is_what_it_says(
    gateway: Gateway, client: httpx2.Client, anyone: httpx2.Client
) -> None:
    statuses = set()
    for response in answers(gateway, client, anyone):
        told = f"{response.request.method} {response.request.url}: {response.status_code}"
        statuses.add(response.status_code)
        assert "no-store" in response.headers["cache-control"], told
        assert response.headers["vary"] == "Authorization", told
        assert response.headers["x-content-type-options"] == "nosniff", told
        assert not response.headers.keys() & {"server", "set-cookie", "mcp-session-id", "content-encoding"}, told
    assert statuses == {200, 202, 400, 401, 403, 404, 405, 406, 415, 421, 422, 502}


def test_nothing_is_compressed_so_that_no_length_tells_of_secrets(client: httpx2.Client) -> None:
    headers = {"Accept-Encoding": "gzip, br, zstd, deflate"}
    assert "content-encoding" not in client.get("/mailboxes/work/messages?limit=500", headers=headers).headers


def test_an_mcp_answer_is_one_server_sent_event(client: httpx2.Client) -> None:
    response = client.post("/mcp", json=PING | {"method": "tools/list"})
    assert response.headers["content-type"].partition(";")[0] == "text/event-stream"
    assert response.headers["cache-control"] == "no-store, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    body = response.content
    assert body.startswith(b"event: message\r\ndata: {")
    assert body.endswith(b"}\r\n\r\n")
    assert body.count(b"\n") == 3
    assert json.loads(body.partition(b"data: ")[2])["id"] == 1


def test_line_ends_of_every_kind_stay_inside_the_event(client: httpx2.Client) -> None:
    call = PING | {"id": "a\r\nb\u2028c\x85d", "method": "no\nsuch"}
    body = client.post("/mcp", json=call).content
    assert body.count(b"\n") == 3
    assert json.loads(body.partition(b"data: ")[2])["id"] == call["id"]


def test_a_notification_gets_an_empty_answer(client: httpx2.Client) -> None:
    response = client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (202, b"")
    assert response.headers["content-length"] == "0"


def test_the_modern_era_works_over_the_wire(client: httpx2.Client) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    call = PING | {"method": "tools/call", "params": {"name": "mailboxes", "_meta": meta}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mailboxes"}
    good = client.post("/mcp", json=call, headers=headers)
    assert good.status_code == 200
    assert json.loads(good.content.partition(b"data: ")[2])["result"]["resultType"] == "complete"
    for name in headers:
        lacking = client.post("/mcp", json=call, headers={key: value for key, value in headers.items() if key != name})
        assert (lacking.status_code, lacking.json()["error"]["code"]) == (400, -32020)
    lost = client.post("/mcp", json=call | {"method": "foo/bar"}, headers=headers | {"Mcp-Method": "foo/bar"})
    assert (lost.status_code, lost.json()["error"]["code"]) == (404, -32601)


def test_a_server_that_is_down_is_a_bad_gateway_that_says_when_to_come_back(client: httpx2.Client) -> None:
    for _ in range(2):
        response = client.get("/mailboxes/down/folders")
    assert (response.status_code, code(response)) == (502, "imap_error")
    details = response.json()["error"]["details"]
    assert (details["mailbox"], details["retryable"]) == ("down", True)
    assert response.headers.get("retry-after") == (str(details["retry_after"]) if "retry_after" in details else None)


@pytest.mark.parametrize(
    ("path", "token", "status", "expected"),
    [
        ("/mailboxes/work/folders", "none", 403, "permission_denied"),
        ("/mailboxes/work/messages?no=1", "none", 403, "permission_denied"),
        ("/mailboxes/private/folders", "read", 404, "not_found"),
        ("/mailboxes/sending/folders", "all", 409, "conflict"),
        ("/mailboxes/work/messages/1-1", "all", 404, "not_found"),
        ("/mailboxes/work/messages/x", "all", 422, "validation_error"),
    ],
)
def test_each_code_has_its_status(gateway: Gateway, path: str, token: str, status: int, expected: str) -> None:
    response = gateway.get(path, token)
    assert (response.status_code, code(response)) == (status, expected)


def test_a_token_without_the_scope_learns_that_before_its_body_is_looked_at(gateway: Gateway) -> None:
    with gateway.http("none") as client:
        for body in (b"{", b"[]", b'{"mailbox": "work"}', b'{"no": 1}'):
            response = client.post("/mailboxes/work/messages/read", content=body, headers=JSON)
            assert (response.status_code, code(response)) == (403, "permission_denied")
