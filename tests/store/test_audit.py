"""The audit trail in either database: what is added stays, and whatever is done to it is found and placed."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.base.clock import HandClock
from postroom.config.storeurl import StoreUrl
from postroom.store import audit
from postroom.store.audit import Event, Tip
from postroom.store.auditcheck import Verdict, verify
from postroom.store.audithead import FILE_NAME, read_anchor, read_head, write_head
from postroom.store.auditkeys import DayKey, present_key
from postroom.store.database import Database
from postroom.store.worker import StoreError
from tests.servers import stores

pytestmark = pytest.mark.anyio

START = HandClock().now()

Rows = list[tuple[int, str]]


def event(number: int, day: int = 0) -> Event:
    at = START + timedelta(days=day, seconds=number)
    return Event("event", "mcp.move_messages", at, f"r_{number}", "agent", "work", "ok", facts={"uids": number})


@dataclass(frozen=True)
class Trail:
    """A state folder, with the head, and the kind of database that belongs to it."""

    folder: Path
    kind: str

    async def opened(self) -> Database:
        return await stores.opened(self.folder, self.kind)

    def sql(self, statement: str, *rows: Sequence[Any]) -> list[Any]:
        """Done as anybody could who has the file, or the database's password."""
        return stores.sql(self.folder, statement, *rows, kind=self.kind)

    def rows(self) -> Rows:
        return self.sql("SELECT seq, line FROM audit ORDER BY seq")


