"""The corridor on both surfaces: how often a token may call, and what becomes of the unexpected."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postroom.base.caller import Caller, Scope
from postroom.base.clock import HandClock
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.base.seal import KeyRing, Seal
from postroom.base.token import token_hash
from postroom.config import LimitsConfig, MailboxConfig, TokenConfig
from postroom.mailbox.directory import Directory
from postroom.operations.perform import Corridor
from postroom.operations.rate import Allowance, Rate
from postroom.store.database import Database
from postroom.surfaces.application import Application
from postroom.surfaces.authenticate import Authenticator
from postroom.surfaces.documents import Documents
from postroom.surfaces.guard import Guard
from tests.servers.mail import CANARY

pytestmark = pytest.mark.anyio

TOKENS = ("first-token-0123456789", "second-token-0123456789")
SEAL = Seal(KeyRing(0, {0: bytes(32)}))


class Broken(Directory):
    """A directory with a fault that nobody foresaw, whose words hold what must not get out."""

    def visible(self, caller: Caller) -> tuple[MailboxConfig, ...]:
        raise RuntimeError(f"password {CANARY} is wrong") from KeyError(CANARY)


@asynccontextmanager
async def serving(
    folder: Path, clock: HandClock, per_minute: int = 0, directory: Directory | None = None
) -> AsyncIterator[tuple[Sequence[httpx2.AsyncClient], io.StringIO]]:
    """The whole application but its socket, a client for each token, and the log."""
    log = io.StringIO()
    corridor = Corridor(
        directory or Directory((), SEAL, clock), clock, Log(clock, log), LimitsConfig(requests_per_minute=per_minute)
    )
    tokens = [
        TokenConfig.model_validate({"name": text[:5], "token_hash": token_hash(text), "scopes": list(Scope)})
        for text in TOKENS
    ]
    database = await Database.open(folder / "postroom.sqlite3", insecure_permissions=True)
    application = Application(
        Guard("http://localhost", (), ()),
        Authenticator(tokens, (), database, clock),
        corridor,
        Documents("http://localhost"),
        LimitsConfig(request_max_bytes=1_000_000),
        Log(clock, log),
        Meters(),
    )
    clients = [
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(application),
            base_url="http://localhost",
            headers={"Authorization": f"Bearer {text}"},
        )
        for text in TOKENS
    ]
    try:
        yield clients, log
    finally:
        for client in clients:
            await client.aclose()
        await database.close()


async def call(client: httpx2.AsyncClient, tool: str = "mailboxes", **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = await client.post("/mcp", json=message)
    assert response.status_code == 200
    return dict(json.loads(response.text.partition("data: ")[2])["result"])


# Rate


async def test_a_token_that_calls_too_often_is_told_when_to_come_back_on_both_surfaces(tmp_path: Path) -> None:
    clock = HandClock()
    async with serving(tmp_path, clock, per_minute=3) as ((client, other), _):
        assert (await client.get("/mailboxes")).status_code == 200
        assert (await call(client))["isError"] is False
        assert (await client.get("/mailboxes")).status_code == 200
        refused = await client.get("/mailboxes")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "20")
        body = {
            "error": {
                "code": "rate_limited",
                "message": "This token makes too many calls; try again in 20 s.",
                "details": {"retry_after": 20},
            }
        }
        assert refused.json() == body
        told = await call(client)
        assert told["isError"] is True
        assert told["structuredContent"] == body
        assert (await other.get("/mailboxes")).status_code == 200
        clock.wind(19.5)
        assert (await client.get("/mailboxes")).headers["retry-after"] == "1"
        clock.wind(0.5)
        assert (await client.get("/mailboxes")).status_code == 200
        assert (await client.get("/mailboxes")).status_code == 429


async def test_a_wrong_call_counts_as_one(tmp_path: Path) -> None:
    async with serving(tmp_path, HandClock(), per_minute=2) as ((client, _), _log):
        assert (await client.get("/mailboxes?wrong=1")).status_code == 422
        assert (await call(client, wrong=1))["isError"] is True
        assert (await client.get("/mailboxes")).status_code == 429


async def test_without_a_limit_nothing_is_counted(tmp_path: Path) -> None:
    async with serving(tmp_path, HandClock()) as ((client, _), _log):
        assert {(await client.get("/mailboxes")).status_code for _ in range(50)} == {200}


@example(per_minute=1, waits=[1.2905556270813179])
@given(per_minute=st.integers(1, 2_000), waits=st.lists(st.floats(0, 90), max_size=30))
def test_a_call_that_waits_as_long_as_it_is_told_goes_through(per_minute: int, waits: list[float]) -> None:
    clock = HandClock()
    rate, each = Rate(clock), Allowance(per_minute, per_minute)
    for wait in waits:
        clock.wind(wait)
        for _ in range(3):
            rate.spend("token", each)
    while not (seconds := rate.spend("token", each)):
        pass
    assert 1 <= seconds <= 60
    clock.wind(seconds)
    assert rate.spend("token", each) == 0


@given(per_minute=st.integers(1, 300), waits=st.lists(st.floats(0, 5), min_size=1, max_size=200))
def test_no_token_ever_gets_more_than_a_full_bucket_and_what_flowed_in(per_minute: int, waits: list[float]) -> None:
    clock = HandClock()
    rate, each = Rate(clock), Allowance(per_minute, per_minute)
    granted = 0
    for wait in waits:
        clock.wind(wait)
        granted += sum(rate.spend("token", each) == 0 for _ in range(3))
    assert granted <= per_minute * (1 + sum(waits) / 60) + 1e-6


def test_saved_calls_are_no_more_than_a_minute_s() -> None:
    clock = HandClock()
    rate, each = Rate(clock), Allowance(5, 5)
    rate.spend("token", each)
    clock.wind(86_400)
    assert [rate.spend("token", each) == 0 for _ in range(6)] == [True] * 5 + [False]


def test_a_burst_is_smaller_than_what_flows_in_over_a_minute() -> None:
    clock, each = HandClock(), Allowance(120, 30)
    rate = Rate(clock)
    assert [rate.spend("token", each) == 0 for _ in range(31)] == [True] * 30 + [False]
    clock.wind(1)
    assert [rate.spend("token", each) == 0 for _ in range(3)] == [True, True, False]


def test_any_number_of_tokens_costs_bounded_memory() -> None:
    rate, each = Rate(HandClock()), Allowance(5, 5)
    for number in range(25_000):
        rate.spend(f"token {number}", each)
    assert len(rate._left) <= 10_000


# The unexpected


async def test_an_unexpected_failure_says_nothing_of_itself_on_either_surface(tmp_path: Path) -> None:
    clock = HandClock()
    async with serving(tmp_path, clock, directory=Broken((), SEAL, clock)) as ((client, _), log):
        over_http = await client.get("/mailboxes")
        over_mcp = await call(client)
    body = {
        "error": {
            "code": "internal_error",
            "message": "The gateway failed unexpectedly; its log says more. Try again once.",
            "details": {},
        }
    }
    assert (over_http.status_code, over_http.json()) == (500, body)
    assert (over_mcp["isError"], over_mcp["structuredContent"]) == (True, body)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    first, second = (line for line in lines if line["event"] == "call.failed")
    assert {**first, "request": ""} == {**second, "request": ""}
    ended = [(line["request"], line["outcome"]) for line in lines if line["event"] == "call.done"]
    assert ended == [(first["request"], "internal_error"), (second["request"], "internal_error")]
    assert over_http.headers["x-request-id"] == first["request"]
    assert (first["event"], first["level"]) == ("call.failed", "error")
    assert (first["tool"], first["token"]) == ("mailboxes", "first")
    assert [error["type"] for error in first["errors"]] == ["RuntimeError", "KeyError"]
    assert any("visible" in place for place in first["errors"][0]["trace"])
    assert CANARY not in log.getvalue()
    assert "password" not in log.getvalue()


async def test_what_a_caller_can_do_wrong_is_never_logged_as_a_failure(tmp_path: Path) -> None:
    async with serving(tmp_path, HandClock()) as ((client, _), log):
        await client.get("/mailboxes?x=1")
        await client.get("/mailboxes/none/folders")
        await call(client, "no_such_tool")
        await call(client, "list_messages", limit=0)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert {(line["level"], line["event"]) for line in lines} == {("info", "call.done")}
    assert [line["tool"] for line in lines] == ["mailboxes", "list_folders", "unknown", "list_messages"]
