"""The audit of a running gateway: when it began and ended, who could not get in, and what was cut off before."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from postroom.base.clock import HandClock
from postroom.store import audit
from postroom.store.audit import Event
from postroom.store.auditcheck import verify
from postroom.store.audithead import read_head
from postroom.store.database import FILE_NAME
from tests.servers import stores
from tests.servers.gateway import running_gateway
from tests.servers.ports import refusing_port

CANARY = "zanzibar-canary-7319"


def mailboxes() -> str:
    return (
        f"  - {{name: work, imap: {{host: 127.0.0.1, port: {refusing_port()}, tls: none, username: a, password: b}}}}"
    )


def records_of(state: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for (line,) in stores.sql(state, "SELECT line FROM audit ORDER BY seq")]


def whole(state: Path) -> bool:
    async def read() -> bool:
        head = read_head(state)
        database = await stores.opened(state)
        verdict = await verify(database, [head] if head else [])
        await database.close()
        return head is not None and not verdict.findings and head.seq == verdict.records

    return asyncio.run(read())


def test_a_gateway_tells_of_its_configuration_its_life_and_who_could_not_get_in(tmp_path: Path) -> None:
    with running_gateway(tmp_path, mailboxes(), {"all": ("read", "work")}) as gateway:
        gateway.get("/mailboxes")
        gateway.get("/mailboxes", token=None)
        with gateway.http(None) as client:
            for _ in range(2):
                client.get("/mailboxes", headers={"Authorization": f"Bearer {CANARY}"})
        gateway.get("/health/mailboxes")
    told = [
        (one["phase"], one["action"], one.get("outcome"), one.get("facts")) for one in records_of(tmp_path / "state")
    ]
    (config, start), rest = told[:2], told[2:]
    assert config[:3] == ("event", "config.load", None)
    assert len(config[3]["sha256"]) == 64
    assert start[:3] == ("event", "gateway.start", None)
    assert sorted(rest, key=str) == [
        ("event", "auth.failure", "refused", {"count": 3, "source": "127.0.0.1"}),
        ("event", "gateway.stop", None, None),
        ("outcome", "http.health_check", "refused", None),
        ("summary", "http.mailboxes", None, {"count": 1}),
    ]
    assert whole(tmp_path / "state")
    if stores.chosen() == "sqlite":
        assert CANARY not in (tmp_path / "state" / FILE_NAME).read_bytes().decode("latin-1")


@pytest.mark.parametrize(
    ("action", "outcome"),
    [("mcp.move_messages", "unknown"), ("mcp.send", "failed")],
    ids=["nobody-knows", "the-journal-would-know-of-a-message-that-left"],
)
def test_a_start_settles_what_the_last_run_left_open(tmp_path: Path, action: str, outcome: str) -> None:
    async def leave() -> None:
        database = await stores.opened(tmp_path / "state")
        await audit.record(database, [Event("intent", action, HandClock().now(), "r_1", "agent", "work")])
        await database.close()

    asyncio.run(leave())
    with running_gateway(tmp_path, mailboxes(), {"all": ("read", "work")}):
        pass
    settled = [one for one in records_of(tmp_path / "state") if one.get("request") == "r_1"]
    assert [(one["phase"], one.get("outcome")) for one in settled] == [("intent", None), ("outcome", outcome)]
    assert whole(tmp_path / "state")


@pytest.mark.parametrize("line", ["'garbage'", "CAST(X'7bff7d' AS TEXT)"][: 2 if stores.chosen() == "sqlite" else 1])
def test_a_trail_that_somebody_spoiled_is_not_listed_as_if_it_were_whole(tmp_path: Path, line: str) -> None:
    with running_gateway(tmp_path, mailboxes(), {"all": ("read, organize, admin", "work")}) as gateway:
        assert len(gateway.get("/audit").json()["records"]) == 2
        stores.sql(tmp_path / "state", " ".join(("UPDATE audit SET line =", line, "WHERE seq = 1")))
        error = gateway.get("/audit").json()["error"]
        assert (error["code"], error["details"]["reason"]) == ("unavailable", "books")
        assert error["message"].endswith("the operator runs postroom audit verify.")
        assert gateway.call("create_folder", {"name": "x"})["error"]["code"] == "imap_error"
    assert not whole(tmp_path / "state")


@pytest.mark.parametrize("line", ["'garbage'", "'[]'", "'{}'", '\'{"request":"r_1","action":"mcp.reply","facts":[]}\''])
def test_an_open_intent_that_somebody_spoiled_does_not_keep_the_gateway_from_starting(
    tmp_path: Path, line: str
) -> None:
    async def leave() -> None:
        database = await stores.opened(tmp_path / "state")
        await audit.record(database, [Event("intent", "mcp.reply", HandClock().now(), "r_1", "agent", "work")])
        await database.close()

    asyncio.run(leave())
    stores.sql(tmp_path / "state", " ".join(("UPDATE audit SET line =", line)))
    with running_gateway(tmp_path, mailboxes(), {"all": ("read", "work")}) as gateway:
        assert gateway.get("/health", None).status_code == 200
    assert not whole(tmp_path / "state")
