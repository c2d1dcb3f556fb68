"""Methods, paths, queries and bodies: which are taken, and how each of the others is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.servers.gateway import Gateway
from tests.surfaces.wire import JSON, PING, code, exchange

EACH = {"date": "", "x-request-id": ""}
"""What every answer has of its own."""


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp?x=1"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_mcp_is_spoken_by_post_alone(client: httpx2.Client, method: str, path: str) -> None:
    response = client.request(method, path, headers={"Accept": "text/event-stream"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        assert code(response) == "method_not_allowed"


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/mailboxes", "GET"),
        ("/mailboxes/work/messages", "GET"),
        ("/mailboxes/work/messages/5-1/raw", "GET"),
        ("/mailboxes/work/messages/read", "DELETE, GET, POST"),
        ("/health/mailboxes", "GET"),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS"])
def test_a_route_names_the_methods_that_it_has(client: httpx2.Client, method: str, path: str, allow: str) -> None:
    response = client.request(method, path)
    assert (response.status_code, code(response), response.headers["allow"]) == (405, "method_not_allowed", allow)


def test_both_spellings_of_the_endpoint_answer_with_the_same_octets(client: httpx2.Client) -> None:
    for body in (PING, PING | {"method": "tools/list"}, PING | {"method": "no/such"}, [PING]):
        plain, slash = client.post("/mcp", json=body), client.post("/mcp/", json=body)
        assert (plain.status_code, plain.content) == (slash.status_code, slash.content)
        assert {**plain.headers, **EACH} == {**slash.headers, **EACH}
        assert not plain.is_redirect


@pytest.mark.parametrize(
    "path", ["/", "/mailboxes/work", "/mailboxes/work/nothing", "/mcp/x", "/mailboxes/work/folders/x"]
)
def test_a_path_that_does_not_exist_is_not_found(client: httpx2.Client, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, code(response)) == (404, "not_found")


@pytest.mark.parametrize(
    "segment", ["a%2Fb", "%2E%2E", "%2e%2e%2fwork", "%00", "%FF", "%0D%0AX: y", "*", "work%20", "WORK", ";"]
)
def test_an_odd_segment_stays_one_segment(client: httpx2.Client, segment: str) -> None:
    response = client.get(f"/mailboxes/{segment}/folders")
    assert (response.status_code, code(response)) == (404, "not_found")
    assert response.json()["error"]["details"]["argument"] == "mailbox"
    uid = client.get(f"/mailboxes/work/messages/{segment}")
    assert (uid.status_code, code(uid)) == (422, "validation_error")
    assert uid.json()["error"]["details"]["argument"] == "uid"


def test_an_escaped_segment_is_the_same_segment(client: httpx2.Client) -> None:
    assert client.get("/mailboxes/%77ork/folders").content == client.get("/mailboxes/work/folders").content


def test_a_folder_with_a_slash_is_named_in_the_query(client: httpx2.Client) -> None:
    response = client.get("/mailboxes/work/messages?folder=deep%2Fer%2Fstill")
    assert (response.status_code, response.json()) == (200, {"messages": [], "complete": True})


def test_a_get_has_its_arguments_in_the_query_and_a_body_changes_nothing(client: httpx2.Client) -> None:
    plain = client.get("/mailboxes/work/messages?limit=1")
    assert client.request("GET", "/mailboxes/work/messages?limit=1", json={"limit": 2}).content == plain.content


@pytest.mark.parametrize(
    ("query", "argument", "reason"),
    [
        ("limit=1&limit=2", "limit", "must be a whole number"),
        ("folder=a&folder=b", "folder", "must be a string"),
        ("limit=", "limit", "must be a whole number"),
        ("limit=ten", "limit", "must be a whole number"),
        ("limit=0", "limit", "must be at least 1"),
        ("limit=501", "limit", "must be at most 500"),
        ("limt=1", "limt", "unknown argument; did you mean limit?"),
        ("mailbox=private", "mailbox", "is given twice; the path, the query and the body are one set of arguments"),
        ("cursor=x", "cursor", "is not a cursor of this list; start again without a cursor"),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused(client: httpx2.Client, query: str, argument: str, reason: str) -> None:
    response = client.get(f"/mailboxes/work/messages?{query}")
    assert (response.status_code, code(response)) == (422, "validation_error")
    error = response.json()["error"]
    assert error["details"] == {"argument": argument, "reason": reason}
    assert error["message"] == f"{argument}: {reason}"


def test_an_argument_in_query_and_body_is_refused_whatever_it_says(client: httpx2.Client) -> None:
    response = client.post("/mailboxes/work/messages/read?folder=INBOX", json={"folder": "INBOX", "uids": ["1"]})
    assert (response.status_code, response.json()["error"]["details"]["argument"]) == (422, "folder")
    response = client.post("/mailboxes/work/messages/read", json={"mailbox": "work", "uids": ["1"]})
    assert (response.status_code, response.json()["error"]["details"]["argument"]) == (422, "mailbox")


def test_head_is_get_without_its_body(client: httpx2.Client) -> None:
    for path in ("/mailboxes", "/mailboxes/work/folders", "/mailboxes/nowhere/folders", "/nothing"):
        head, get = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert {**head.headers, **EACH} == {**get.headers, **EACH}


# Bodies


@pytest.mark.parametrize("accept", ["application/json", "text/html", "image/*", "text/event-streams-not"])
def test_a_client_that_takes_no_event_stream_is_told_what_to_send(client: httpx2.Client, accept: str) -> None:
    response = client.post("/mcp", json=PING, headers={"Accept": accept})
    assert (response.status_code, code(response)) == (406, "validation_error")


@pytest.mark.parametrize(
    "accept", ["application/json, text/event-stream", "text/event-stream", "*/*", "text/*", "TEXT/EVENT-STREAM;q=0.9"]
)
def test_every_accept_that_holds_an_event_stream_will_do(client: httpx2.Client, accept: str) -> None:
    assert client.post("/mcp", json=PING, headers={"Accept": accept}).status_code == 200


def test_accept_may_be_said_in_two_lines(client: httpx2.Client) -> None:
    headers = [*JSON.items(), ("Accept", "application/json"), ("Accept", "text/event-stream")]
    assert client.post("/mcp", content=json.dumps(PING), headers=headers).status_code == 200


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"]
)
def test_mcp_takes_nothing_but_json(client: httpx2.Client, kind: str | None) -> None:
    response = client.post("/mcp", content=json.dumps(PING), headers={"Content-Type": kind} if kind else {})
    assert (response.status_code, code(response)) == (415, "validation_error")


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_may_be_spelled_as_it_likes(client: httpx2.Client, kind: str) -> None:
    assert client.post("/mcp", content=json.dumps(PING), headers={"Content-Type": kind}).status_code == 200


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_routing_header_said_twice_is_refused(client: httpx2.Client, name: str) -> None:
    headers = [*JSON.items(), (name, "2025-11-25"), (name, "2025-11-25")]
    response = client.post("/mcp", content=json.dumps(PING), headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 40 + b"1" + b"}" * 40, b'"\\ud800"']
)
def test_a_body_that_is_no_json_is_refused_on_both_surfaces(client: httpx2.Client, body: bytes) -> None:
    mcp = client.post("/mcp", content=body, headers=JSON)
    assert (mcp.status_code, mcp.json()["error"]["code"]) == (400, -32700)
    http = client.post("/mailboxes/work/messages/read", content=body, headers=JSON)
    assert (http.status_code, code(http)) == (422, "validation_error")


def test_json_may_be_as_deep_as_any_call_needs(client: httpx2.Client) -> None:
    deep: object = 1
    for _ in range(20):
        deep = [deep]
    response = client.post("/mcp", json=PING | {"params": {"deep": deep}})
    assert response.status_code == 200


@pytest.mark.parametrize("body", ["[]", "7", "null", '"text"', "[{}]"])
def test_arguments_over_http_are_one_object(client: httpx2.Client, body: str) -> None:
    response = client.post("/mailboxes/work/messages/read", content=body, headers=JSON)
    assert (response.status_code, code(response)) == (422, "validation_error")
    assert response.json()["error"]["message"] == "body: must be a JSON object of arguments"


def test_a_form_is_no_json(client: httpx2.Client) -> None:
    response = client.post("/mailboxes/work/messages/read", data={"uids": "1"})
    assert response.status_code == 422
    assert response.json()["error"]["message"] == "body: must be JSON, with Content-Type: application/json"


@pytest.mark.parametrize("path", ["/mcp", "/mailboxes/work/messages/read"])
def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_read(gateway: Gateway, path: str) -> None:
    answer = exchange(
        gateway,
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.tokens['all']}\r\n"
        "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{".encode(),
    )
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"too_large"' in answer
    assert b'"details":{"limit":40000000}' in answer


def test_nobody_s_large_body_is_refused_before_it_is_read(gateway: Gateway) -> None:
    request = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n{"
    assert exchange(gateway, request).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("path", ["/mcp", "/mailboxes/work/messages/read"])
def test_a_body_that_grows_too_large_is_refused(client: httpx2.Client, path: str) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(41):
            yield b" " * 1_000_000

    response = client.post(path, content=chunks(), headers=JSON)
    assert (response.status_code, code(response)) == (413, "too_large")
