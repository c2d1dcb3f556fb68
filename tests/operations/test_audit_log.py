"""audit_log: what an operator reads of the trail, of which mailboxes, in which order, and how it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from postroom.base.caller import Caller, Scope, Toolset
from postroom.base.errors import GatewayError
from postroom.operations.auditing import audit_log
from postroom.operations.operation import Surface
from postroom.store import audit
from postroom.store.audit import Event
from postroom.store.auditlist import Wanted, listing
from tests.operations.changing import ALL, Desk, begun, desk
from tests.servers import stores

pytestmark = pytest.mark.anyio

ADMIN = Caller("operator", frozenset({Scope.ADMIN}), frozenset({"work"}))


async def ask(at: Desk, caller: Caller = ADMIN, surface: Surface = Surface.MCP, **arguments: Any) -> dict[str, Any]:
    catalogue = {**at.corridor.catalogues[Toolset.MAILBOX], "audit_log": audit_log}
    at.corridor.catalogues = {Toolset.MAILBOX: catalogue}
    answer = await at.corridor.perform("audit_log", arguments, caller, surface)
    assert isinstance(answer, dict)
    return answer


def actions(answer: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    return [(record["action"], record.get("outcome")) for record in answer["records"]]


async def test_a_call_is_one_record_newest_first_with_what_intent_and_handler_said(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.call("move", uids=["1-1", "2-1"])
        await at.call("send", to=["ben@example.org"])
        await at.call("move", frozenset(), uids=["1-1"])
        await at.trail.write(begun("r_1"))
        assert await ask(at) == {
            "records": [
                {
                    "at": "2026-03-03T09:00:00Z",
                    "action": "mcp.move",
                    "token": "agent",
                    "mailbox": "work",
                },
                {
                    "at": "2026-03-03T09:00:00Z",
                    "action": "mcp.move",
                    "token": "agent",
                    "mailbox": "work",
                    "outcome": "refused",
                    "code": "permission_denied",
                },
                {
                    "at": "2026-03-03T09:00:00Z",
                    "action": "mcp.send",
                    "token": "agent",
                    "mailbox": "work",
                    "outcome": "ok",
                    "facts": {"to": ["ben@example.org"]},
                },
                {
                    "at": "2026-03-03T09:00:00Z",
                    "action": "mcp.move",
                    "token": "agent",
                    "mailbox": "work",
                    "outcome": "ok",
                    "facts": {"messages": 2, "moved": 2},
                },
            ]
        }


async def test_over_http_a_record_has_every_field(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.trail.write(Event("event", "cli.stop", at.clock.now(), facts={"what": "all"}))
        assert await ask(at, surface=Surface.HTTP) == {
            "records": [
                {
                    "seq": 1,
                    "at": "2026-03-03T09:00:00.000000Z",
                    "action": "cli.stop",
                    "token": None,
                    "mailbox": None,
                    "outcome": None,
                    "code": None,
                    "request": None,
                    "facts": {"what": "all"},
                }
            ]
        }


async def test_other_mailboxes_do_not_exist_and_what_has_none_is_for_every_operator(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.call("move", uids=["1-1"], mailbox="home")
        await at.trail.write(Event("event", "gateway.start", at.clock.now()))
        await at.call("move", uids=["1-1"], mailbox="work")
        assert actions(await ask(at)) == [("mcp.move", "ok"), ("gateway.start", None)]
        both = Caller("operator", ALL, frozenset({"work", "home"}))
        assert len((await ask(at, both))["records"]) == 3
        assert actions(await ask(at, both, mailbox="home")) == [("mcp.move", "ok")]
        with pytest.raises(GatewayError, match="no such mailbox"):
            await ask(at, mailbox="home")


async def test_filters_are_all_to_fit(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.call("move", uids=["1-1"])
        at.clock.wind(3600)
        await at.call("move", uids=[])
        await at.call("send", to=["ben@example.org"])
        assert actions(await ask(at, outcome="refused")) == [("mcp.move", "refused")]
        assert actions(await ask(at, action="mcp.move")) == [("mcp.move", "refused"), ("mcp.move", "ok")]
        assert actions(await ask(at, action="mcp.move", since="2026-03-03T10:00")) == [("mcp.move", "refused")]
        assert actions(await ask(at, before="2026-03-03T10:00:00Z")) == [("mcp.move", "ok")]
        assert actions(await ask(at, token="operator")) == []
        assert len(actions(await ask(at, token="agent"))) == 3


async def test_counts_of_reads_are_listed_for_an_action_that_is_named(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        for _ in range(3):
            await at.call("read")
        assert actions(await ask(at)) == []
        (record,) = (await ask(at, action="mcp.read"))["records"]
        assert record["facts"] == {"count": 3}


async def test_pages_go_on_where_the_last_one_ended_whatever_is_added(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.trail.write(*(Event("event", f"cli.n{n}", at.clock.now()) for n in range(7)))
        seen, cursor = [], {}
        while True:
            page = await ask(at, limit=3, **cursor)
            seen += [record["action"] for record in page["records"]]
            await at.trail.write(Event("event", "cli.later", at.clock.now()))
            if "next_cursor" not in page:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert seen == [f"cli.n{n}" for n in reversed(range(7))]
        cursor = {"cursor": (await ask(at, limit=3))["next_cursor"]}
        others = [Caller("other", ADMIN.scopes, ADMIN.mailboxes)]
        for caller, arguments in ((ADMIN, {"cursor": "3"}), (ADMIN, cursor | {"token": "x"}), (others[0], cursor)):
            with pytest.raises(GatewayError, match="is not a cursor of this list; start again without"):
                await ask(at, caller, **arguments)


async def test_a_model_is_shown_what_fits_and_how_to_go_on(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        to = [f"person{n}@example.org" for n in range(100)]
        for _ in range(30):
            await at.trail.write(Event("event", "mcp.send", at.clock.now(), facts={"to": to}))
        seen, cursor = 0, {}
        while True:
            page = await ask(at, **cursor)
            seen += len(page["records"])
            if "next_cursor" not in page:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert seen == 30
        assert len((await ask(at, surface=Surface.HTTP))["records"]) == 30


async def test_a_page_looks_at_a_bounded_number_of_records(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        rare = Event("event", "cli.rare", at.clock.now())
        await audit.record(at.database, [rare, *(Event("event", "cli.x", at.clock.now()) for _ in range(60_000)), rare])
        first = await listing(at.database, Wanted((), 10, action="cli.rare"))
        assert ([one["seq"] for one in first.records], first.next) == ([60_002], 10_003)
        second = await listing(at.database, Wanted((), 10, action="cli.rare", before=first.next))
        assert ([one["seq"] for one in second.records], second.next) == ([1], None)


@stores.only_on("sqlite", "a file of so many pages is full")
async def test_reading_goes_on_when_nothing_can_be_written(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.trail.write(Event("event", "cli.stop", at.clock.now()))
        await at.database.write(
            lambda c: c.execute("CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'x'); END")
        )
        at.trail.later(Event("event", "cli.resume", at.clock.now()))
        assert actions(await ask(at)) == [("cli.stop", None)]
        await at.database.write(lambda c: c.execute("DROP TRIGGER no"))
        assert actions(await ask(at)) == [("cli.resume", None), ("cli.stop", None)]
