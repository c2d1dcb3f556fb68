"""The audit trail on its file: what is added stays, and whatever is done to it is found and placed."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.base.clock import HandClock
from postroom.store import audit
from postroom.store.audit import Event, Tip
from postroom.store.auditcheck import Verdict, verify
from postroom.store.audithead import FILE_NAME, read_anchor, read_head, write_head
from postroom.store.auditkeys import DayKey, present_key
from postroom.store.database import Database
from postroom.store.worker import StoreError

pytestmark = pytest.mark.anyio

START = HandClock().now()

Rows = list[tuple[int, str]]


def event(number: int, day: int = 0) -> Event:
    at = START + timedelta(days=day, seconds=number)
    return Event("event", "mcp.move_messages", at, f"r_{number}", "agent", "work", "ok", facts={"uids": number})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with nine records of three days, its head beside it."""
    folder = tmp_path_factory.mktemp("trail") / "state"

    async def write() -> None:
        database = await Database.open(folder / "postroom.sqlite3")
        for day in range(3):
            await audit.record(database, [event(number, day) for number in range(3)])
        write_head(folder, await audit.tip(database), START)
        await database.close()

    asyncio.run(write())
    return folder


def rows_of(folder: Path) -> Rows:
    with closing(sqlite3.connect(folder / "postroom.sqlite3")) as connection:
        return connection.execute("SELECT seq, line FROM audit ORDER BY seq").fetchall()


@contextmanager
def rewritten(folder: Path, rows: Rows, statement: str = "") -> Iterator[Path]:
    """A copy of the state with these rows in place of its own, put there with SQL as anybody could, and changed."""
    with tempfile.TemporaryDirectory() as copy:
        state = Path(shutil.copytree(folder, Path(copy) / "state"))
        with closing(sqlite3.connect(state / "postroom.sqlite3")) as connection, connection:
            connection.execute("DELETE FROM audit")
            connection.executemany("INSERT INTO audit VALUES (?, ?)", rows)
            connection.execute(statement)
        yield state


def judged(folder: Path, first_key: DayKey | None = None, known: list[Tip] | None = None) -> Verdict:
    async def read() -> Verdict:
        head = read_head(folder)
        database = await Database.open(folder / "postroom.sqlite3")
        try:
            return await verify(database, [*([head] if head else []), *(known or [])], first_key)
        finally:
            await database.close()

    return asyncio.run(read())


def test_a_trail_that_nobody_touched_is_found_whole(written: Path) -> None:
    verdict = judged(written)
    assert (verdict.records, verdict.sealed, verdict.findings) == (9, 3, ())


def test_a_record_is_canonical_and_names_the_one_before(written: Path) -> None:
    (_, first), (_, second), *_ = rows_of(written)
    record = json.loads(second)
    assert second == json.dumps(record, sort_keys=True, separators=(",", ":"))
    assert record["prev"] == audit.line_hash(first)
    assert {name: record[name] for name in record.keys() - {"prev", "mac"}} == {
        "v": 1,
        "seq": 2,
        "key": 0,
        "phase": "event",
        "action": "mcp.move_messages",
        "at": "2026-03-03T09:00:01.000000Z",
        "request": "r_1",
        "token": "agent",
        "mailbox": "work",
        "outcome": "ok",
        "facts": {"uids": 1},
    }


def shifted(rows: Rows, start: int = 1) -> Rows:
    """The lines under numbers without a gap, as one would who hides what was done."""
    return [(number, line) for number, (_, line) in enumerate(rows, start)]


def renumbered(rows: Rows) -> Rows:
    """The same, and each line says its new number."""
    return [(number, line.replace(f'"seq":{seq}', f'"seq":{number}')) for number, (seq, line) in enumerate(rows, 1)]


@st.composite
def edits(draw: st.DrawFn, line: str) -> str:
    """Some characters of a line, or none, exchanged for others of any kind, or for none."""
    start = draw(st.integers(0, len(line)))
    end = draw(st.integers(start, min(len(line), start + 8)))
    here = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["1", "é", "\0", '"', "{}"])
    changed = line[:start] + draw(here) + line[end:]
    return changed if changed != line else line[:-1]


