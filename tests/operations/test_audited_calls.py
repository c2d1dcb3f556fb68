"""What the corridor writes down, and when: before the effect, before a refusal's answer, and whoever hangs up."""

from __future__ import annotations

import asyncio
import io
import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path

import pytest

from postroom.base.caller import Caller, Scope, Toolset
from postroom.base.clock import HandClock
from postroom.base.errors import Code, GatewayError
from postroom.base.logs import Log
from postroom.config import LimitsConfig
from postroom.mailbox.directory import Directory
from postroom.operations.operation import Call, Surface
from postroom.operations.perform import Corridor
from postroom.operations.trail import Counted, Trail
from postroom.store import audit
from postroom.store.auditcheck import verify
from postroom.store.audithead import read_head
from postroom.store.database import FILE_NAME, Database
from postroom.store.switch import Stopped
from tests.operations.changing import ALL, begun, catalogue_of, desk
from tests.operations.test_corridor import SEAL
from tests.servers import stores

pytestmark = pytest.mark.anyio

CANARY = "zanzibar-canary-7319"


async def test_the_intent_is_on_the_disk_before_the_effect_and_the_outcome_after_it(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        seen = []

        async def look(call: Call) -> None:
            seen.extend(at.on_disk())
            call.note(checked=True)

        at.within.append(look)
        assert await at.call("move", uids=["1-1", "2-1"]) == {"done": 2}
        (intent,) = seen
        request = intent.pop("request")
        assert intent == {
            "phase": "intent",
            "action": "mcp.move",
            "token": "agent",
            "mailbox": "work",
            "facts": {"messages": 2},
        }
        _, outcome = await at.records()
        assert outcome == intent | {
            "phase": "outcome",
            "request": request,
            "outcome": "ok",
            "facts": {"messages": 2, "checked": True, "moved": 2},
        }


@pytest.mark.parametrize(
    ("name", "code", "told", "audited"),
    [
        ("move", Code.PERMISSION_DENIED, "refused", 1),
        ("move", Code.NOT_FOUND, "refused", 1),
        ("move", Code.IMAP_ERROR, "failed", 0),
        ("move", Code.UNAVAILABLE, "failed", 0),
        ("read", Code.PERMISSION_DENIED, "refused", 1),
        ("read", Code.POLICY_DENIED, "refused", 1),
        ("read", Code.NOT_FOUND, None, 0),
        ("read", Code.IMAP_ERROR, None, 0),
    ],
)
async def test_how_a_call_ends_is_told_and_a_refusal_before_its_answer(
    tmp_path: Path, name: str, code: Code, told: str | None, audited: int
) -> None:
    async with desk(tmp_path / "state") as at:

        async def fail(call: Call) -> None:
            raise GatewayError(code, "words")

        at.within.append(fail)
        answer = await at.call(name, **({"uids": ["1-1"]} if name == "move" else {}))
        assert answer["code"] == code
        assert len([one for one in at.on_disk() if one["phase"] == "outcome"]) == audited
        ended = [one for one in await at.records() if one["phase"] == "outcome"]
        assert [(one["outcome"], one["code"]) for one in ended] == ([(told, code)] if told else [])


async def test_an_unknown_end_is_told_as_unknown(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:

        async def lose(call: Call) -> None:
            raise GatewayError(Code.SMTP_ERROR, "words", outcome="unknown")

        at.within.append(lose)
        await at.call("send", to=["ben@example.org"])
        intent, outcome = await at.records()
        assert intent["facts"] == {"to": ["ben@example.org"]}
        assert (outcome["outcome"], outcome["code"]) == ("unknown", "smtp_error")


async def test_every_refused_write_is_one_record_before_its_answer(tmp_path: Path) -> None:
    async with desk(tmp_path / "state", LimitsConfig(requests_per_minute=6, moves_per_hour=1)) as at:
        read_only = frozenset({Scope.READ})
        await at.call("move", read_only, uids=["1-1"])
        await at.call("move", uids=[])
        await at.call("move", uids=["1-1"], wrong=1)
        await at.call("move", uids=["1-1"], mailbox="none")
        await at.call("send", frozenset({Scope.DRAFT}), to=["ben@example.org"])
        await at.throw(Stopped.CHANGES)
        await at.call("move", uids=["1-1"])
        await at.throw(None)
        await at.call("move", uids=["1-1", "2-1"])
        await at.call("move", ALL, Surface.HTTP, uids=["1-1"])
        told = [(one["action"], one.get("mailbox"), one["code"]) for one in at.on_disk() if one["phase"] == "outcome"]
        assert told == [
            ("mcp.move", "work", "permission_denied"),
            ("mcp.move", "work", "validation_error"),
            ("mcp.move", "work", "validation_error"),
            ("mcp.move", None, "not_found"),
            ("mcp.send", "work", "permission_denied"),
            ("mcp.move", "work", "unavailable"),
            ("mcp.move", "work", "rate_limited"),
            ("http.move", "work", "rate_limited"),
        ]
        assert {one["outcome"] for one in at.on_disk() if one["phase"] == "outcome"} == {"refused"}


async def test_reads_are_counted_by_the_minute_and_a_read_without_leave_is_told_at_once(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        for _ in range(3):
            await at.call("read")
        await at.call("read", mailbox="home")
        assert at.on_disk() == []
        await at.call("read", frozenset({Scope.SEND}))
        (refused,) = at.on_disk()
        assert (refused["action"], refused["outcome"], refused["code"]) == ("mcp.read", "refused", "permission_denied")
        assert [(one["mailbox"], one["facts"]) for one in (await at.records())[1:]] == [
            ("work", {"count": 3}),
            ("home", {"count": 1}),
        ]


async def test_nothing_that_people_wrote_or_looked_for_gets_into_the_state_folder(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.call("move", uids=["1-1"], subject=CANARY, folder=CANARY)
        await at.call("move", uids=[CANARY], wrong=CANARY)
        await at.call("move", **{"uids": ["1-1"], CANARY: CANARY})
        await at.call("move", uids=["1-1"], mailbox=CANARY)
        await at.call("send", to=["ben@example.org"], body=CANARY)
        await at.call("read", text=CANARY)
        await at.call("read", frozenset(), text=CANARY, mailbox=CANARY)
        await at.call(CANARY)
        assert len(await at.records()) >= 8
        await at.trail.close()
        for file in (tmp_path / "state").iterdir():
            assert CANARY.encode() not in file.read_bytes()
        assert CANARY not in at.log.getvalue()


async def test_facts_that_cannot_be_written_do_not_stop_the_trail(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:

        async def note(call: Call) -> None:
            call.note(odd=object(), broken="\ud800")

        at.within.append(note)
        await at.call("move", uids=["1-1"])
        assert (await at.records())[1]["facts"] == {"messages": 1, "unwritable": True}


# Whoever hangs up


async def test_a_change_is_finished_and_told_although_its_caller_hangs_up(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        reached, go_on = asyncio.Event(), asyncio.Event()

        async def wait(call: Call) -> None:
            reached.set()
            await go_on.wait()

        at.within.append(wait)
        async with asyncio.TaskGroup() as tasks:
            caller = tasks.create_task(at.call("move", uids=["1-1"]))
            await reached.wait()
            caller.cancel()
        go_on.set()
        await at.books.drain(5)
        assert [one.get("outcome") for one in await at.records()] == [None, "ok"]


async def test_what_is_cut_off_at_the_end_gets_its_outcome_at_the_next_start(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        reached = asyncio.Event()

        async def wait(call: Call) -> None:
            reached.set()
            await asyncio.Event().wait()

        at.within.append(wait)
        async with asyncio.TaskGroup() as tasks:
            caller = tasks.create_task(at.call("move", uids=["1-1"]))
            await reached.wait()
            caller.cancel()
        await at.books.drain(0)
        assert [one["phase"] for one in await at.records()] == ["intent"]
    async with desk(tmp_path / "state") as at:
        await at.trail.settle()
        (intent, outcome) = await at.records()
        assert (outcome["request"], outcome["outcome"], outcome["mailbox"]) == (intent["request"], "unknown", "work")
        await at.trail.settle()
        assert len(await at.records()) == 2


async def test_somebody_who_knows_better_may_say_how_it_ended(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.trail.write(begun("r_1"), begun("r_2"))

        async def journal(intent: dict[str, object]) -> tuple[str, dict[str, object]] | None:
            return ("ok", {"message_id": "<a@b>"}) if intent["request"] == "r_1" else None

        await at.trail.settle(journal)
        ended = (await at.records())[2:]
        assert [(one["outcome"], one.get("facts")) for one in ended] == [
            ("ok", {"message_id": "<a@b>"}),
            ("unknown", None),
        ]


def _killed_within(folder: Path) -> None:
    async def die(call: Call) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async def go() -> None:
        async with desk(folder) as at:
            await at.call("move", uids=["1-1"])
            at.within.append(die)
            await at.call("move", uids=["1-1"])

    asyncio.run(go())


@stores.only_on("sqlite", "the process finds the file by its folder")
async def test_a_process_killed_within_a_change_leaves_a_whole_chain_and_an_open_intent(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_killed_within, args=(tmp_path / "state",))
    process.start()
    await asyncio.to_thread(process.join)
    assert process.exitcode == -signal.SIGKILL
    async with desk(tmp_path / "state") as at:
        await at.trail.settle()
        assert [one.get("outcome") for one in await at.records()] == [None, "ok", None, "unknown"]
        assert (await verify(at.database, [])).findings == ()


# When nothing can be written


@stores.only_on("sqlite", "a file of so many pages is full")
async def test_when_the_trail_cannot_be_written_changes_are_refused_and_reading_goes_on(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        done = []

        async def act(call: Call) -> None:
            done.append(call.request)

        await at.call("move", uids=["1-1"])
        at.within.append(act)
        pages = await at.database.write(lambda c: c.execute("PRAGMA page_count").fetchone()[0])
        await at.database.write(lambda c: c.execute(f"PRAGMA max_page_count = {pages}").fetchone())
        answers = [await at.call("move", uids=["1-1"], subject="x" * 9) for _ in range(40)]
        assert answers[-1]["code"] == "unavailable"
        assert answers[-1]["details"] == {"reason": "books", "retry_after": 5}
        assert (await at.call("move", uids=[]))["code"] == "unavailable"
        changed = len(done)
        assert changed == sum("done" in answer for answer in answers)
        assert await at.call("read") == {"done": 1}
        assert (await at.call("read", frozenset()))["code"] == "permission_denied"
        assert at.happened() == ["audit.failed"]
        await at.database.write(lambda c: c.execute("PRAGMA max_page_count = 100000").fetchone())
        assert await at.call("move", uids=["1-1"]) == {"done": 1}
        ended = [one["outcome"] for one in await at.records() if one["phase"] == "outcome" and one.get("request")]
        assert ended == ["ok"] * (changed + 2)
        assert at.happened()[-1] == "audit.works_again"


async def test_without_books_nothing_is_changed(tmp_path: Path) -> None:
    clock = HandClock()
    catalogues = {Toolset.MAILBOX: catalogue_of([])}
    corridor = Corridor(Directory((), SEAL, clock), clock, Log(clock), LimitsConfig(), catalogues=catalogues)
    with pytest.raises(GatewayError) as refused:
        await corridor.perform("move", {"uids": ["1-1"]}, Caller("agent", ALL, frozenset()), Surface.MCP)
    assert refused.value.code is Code.NOT_FOUND


# The stop switch


async def test_the_switch_takes_effect_on_the_next_call(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        outcomes = {}
        for what in (None, *Stopped, None):
            await at.throw(what)
            calls = {
                "send": await at.call("send", to=["ben@example.org"]),
                "draft": await at.call("send", to=["ben@example.org"], draft=True),
                "move": await at.call("move", uids=["1-1"]),
                "read": await at.call("read"),
            }
            outcomes[what] = [name for name, answer in calls.items() if "done" in answer]
            refused = [answer for answer in calls.values() if "done" not in answer]
            assert all(one["details"] == {"reason": "stopped"} for one in refused)
            assert all("topped by the operator" in one["message"] for one in refused)
        assert outcomes == {
            None: ["send", "draft", "move", "read"],
            Stopped.SENDS: ["draft", "move", "read"],
            Stopped.CHANGES: ["read"],
            Stopped.ALL: [],
        }


async def test_a_send_that_is_under_way_can_see_the_switch(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        seen = []

        async def look(call: Call) -> None:
            seen.append(await call.stopped())
            await at.throw(Stopped.SENDS)
            seen.append(await call.stopped())

        at.within.append(look)
        await at.call("send", to=["ben@example.org"])
        assert seen == [False, True]


# Limits


async def test_moves_of_an_hour_are_limited_over_restarts(tmp_path: Path) -> None:
    limits = LimitsConfig(moves_per_hour=5)
    async with desk(tmp_path / "state", limits) as at:
        assert await at.call("move", uids=["1-1", "2-1", "3-1"]) == {"done": 3}
        refused = await at.call("move", uids=["1-1", "2-1", "3-1"])
        assert (refused["code"], refused["details"]) == ("rate_limited", {"retry_after": 3600, "limit": 5})
        assert (await at.call("move", uids=[f"{n}-1" for n in range(6)]))["message"].endswith(
            "name at most 5 in a call."
        )
    async with desk(tmp_path / "state", limits) as at:
        assert (await at.call("move", uids=["1-1", "2-1", "3-1"]))["code"] == "rate_limited"
        at.clock.wind(3600)
        assert "done" in await at.call("move", uids=["1-1", "2-1", "3-1"])


async def test_a_store_that_cannot_be_read_is_told_to_the_log_and_ends_nobody(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        await at.database.close()
        await at.trail.anchor()
        assert "audit.failed" in at.log.getvalue()


async def test_a_head_that_cannot_be_written_is_told_once_for_as_long_as_that_lasts(tmp_path: Path) -> None:
    database, clock, log = await stores.opened(tmp_path / "state"), HandClock(), io.StringIO()
    folder = tmp_path / "away"
    trail = Trail(database, folder, clock, Log(clock, log))
    for times in (1, 2):
        await trail.close()
        await trail.close()
        assert log.getvalue().count('"audit.failed"') == times
        folder.mkdir()
        await trail.close()
        shutil.rmtree(folder)
    await database.close()


async def test_the_head_follows_what_is_written(tmp_path: Path) -> None:
    async with desk(tmp_path / "state") as at:
        async with asyncio.TaskGroup() as tasks:
            keeper = tasks.create_task(at.trail.keep())
            await at.call("move", uids=["1-1"])
            while read_head(at.folder) is None or len(at.on_disk()) < 2:
                at.clock.wind(1)
                await asyncio.sleep(0)
            keeper.cancel()
        await at.trail.close()
        assert read_head(at.folder) == await audit.tip(at.database)


async def test_a_thousand_sources_and_more_cost_bounded_memory(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "state" / FILE_NAME)
    clock = HandClock()
    trail = Trail(database, tmp_path / "state", clock, Log(clock))
    for number in range(5_000):
        trail.count(Counted("event", "auth.failure", source=f"10.0.0.{number}"))
    await trail.flush()
    lines = await database.read(lambda connection: connection.execute("SELECT line FROM audit").fetchall())
    records = [json.loads(line) for (line,) in lines]
    await database.close()
    assert len(records) == 1_001
    assert records[-1]["facts"] == {"count": 4_000, "source": "many"}
