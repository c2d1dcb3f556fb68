"""Either database: one commit for many writers, each caller's own fate, and a schema that grows."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from postroom.store.connection import Connection, StatementError
from postroom.store.database import FILE_NAME, Database
from postroom.store.migrations import MIGRATIONS
from postroom.store.postgresql import PostgresqlSession
from postroom.store.sqlite import SqliteSession
from postroom.store.worker import StoreBusyError, StoreError
from tests.servers import stores

pytestmark = pytest.mark.anyio


class Gate:
    """A job that holds the writer until it is opened, so that others queue up behind it."""

    def __init__(self) -> None:
        self.reached, self._open = threading.Event(), threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.reached.set()
        self._open.wait(10)

    def open(self) -> None:
        self._open.set()


async def held(db: Database) -> tuple[Gate, "asyncio.Task[None]"]:
    """The writer, held by a gate."""
    gate = Gate()
    task = asyncio.create_task(db.write(gate))
    await asyncio.to_thread(gate.reached.wait, 10)
    return gate, task


async def notes(db: Database) -> None:
    await db.write(lambda c: c.execute("CREATE TABLE notes (n INTEGER PRIMARY KEY)") and None)


def insert(n: int) -> Callable[[Connection], int]:
    def fn(connection: Connection) -> int:
        connection.execute("INSERT INTO notes VALUES (?)", (n,))
        return n

    return fn


async def stored(db: Database) -> list[int]:
    return await db.read(lambda c: [n for (n,) in c.execute("SELECT n FROM notes ORDER BY n")])


async def test_what_is_written_is_read_and_survives_a_restart(tmp_path: Path, kind: str) -> None:
    db = await stores.opened(tmp_path, kind)
    await notes(db)
    assert await db.write(insert(7)) == 7
    assert await stored(db) == [7]
    await db.close()
    again = await stores.opened(tmp_path, kind)
    assert await stored(again) == [7]
    await again.close()


async def test_readers_do_not_wait_for_writers(db: Database) -> None:
    await notes(db)
    gate, task = await held(db)
    assert await stored(db) == []
    assert await db.glance(lambda c: c.execute("SELECT n FROM notes").fetchall()) == []
    gate.open()
    await task


async def test_many_waiting_writers_are_committed_once(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await notes(db)
    commits: list[object] = []
    for session in (SqliteSession, PostgresqlSession):
        commit = session.commit
        monkeypatch.setattr(session, "commit", lambda self, commit=commit: (commits.append(self), commit(self)))
    gate, task = await held(db)
    writers = [asyncio.create_task(db.write(insert(n))) for n in range(100)]
    await asyncio.sleep(0)
    gate.open()
    assert await asyncio.gather(*writers) == list(range(100))
    await task
    assert len(commits) == 2  # the gate's, and one for all
    assert await stored(db) == list(range(100))


async def test_one_failing_writer_undoes_only_itself(db: Database) -> None:
    await notes(db)

    def spoiled(connection: Connection) -> None:
        connection.execute("INSERT INTO notes VALUES (100)")
        raise LookupError("mine alone")

    gate, task = await held(db)
    writers = [db.write(insert(1)), db.write(spoiled), db.write(insert(1)), db.write(insert(2))]
    outcomes = asyncio.gather(*writers, return_exceptions=True)
    await asyncio.sleep(0)
    gate.open()
    first, failed, twice, last = await outcomes
    await task
    assert (first, last) == (1, 2)
    assert isinstance(failed, LookupError)
    assert isinstance(twice, StatementError)
    assert await stored(db) == [1, 2]


async def test_a_failed_commit_fails_every_caller_in_it_and_none_after(db: Database) -> None:
    await notes(db)
    reference = "n INTEGER REFERENCES notes (n) DEFERRABLE INITIALLY DEFERRED"
    await db.write(lambda c: c.execute(f"CREATE TABLE links ({reference})") and None)
    gate, task = await held(db)
    dangling = asyncio.create_task(db.write(lambda c: c.execute("INSERT INTO links VALUES (99)") and None))
    innocent = asyncio.create_task(db.write(insert(1)))
    await asyncio.sleep(0)
    gate.open()
    await task
    for caller in (dangling, innocent):
        with pytest.raises(StoreError, match=r"(?i)the database failed: .*foreign key"):
            await caller
    assert await db.write(insert(2)) == 2
    assert await stored(db) == [2]


async def test_a_job_that_ends_the_transaction_is_not_mistaken_for_a_success(db: Database) -> None:
    await notes(db)

    def presumptuous(connection: Connection) -> None:
        connection.execute("INSERT INTO notes VALUES (1)")
        connection.execute("ROLLBACK")

    with pytest.raises(StoreError, match="a job ended the transaction of all"):
        await db.write(presumptuous)
    assert await db.write(insert(2)) == 2
    assert await stored(db) == [2]


async def test_a_caller_that_leaves_takes_its_job_back_and_hurts_nobody(db: Database) -> None:
    await notes(db)
    gate, task = await held(db)
    leaving = asyncio.create_task(db.write(insert(1)))
    staying = asyncio.create_task(db.write(insert(2)))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.open()
    assert await staying == 2
    await task
    assert await stored(db) == [2]


async def test_a_caller_that_leaves_during_its_job_does_not_stop_it(db: Database) -> None:
    await notes(db)
    gate, task = await held(db)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.open()
    assert await db.write(insert(3)) == 3
    assert await stored(db) == [3]


async def test_too_many_waiting_writers_are_refused_at_once(db: Database) -> None:
    await notes(db)
    gate, task = await held(db)
    writers = [asyncio.create_task(db.write(insert(n))) for n in range(1025)]
    await asyncio.sleep(0)
    gate.open()
    outcomes = await asyncio.gather(*writers, return_exceptions=True)
    await task
    assert [type(outcome) for outcome in outcomes] == [int] * 1024 + [StoreBusyError]
    assert await stored(db) == list(range(1024))


async def test_a_reader_cannot_write(db: Database) -> None:
    await notes(db)
    with pytest.raises(StoreError, match=r"read-?only"):
        await db.read(insert(1))
    assert await stored(db) == []


async def test_a_reader_that_fails_leaves_the_next_one_alone(db: Database) -> None:
    await notes(db)
    with pytest.raises(ZeroDivisionError):
        await db.read(lambda c: 1 // 0)
    with pytest.raises(StoreError, match=r"no such table|does not exist"):
        await db.read(lambda c: c.execute("SELECT * FROM nowhere"))
    assert await stored(db) == []


async def test_what_waits_at_close_is_still_written_and_later_calls_are_refused(tmp_path: Path, kind: str) -> None:
    db = await stores.opened(tmp_path, kind)
    await notes(db)
    gate, task = await held(db)
    waiting = asyncio.create_task(db.write(insert(1)))
    await asyncio.sleep(0)
    closing = asyncio.create_task(db.close())
    gate.open()
    assert await waiting == 1
    await asyncio.gather(task, closing)
    await db.close()
    for late in (db.write, db.read, db.glance):
        with pytest.raises(StoreError, match="the database is closed"):
            await late(insert(2))


async def test_each_migration_can_be_the_next_one(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (*MIGRATIONS, ("CREATE TABLE later (n INTEGER) STRICT", "INSERT INTO later VALUES (1)"))
    await (await stores.opened(tmp_path, kind)).close()
    monkeypatch.setattr("postroom.store.schema.MIGRATIONS", steps)
    for _ in range(2):  # the second time there is nothing to do
        db = await stores.opened(tmp_path, kind)
        assert list(await db.read(lambda c: c.execute("SELECT n FROM later").fetchall())) == [(1,)]
        await db.close()


async def test_a_migration_that_fails_leaves_the_old_schema(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await stores.opened(tmp_path, kind)).close()
    with monkeypatch.context() as later:
        steps = (*MIGRATIONS, ("CREATE TABLE later (n INTEGER) STRICT", "NONSENSE"))
        later.setattr("postroom.store.schema.MIGRATIONS", steps)
        with pytest.raises(StoreError, match=r"cannot be used: .*syntax error"):
            await stores.opened(tmp_path, kind)
    db = await stores.opened(tmp_path, kind)
    with pytest.raises(StoreError, match="later"):
        await db.read(lambda c: c.execute("SELECT 1 FROM later"))
    await db.close()


async def test_a_store_of_a_newer_version_is_refused_and_left_alone(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr("postroom.store.schema.MIGRATIONS", (*MIGRATIONS, ("CREATE TABLE later (n INTEGER) STRICT",)))
        await (await stores.opened(tmp_path, kind)).close()
        before = (tmp_path / FILE_NAME).read_bytes() if kind == "sqlite" else b""
    with pytest.raises(StoreError, match=r"written by a newer Postroom: its schema is .* install that version"):
        await stores.opened(tmp_path, kind)
    assert before == ((tmp_path / FILE_NAME).read_bytes() if kind == "sqlite" else b"")


async def test_two_that_start_at_once_wait_for_each_other_and_may_work_at_once(tmp_path: Path, kind: str) -> None:
    one, other = await asyncio.gather(*(stores.opened(tmp_path, kind) for _ in range(2)))
    await notes(one)
    await asyncio.gather(*(db.write(insert(2 * n + k)) for n in range(50) for k, db in enumerate((one, other))))
    assert await stored(one) == await stored(other) == list(range(100))
    await asyncio.gather(one.close(), other.close())