@pytest.mark.parametrize("hidden", [list, shifted, renumbered])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_one_thing_done_to_the_rows_is_found_where_it_was_done(
    written: Path, data: st.DataObject, hidden: Callable[[Rows], Rows]
) -> None:
    rows = rows_of(written)
    here = data.draw(st.integers(0, len(rows) - 1))
    deed = data.draw(st.sampled_from(["edit", "delete", "insert", "swap", "duplicate", "cut"]))
    there = data.draw(st.integers(0, len(rows) - 1).filter(lambda other: other != here)) if deed == "swap" else here
    line = rows[here][1]
    if deed == "edit":
        rows[here] = (rows[here][0], data.draw(edits(line)))
    elif deed == "delete":
        del rows[here]
        rows = hidden(rows)
    elif deed == "cut":
        rows = rows[:here]
    elif deed == "swap":
        rows[here], rows[there] = (here + 1, rows[there][1]), (there + 1, line)
    else:
        added = line if deed == "duplicate" else line.replace("agent", "other")
        rows = shifted([*rows[:here], (here + 1, added), *rows[here:]])
        rows = renumbered(rows) if hidden is renumbered else rows
    with rewritten(written, rows) as state:
        findings = judged(state).findings
    assert findings, deed
    first = min(finding.seq for finding in findings)
    assert min(here, there) + 1 <= first <= min(here, there) + 2, (deed, findings)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("line = '" + "[" * 300 + "]" * 300 + "'", "record 4: is not a record"),
        ("line = '" + '{"a":' * 300 + "1" + "}" * 300 + "'", "record 4: is not a record"),
        ("line = CAST(X'7bff7d' AS TEXT)", "record 4: is not a record"),
        ("line = ''", "record 4: is not a record"),
        ('line = replace(line, \'"mac":"\', \'"mac":"é\')', "record 5: does not follow"),
        ("line = replace(line, '\"key\":1', '\"key\":18446744073709551616')", "record 4: is not a record"),
        ('line = replace(line, \'"key":1\', \'"key":"1"\')', "record 4: names a key out of turn"),
        ('line = replace(line, \'"seq":4\', \'"seq":"\\u001b[2J"\')', r"record 4: calls itself '\x1b[2J'"),
        ("seq = -7", "record -7: has a number that no record has"),
        ("seq = 0", "record 0: has a number that no record has"),
        ("seq = 9223372036854775807", "record 4: is missing"),
    ],
)
def test_whatever_somebody_writes_into_a_row_is_a_finding_and_no_failure(written: Path, change: str, told: str) -> None:
    with rewritten(written, rows_of(written), " ".join(("UPDATE audit SET", change, "WHERE seq = 4"))) as state:
        findings = [str(finding) for finding in judged(state).findings]
    assert any(finding.startswith(told) for finding in findings), findings


@pytest.mark.parametrize("change", ["secret = X''", "number = -1", "number = 7"])
def test_a_key_that_somebody_exchanged_is_found(written: Path, change: str) -> None:
    with rewritten(written, rows_of(written), " ".join(("UPDATE audit_key SET", change))) as state:
        assert judged(state).findings


def test_a_key_that_is_none_is_told(written: Path) -> None:
    with (
        rewritten(written, rows_of(written), "UPDATE audit_key SET day = 'x'") as state,
        pytest.raises(StoreError, match="the audit key in the database is not one"),
    ):
        judged(state)


@pytest.mark.parametrize(
    "head", ["", "{}", "[]", '{"seq":-1,"hash":"H"}', '{"seq":true,"hash":"H"}', '{"seq":1e3,"hash":"H"}', "\xff"]
)
def test_a_head_that_names_no_record_is_told(written: Path, head: str) -> None:
    with rewritten(written, rows_of(written)) as state:
        (state / FILE_NAME).write_text(head.replace("H", "a" * 64), encoding="latin-1")
        with pytest.raises(StoreError, match="does not name one record"):
            judged(state)