@pytest.fixture(scope="module", params=stores.KINDS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trail:
    """A database with nine records of three days, its head beside it."""
    trail = Trail(tmp_path_factory.mktemp("trail") / "state", request.param)

    async def write() -> None:
        database = await trail.opened()
        for day in range(3):
            await audit.record(database, [event(number, day) for number in range(3)])
        write_head(trail.folder, await audit.tip(database), START)
        await database.close()

    asyncio.run(write())
    return trail


@contextmanager
def rewritten(trail: Trail, rows: Rows, statement: str = "") -> Iterator[Trail]:
    """A copy with these rows in place of its own, put there with SQL as anybody could, and changed."""
    with tempfile.TemporaryDirectory() as folder, stores.copied(trail.folder, Path(folder) / "state", trail.kind):
        copy = Trail(Path(folder) / "state", trail.kind)
        copy.sql("DELETE FROM audit")
        if rows:
            copy.sql("INSERT INTO audit (seq, line) VALUES (?, ?)", *rows)
        if statement:
            copy.sql(statement)
        yield copy


def judged(trail: Trail, first_key: DayKey | None = None, known: list[Tip] | None = None) -> Verdict:
    async def read() -> Verdict:
        head = read_head(trail.folder)
        database = await trail.opened()
        try:
            return await verify(database, [*([head] if head else []), *(known or [])], first_key)
        finally:
            await database.close()

    return asyncio.run(read())


def test_a_trail_that_nobody_touched_is_found_whole(written: Trail) -> None:
    verdict = judged(written)
    assert (verdict.records, verdict.sealed, verdict.findings) == (9, 3, ())


def test_a_record_is_canonical_and_names_the_one_before(written: Trail) -> None:
    (_, first), (_, second), *_ = written.rows()
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


def test_any_one_thing_done_to_the_rows_is_found_where_it_was_done(written: Trail) -> None:
    @settings(max_examples=120 if written.kind == "sqlite" else 25, deadline=None)
    @given(data=st.data())
    def done(data: st.DataObject) -> None:
        do_one_thing(written, data, data.draw(st.sampled_from([list, shifted, renumbered])))

    done()


def do_one_thing(written: Trail, data: st.DataObject, hidden: Callable[[Rows], Rows]) -> None:
    rows = written.rows()
    here = data.draw(st.integers(0, len(rows) - 1))
    deed = data.draw(st.sampled_from(["edit", "delete", "insert", "swap", "duplicate", "cut"]))
    there = data.draw(st.integers(0, len(rows) - 1).filter(lambda other: other != here)) if deed == "swap" else here
    line = rows[here][1]
    if deed == "edit":
        storable = edits(line).filter(lambda text: written.kind == "sqlite" or "\0" not in text)
        rows[here] = (rows[here][0], data.draw(storable))
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
def test_whatever_somebody_writes_into_a_row_is_a_finding_and_no_failure(
    written: Trail, change: str, told: str
) -> None:
    if "X'" in change and written.kind == "postgresql":
        pytest.skip("it keeps no text that is none")
    with rewritten(written, written.rows(), " ".join(("UPDATE audit SET", change, "WHERE seq = 4"))) as state:
        findings = [str(finding) for finding in judged(state).findings]
    assert any(finding.startswith(told) for finding in findings), findings


@pytest.mark.parametrize("change", ["secret = NONE", "number = -1", "number = 7"])
def test_a_key_that_somebody_exchanged_is_found(written: Trail, change: str) -> None:
    change = change.replace("NONE", "X''" if written.kind == "sqlite" else "CAST('' AS BYTEA)")
    with rewritten(written, written.rows(), " ".join(("UPDATE audit_key SET", change))) as state:
        assert judged(state).findings


def test_a_key_that_is_none_is_told(written: Trail) -> None:
    with (
        rewritten(written, written.rows(), "UPDATE audit_key SET day = 'x'") as state,
        pytest.raises(StoreError, match="the audit key in the database is not one"),
    ):
        judged(state)


@pytest.mark.parametrize(
    "head", ["", "{}", "[]", '{"seq":-1,"hash":"H"}', '{"seq":true,"hash":"H"}', '{"seq":1e3,"hash":"H"}', "\xff"]
)
def test_a_head_that_names_no_record_is_told(written: Trail, head: str) -> None:
    with rewritten(written, written.rows()) as state:
        (state.folder / FILE_NAME).write_text(head.replace("H", "a" * 64), encoding="latin-1")
        with pytest.raises(StoreError, match="does not name one record"):
            judged(state)


def test_a_cut_tail_is_found_by_the_head_alone(written: Trail) -> None:
    with rewritten(written, written.rows()[:8]) as state:
        (finding,) = judged(state).findings
        assert str(finding) == "record 9: and all after it up to 9 at least are missing; the end was cut off"
        (state.folder / FILE_NAME).unlink()
        assert judged(state).findings == ()
        assert [finding.seq for finding in judged(state, known=[Tip(9, "0" * 64)]).findings] == [9]


def test_a_trail_that_somebody_wrote_anew_is_found_by_an_anchor_or_the_first_key(
    written: Trail, tmp_path: Path
) -> None:
    kept = [Tip(seq, audit.line_hash(line)) for seq, line in written.rows()]
    first = DayKey(0, START.date(), b"k" * 32)

    async def write_anew() -> Trail:
        trail = Trail(tmp_path / "state", written.kind)
        database = await trail.opened()
        for day in range(3):
            await audit.record(database, [replace(event(number, day), token="other") for number in range(3)])
        write_head(trail.folder, await audit.tip(database), START)
        await database.close()
        return trail

    anew = asyncio.run(write_anew())
    assert judged(anew).findings == ()
    assert [finding.seq for finding in judged(anew, known=[kept[3]]).findings] == [4]
    assert {finding.seq for finding in judged(anew, first_key=first).findings} >= {1, 2, 3}


def test_with_the_first_key_kept_elsewhere_every_seal_is_checked(tmp_path: Path, kind: str) -> None:
    trail = Trail(tmp_path / "state", kind)

    async def write() -> DayKey:
        database = await trail.opened()
        await audit.record(database, [event(0)])
        first = await present_key(database)
        for day in (2, 1, 5):  # a clock that goes back keeps the key it has
            await audit.record(database, [event(0, day)])
        await database.close()
        assert first is not None
        return first

    first = asyncio.run(write())
    assert judged(trail, first_key=first).sealed == 4
    assert [json.loads(line)["key"] for _, line in trail.rows()] == [0, 1, 1, 2]
    assert first.secret not in [secret for (secret,) in trail.sql("SELECT secret FROM audit_key")]
    if kind == "sqlite":
        assert first.secret not in (trail.folder / "postroom.sqlite3").read_bytes()


async def test_an_intent_is_open_until_its_outcome(db: Database) -> None:
    intent = Event("intent", "mcp.send", START, "r_1", "agent", "work")
    await audit.record(db, [intent, replace(intent, request="r_2")])
    assert [record["request"] for record in await audit.unsettled(db, START)] == ["r_1", "r_2"]
    await audit.record(db, [replace(intent, phase="outcome", outcome="ok")])
    assert [record["request"] for record in await audit.unsettled(db, START)] == ["r_2"]


def _write_many(path: Path | None, url: str, name: str, count: int) -> None:
    async def write() -> None:
        database = await (Database.open(path) if path else Database.connect(StoreUrl.of(url)))
        await asyncio.gather(*(audit.record(database, [replace(event(n), token=name)]) for n in range(count)))
        await database.close()

    asyncio.run(write())


def test_several_processes_write_one_chain(tmp_path: Path, kind: str) -> None:
    trail = Trail(tmp_path / "state", kind)
    where = (trail.folder / "postroom.sqlite3", "") if kind == "sqlite" else (None, stores.url_of(trail.folder))
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write_many, args=(*where, f"w{n}", 60)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    verdict = judged(trail)
    assert (verdict.records, verdict.sealed, verdict.findings) == (240, 240, ())


def test_a_trail_that_is_read_in_pages_is_read_whole(written: Trail, monkeypatch: pytest.MonkeyPatch) -> None:
    for page in (1, 3, 4, 9):
        monkeypatch.setattr("postroom.store.auditcheck._PAGE", page)
        assert (judged(written).records, judged(written).findings) == (9, ())


def test_the_head_is_private_and_a_log_with_its_lines_is_an_anchor(written: Trail, tmp_path: Path) -> None:
    assert (written.folder / FILE_NAME).stat().st_mode & 0o777 == 0o600
    log = tmp_path / "log"
    lines: list[Any] = [{"event": "x"}, {"event": "audit.head", "seq": 3, "hash": "a" * 64}, "no json", {"seq": 4}]
    log.write_text("\n".join(f"Mar 3 host postroom[1]: {json.dumps(line)}" for line in lines))
    log.chmod(0o600)
    assert read_anchor(log) == [Tip(3, "a" * 64)]


def test_a_head_that_cannot_be_written_is_a_failure_in_words(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"audit\.head cannot be written: No such file"):
        write_head(tmp_path / "none", Tip(1, "a" * 64), START)
