"""Who is let in, which hosts and origins are spoken to, and what is open to everybody."""

from __future__ import annotations

import httpx2
import pytest

from tests.servers.gateway import Gateway
from tests.surfaces.wire import ABSENT, OPEN, PING, code, exchange

NOBODY = (
    b'{"error":{"code":"unauthorized","message":"Send a valid token as Authorization: Bearer TOKEN.","details":{}}}'
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
GUARDED = (
    "/",
    "/mcp",
    "/mcp/",
    "/mailboxes",
    "/mailboxes/work/messages",
    "/mailboxes/work/messages/read",
    "/health/mailboxes",
    "/health/",
    "/docs/",
    "/openapi.json/x",
    "/register/x",
    "/.well-known2",
    "/no/such/path",
    "/%6dcp",
    "/health%3Fx",
    "/health%23x",
)


@pytest.mark.parametrize("path", GUARDED)
@pytest.mark.parametrize("method", METHODS)
def test_without_a_token_every_path_and_method_gets_the_same_answer(
    anyone: httpx2.Client, method: str, path: str
) -> None:
    response = anyone.request(method, path)
    assert response.status_code == 401
    assert response.content == (b"" if method == "HEAD" else NOBODY)
    assert response.headers["www-authenticate"] == 'Bearer realm="postroom"'
    assert not response.history


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer wrong-token-0123456789",
        "Bearer",
        "",
        "Basic dXNlcjpwYXNz",
        "Token {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer x{token}",
        "Bearer {token},{token}",
        "Bearer Bearer {token}",
        'Bearer "{token}"',
        "Bearer\t{token}",
        "Bearer " + "a" * 5_000,
    ],
)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/mailboxes")]
)
def test_with_a_wrong_token_too_and_it_is_called_invalid(
    gateway: Gateway, anyone: httpx2.Client, method: str, path: str, authorization: str
) -> None:
    value = authorization.format(token=gateway.tokens["all"])
    response = anyone.request(method, path, headers={"Authorization": value})
    assert (response.status_code, response.content) == (401, NOBODY)
    assert response.headers["www-authenticate"] == 'Bearer realm="postroom", error="invalid_token"'


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
def test_the_scheme_s_case_and_spaces_do_not_matter(gateway: Gateway, anyone: httpx2.Client, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} {gateway.tokens['all']}"}
    assert anyone.get("/mailboxes", headers=headers).status_code == 200


@pytest.mark.parametrize("name", ["token", "access_token", "authorization", "api_key"])
def test_a_token_in_the_query_lets_nobody_in(gateway: Gateway, anyone: httpx2.Client, name: str) -> None:
    for value in (gateway.tokens["all"], f"Bearer {gateway.tokens['all']}"):
        response = anyone.get("/mailboxes", params={name: value})
        assert (response.status_code, response.content) == (401, NOBODY)


def test_a_token_in_a_body_or_a_cookie_lets_nobody_in(gateway: Gateway, anyone: httpx2.Client) -> None:
    token = gateway.tokens["all"]
    assert anyone.post("/mcp", json=PING | {"token": token}).status_code == 401
    assert anyone.get("/mailboxes", headers={"Cookie": f"token={token}; Bearer={token}"}).status_code == 401


@pytest.mark.parametrize("path", OPEN)
def test_the_open_pages_need_no_token_and_no_method_but_get(anyone: httpx2.Client, path: str) -> None:
    response = anyone.get(path)
    assert response.status_code == 200
    assert response.content
    head = anyone.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == response.headers["content-length"]
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        refused = anyone.request(method, path)
        assert (refused.status_code, code(refused), refused.headers["allow"]) == (405, "method_not_allowed", "GET")


def test_health_tells_nothing_but_that_it_answers(anyone: httpx2.Client) -> None:
    assert anyone.get("/health").json() == {"status": "ok"}


@pytest.mark.parametrize("path", ABSENT)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize("token", [None, "all"])
def test_login_metadata_and_registration_are_plainly_absent(
    gateway: Gateway, path: str, method: str, token: str | None
) -> None:
    with gateway.http(token) as client:
        response = client.request(method, path)
    assert (response.status_code, code(response)) == (404, "not_found")
    assert "www-authenticate" not in response.headers


# Hosts and origins


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:9", "[::1]:8000", "[::1]"]
)
def test_a_loopback_host_is_served(client: httpx2.Client, host: str) -> None:
    assert client.get("/mailboxes", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "localhost@evil.example", "10.0.0.1", "localhost:x", ""]
)
@pytest.mark.parametrize("path", ["/mcp", "/mailboxes", "/health", "/docs", "/.well-known/x"])
def test_any_other_host_is_misdirected(client: httpx2.Client, host: str, path: str) -> None:
    response = client.get(path, headers={"Host": host})
    assert (response.status_code, code(response)) == (421, "permission_denied")


def test_a_request_without_a_host_is_misdirected(gateway: Gateway) -> None:
    assert exchange(gateway, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    "origin", [None, "http://localhost", "http://localhost:3000", "https://127.0.0.1:1", "http://[::1]:8000"]
)
def test_no_origin_and_loopback_origins_are_allowed(client: httpx2.Client, origin: str | None) -> None:
    assert client.post("/mcp", json=PING, headers={"Origin": origin} if origin else {}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "http://evil.example@localhost",
        "file://localhost",
        "localhost",
        "http://[::1",
        "http://[not-an-address]",
        "http://localhost:8000, http://evil.example",
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/mailboxes", "/health"])
def test_a_foreign_page_is_forbidden(client: httpx2.Client, origin: str, path: str) -> None:
    response = client.post(path, json=PING, headers={"Origin": origin})
    assert (response.status_code, code(response)) == (403, "permission_denied")
    assert "access-control-allow-origin" not in response.headers