def test_a_cut_tail_is_found_by_the_head_alone(written: Path) -> None:
    with rewritten(written, rows_of(written)[:8]) as state:
        (finding,) = judged(state).findings
        assert str(finding) == "record 9: and all after it up to 9 at least are missing; the end was cut off"
        (state / FILE_NAME).unlink()
        assert judged(state).findings == ()
        assert [finding.seq for finding in judged(state, known=[Tip(9, "0" * 64)]).findings] == [9]


def test_a_trail_that_somebody_wrote_anew_is_found_by_an_anchor_or_the_first_key(written: Path, tmp_path: Path) -> None:
    kept = [Tip(seq, audit.line_hash(line)) for seq, line in rows_of(written)]
    first = DayKey(0, START.date(), b"k" * 32)

    async def write_anew() -> Path:
        folder = tmp_path / "state"
        database = await Database.open(folder / "postroom.sqlite3")
        for day in range(3):
            await audit.record(database, [replace(event(number, day), token="other") for number in range(3)])
        write_head(folder, await audit.tip(database), START)
        await database.close()
        return folder

    folder = asyncio.run(write_anew())
    assert judged(folder).findings == ()
    assert [finding.seq for finding in judged(folder, known=[kept[3]]).findings] == [4]
    assert {finding.seq for finding in judged(folder, first_key=first).findings} >= {1, 2, 3}


def test_with_the_first_key_kept_elsewhere_every_seal_is_checked(tmp_path: Path) -> None:
    folder = tmp_path / "state"

    async def write() -> DayKey | None:
        database = await Database.open(folder / "postroom.sqlite3")
        await audit.record(database, [event(0)])
        first = await present_key(database)
        for day in (2, 1, 5):  # a clock that goes back keeps the key it has
            await audit.record(database, [event(0, day)])
        await database.close()
        return first

    first = asyncio.run(write())
    assert judged(folder, first_key=first).sealed == 4
    assert [json.loads(line)["key"] for _, line in rows_of(folder)] == [0, 1, 1, 2]
    stored = b"".join(path.read_bytes() for path in folder.glob("postroom.sqlite3"))
    assert first is not None
    assert first.secret not in stored


async def test_an_intent_is_open_until_its_outcome(db: Database) -> None:
    intent = Event("intent", "mcp.send", START, "r_1", "agent", "work")
    await audit.record(db, [intent, replace(intent, request="r_2")])
    assert [record["request"] for record in await audit.unsettled(db)] == ["r_1", "r_2"]
    await audit.record(db, [replace(intent, phase="outcome", outcome="ok")])
    assert [record["request"] for record in await audit.unsettled(db)] == ["r_2"]


def _write_many(path: Path, name: str, count: int) -> None:
    async def write() -> None:
        database = await Database.open(path)
        await asyncio.gather(*(audit.record(database, [replace(event(n), token=name)]) for n in range(count)))
        await database.close()

    asyncio.run(write())


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "state" / "postroom.sqlite3"
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write_many, args=(path, f"w{n}", 60)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    verdict = judged(path.parent)
    assert (verdict.records, verdict.sealed, verdict.findings) == (240, 240, ())


def test_the_head_is_private_and_a_log_with_its_lines_is_an_anchor(written: Path, tmp_path: Path) -> None:
    assert (written / FILE_NAME).stat().st_mode & 0o777 == 0o600
    log = tmp_path / "log"
    lines: list[Any] = [{"event": "x"}, {"event": "audit.head", "seq": 3, "hash": "a" * 64}, "no json", {"seq": 4}]
    log.write_text("\n".join(f"Mar 3 host postroom[1]: {json.dumps(line)}" for line in lines))
    log.chmod(0o600)
    assert read_anchor(log) == [Tip(3, "a" * 64)]


def test_a_head_that_cannot_be_written_is_a_failure_in_words(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"audit\.head cannot be written: No such file"):
        write_head(tmp_path / "none", Tip(1, "a" * 64), START)
