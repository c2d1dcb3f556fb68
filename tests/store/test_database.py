"""The database: one commit for many writers, each caller's own fate, and a file that is ours alone."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection

import pytest

from postroom.base.files import FileFault
from postroom.store.database import Database
from postroom.store.migrations import MIGRATIONS
from postroom.store.worker import StoreBusyError, StoreError

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


async def test_what_is_written_is_read_and_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state" / "db"
    db = await Database.open(path)
    await notes(db)
    assert await db.write(insert(7)) == 7
    assert await stored(db) == [7]
    await db.close()
    again = await Database.open(path)
    assert await stored(again) == [7]
    await again.close()


async def test_folder_and_files_are_for_this_user_alone(db: Database, tmp_path: Path) -> None:
    await notes(db)
    folder = tmp_path / "state"
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
    assert modes == dict.fromkeys(("postroom.sqlite3", "postroom.sqlite3-wal", "postroom.sqlite3-shm"), 0o600)


async def test_the_file_is_durable_and_readers_do_not_wait_for_writers(db: Database) -> None:
    assert await db.write(lambda c: c.execute("PRAGMA journal_mode").fetchone()) == ("wal",)
    assert await db.write(lambda c: c.execute("PRAGMA synchronous").fetchone()) == (2,)
    await notes(db)
    gate, task = await held(db)
    assert await stored(db) == []
    gate.open()
    await task


async def test_many_waiting_writers_are_committed_once(db: Database) -> None:
    await notes(db)
    statements: list[str] = []
    await db.write(lambda c: c.set_trace_callback(statements.append))
    statements.clear()
    gate, task = await held(db)
    writers = [asyncio.create_task(db.write(insert(n))) for n in range(100)]
    await asyncio.sleep(0)
    gate.open()
    assert await asyncio.gather(*writers) == list(range(100))
    await task
    # The first COMMIT is that of the statement that set the trace, the second that of the gate.
    commits = [number for number, statement in enumerate(statements) if statement == "COMMIT"]
    inserts = [number for number, statement in enumerate(statements) if statement.startswith("INSERT")]
    assert len(inserts) == 100
    assert [number for number in commits if number > inserts[0]] == [commits[-1]]
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
    assert isinstance(twice, sqlite3.IntegrityError)
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
        with pytest.raises(StoreError, match="the database failed: FOREIGN KEY constraint failed"):
            await caller
    assert await db.write(insert(2)) == 2
    assert await stored(db) == [2]


async def test_a_full_disk_is_a_store_error_and_room_later_is_enough(db: Database) -> None:
    await db.write(lambda c: c.execute("CREATE TABLE blobs (b BLOB)") and None)
    await db.write(lambda c: c.execute("PRAGMA max_page_count = 20").fetchone())
    with pytest.raises(StoreError, match="full"):
        await db.write(lambda c: c.execute("INSERT INTO blobs VALUES (zeroblob(1000000))") and None)
    await db.write(lambda c: c.execute("PRAGMA max_page_count = 100000").fetchone())
    await db.write(lambda c: c.execute("INSERT INTO blobs VALUES (zeroblob(1000000))") and None)


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
    with pytest.raises(StoreError, match="readonly"):
        await db.read(insert(1))
    assert await stored(db) == []


async def test_a_reader_that_fails_leaves_the_next_one_alone(db: Database) -> None:
    await notes(db)
    with pytest.raises(ZeroDivisionError):
        await db.read(lambda c: 1 // 0)
    with pytest.raises(StoreError, match="no such table"):
        await db.read(lambda c: c.execute("SELECT * FROM nowhere"))
    assert await stored(db) == []


async def test_what_waits_at_close_is_still_written_and_later_calls_are_refused(tmp_path: Path) -> None:
    db = await Database.open(tmp_path / "state" / "db")
    await notes(db)
    gate, task = await held(db)
    waiting = asyncio.create_task(db.write(insert(1)))
    await asyncio.sleep(0)
    closing = asyncio.create_task(db.close())
    gate.open()
    assert await waiting == 1
    await asyncio.gather(task, closing)
    await db.close()
    for late in (db.write, db.read):
        with pytest.raises(StoreError, match="the database is closed"):
            await late(insert(2))
    assert sorted(file.name for file in (tmp_path / "state").iterdir()) == ["db"]


async def test_two_processes_may_use_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "state" / "db"
    one, other = await asyncio.gather(Database.open(path), Database.open(path))
    await notes(one)
    await asyncio.gather(*(db.write(insert(2 * n + k)) for n in range(50) for k, db in enumerate((one, other))))
    assert await stored(one) == await stored(other) == list(range(100))
    await asyncio.gather(one.close(), other.close())


async def test_a_file_of_a_newer_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "state" / "db"
    await (await Database.open(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"written by a newer Postroom: its schema is .* install that version"):
        await Database.open(path)
    assert path.read_bytes() == before


async def test_each_migration_can_be_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state" / "db"
    steps = (*MIGRATIONS, ("CREATE TABLE later (n)", "INSERT INTO later VALUES (1)"))
    await (await Database.open(path)).close()
    monkeypatch.setattr("postroom.store.database.MIGRATIONS", steps)
    for _ in range(2):  # the second time there is nothing to do
        db = await Database.open(path)
        assert await db.read(lambda c: c.execute("SELECT n FROM later").fetchall()) == [(1,)]
        assert await db.read(lambda c: c.execute("PRAGMA user_version").fetchone()) == (len(steps),)
        await db.close()


async def test_a_migration_that_fails_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state" / "db"
    await (await Database.open(path)).close()
    with monkeypatch.context() as later:
        later.setattr("postroom.store.database.MIGRATIONS", (*MIGRATIONS, ("CREATE TABLE later (n)", "NONSENSE")))
        with pytest.raises(StoreError, match="cannot be used: near"):
            await Database.open(path)
    db = await Database.open(path)
    assert await db.read(lambda c: c.execute("SELECT 1 FROM sqlite_master WHERE name = 'later'").fetchone()) is None
    await db.close()


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "state" / "db"
    await (await Database.open(path)).close()
    path.write_bytes(b"something else entirely, " * 100)
    with pytest.raises(StoreError, match="db cannot be used: file is not a database"):
        await Database.open(path)


async def test_a_folder_or_file_that_is_open_to_others_is_refused_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "state" / "db"
    await (await Database.open(path)).close()
    for changed, private in ((path, 0o600), (path.parent, 0o700)):
        changed.chmod(0o755)
        with pytest.raises(FileFault, match="run: chmod"):
            await Database.open(path)
        await (await Database.open(path, insecure_permissions=True)).close()
        changed.chmod(private)
