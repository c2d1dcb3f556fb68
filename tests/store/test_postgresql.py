"""PostgreSQL as it is when things go wrong: away, gone in the middle, held up by somebody, or not to be entered."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from asyncpg.prepared_stmt import PreparedStatement

from postroom.config.storeurl import StoreUrl
from postroom.store import database, postgresql
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.worker import StoreError
from tests.servers import stores
from tests.servers.ports import refusing_port
from tests.servers.postgresql import PASSWORD, Postgresql, running_postgresql
from tests.store.test_database import held, insert, notes, stored

pytestmark = pytest.mark.anyio
_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"


@pytest.fixture
def kind() -> str:
    return "postgresql"


@pytest.fixture(scope="module")
def mortal() -> Iterator[Postgresql]:
    """A server of this module's own, to be killed."""
    with running_postgresql() as server:
        yield server


def cut_off(tmp_path: Path) -> None:
    """Every connection to the database of the folder ends, as when the server's operator ends them."""
    url = stores.url_of(tmp_path / "state")
    stores.postgresql().sql(_OTHERS.format(url.rpartition("/")[2]))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (f"postgresql://u:{PASSWORD}@127.0.0.1:{{refusing}}/d", "cannot be reached: .*; see whether PostgreSQL runs"),
        (f"postgresql://u:{PASSWORD}@nowhere.invalid/d", "cannot be reached: .*; see whether PostgreSQL runs"),
        (
            f"postgresql://postroom:not-{PASSWORD}@127.0.0.1:{{port}}/postgres",
            "lets nobody in: password",
        ),
        (f"postgresql://postroom:{PASSWORD}@127.0.0.1:{{port}}/none", 'lets nobody in: database "none" does not exist'),
        (f"postgresql://u:{PASSWORD}@127.0.0.1:{{port}}/d?sslmode=nonsense{PASSWORD}", "is not understood"),
        (f"postgresql://u:{PASSWORD}@127.0.0.1:99999/d", "is not understood|cannot be reached"),
        (f"postgresql://postroom:{PASSWORD}@127.0.0.1:{{port}}/postgres?nonsense=1", 'parameter "nonsense"'),
        (
            f"postgresql://postroom:{PASSWORD}@127.0.0.1:{{port}}/postgres?sslmode=require",
            "reached: .*; it asks for TLS: ",
        ),
        (
            f"postgresql://u:{PASSWORD}@127.0.0.1:{{port}}/d?sslmode=verify-full&sslrootcert=/nowhere/authority.pem",
            "No such file or directory; .*and sslrootcert",
        ),
        (f"postgresql://postroom:{PASSWORD}@127.0.0.1:{{port}}/postgres?target_session_attrs=standby", "has no server"),
    ],
)
async def test_a_database_that_cannot_be_entered_is_told_in_words_without_the_password(url: str, told: str) -> None:
    where = StoreUrl.of(url.format(refusing=refusing_port(), port=stores.postgresql().port))
    with pytest.raises(StoreError, match=told) as failure:
        await Database.connect(where)
    assert PASSWORD not in "".join(traceback.format_exception(failure.value))


async def test_a_transaction_that_is_cut_off_fails_and_the_next_one_finds_the_way_back(
    db: Database, tmp_path: Path
) -> None:
    await notes(db)

    def interrupted(connection: Connection) -> None:
        connection.execute("INSERT INTO notes VALUES (1)")
        cut_off(tmp_path)
        connection.execute("INSERT INTO notes VALUES (2)")

    with pytest.raises(StoreError, match=r"terminating connection|connection to the database was lost"):
        await db.write(interrupted)
    assert await db.write(insert(3)) == 3
    assert await stored(db) == [3]


async def test_a_commit_whose_answer_is_lost_is_told_as_a_failure(db: Database, tmp_path: Path) -> None:
    await notes(db)

    def last(connection: Connection) -> None:
        connection.execute("INSERT INTO notes VALUES (1)")
        cut_off(tmp_path)

    gate, task = await held(db)
    both = [asyncio.ensure_future(db.write(insert(2))), asyncio.ensure_future(db.write(last))]
    await asyncio.sleep(0)
    gate.open()
    await task
    assert [type(one) for one in await asyncio.gather(*both, return_exceptions=True)] == [StoreError, StoreError]
    assert await stored(db) == []


async def test_connections_that_ended_while_nobody_used_them_are_made_anew_without_a_failure(
    db: Database, tmp_path: Path
) -> None:
    await notes(db)
    await db.glance(lambda c: c.execute("SELECT 1"))
    cut_off(tmp_path)
    assert await db.write(insert(1)) == 1
    assert await stored(db) == [1]
    assert await db.glance(lambda c: c.execute("SELECT n FROM notes").fetchone()) == (1,)


async def test_a_server_that_dies_is_told_at_once_and_one_that_is_back_is_used(mortal: Postgresql) -> None:
    db = await Database.connect(StoreUrl.of(mortal.new_database()))
    await notes(db)
    await db.write(insert(1))
    mortal.kill()
    for _ in range(2):
        for door in (db.write, db.read, db.glance):
            with pytest.raises(StoreError, match=r"lost|cannot be reached"):
                await asyncio.wait_for(door(insert(2)), 5)
    await asyncio.to_thread(mortal.start)
    assert await db.write(insert(3)) == 3
    assert await stored(db) == [1, 3]
    await db.close()


def test_many_who_wait_for_a_server_that_is_silent_wait_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "_SLOW_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        url = StoreUrl.of(f"postgresql://u:{PASSWORD}@127.0.0.1:{silent.getsockname()[1]}/d?sslmode=disable")
        session = postgresql.PostgresqlSession(url, postgresql.READING, seconds=0.2)

        def attempts(least: int) -> int:
            for _ in range(least):
                with pytest.raises(StoreError, match="does not answer; see whether PostgreSQL runs there"):
                    session.begin()
            count = 0
            with contextlib.suppress(BlockingIOError):
                while True:
                    silent.accept()[0].close()
                    count += 1
            return count

        assert attempts(100) == 1
        assert any(attempts(1) for _ in range(1_000_000)), "a little later it is tried again"
        session.close()


async def test_what_every_call_looks_at_is_not_waited_for_as_long_as_other_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_GLANCE_SECONDS", 0.2)
    db = await Database.connect(StoreUrl.of(stores.url_of(tmp_path / "state")))
    with pytest.raises(StoreError):
        await db.glance(lambda connection: connection.execute("SELECT pg_sleep(10)"))
    await db.read(lambda connection: connection.execute("SELECT pg_sleep(0.3)"))
    assert await db.glance(lambda connection: connection.execute("SELECT 1").fetchone()) == (1,)
    await db.close()


async def test_one_who_is_paused_within_a_transaction_loses_it_and_holds_nobody_up_for_long(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await notes(db)
    monkeypatch.setitem(postgresql.SETTINGS, "idle_in_transaction_session_timeout", "300ms")
    paused = await stores.opened(tmp_path / "state", "postgresql")
    gate, task = await held(paused)
    assert await asyncio.wait_for(db.write(insert(1)), 5) == 1
    gate.open()
    with pytest.raises(StoreError, match=r"idle-in-transaction|lost"):
        await task
    assert await paused.write(insert(2)) == 2
    await paused.close()


async def test_one_who_waits_too_long_for_the_others_is_told_so(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgresql.SETTINGS, "lock_timeout", "200ms")
    waiting = await stores.opened(tmp_path / "state", "postgresql")
    gate, task = await held(db)
    with pytest.raises(StoreError, match="lock timeout"):
        await waiting.write(lambda c: None)
    gate.open()
    await task
    await waiting.write(lambda c: None)
    await waiting.close()


async def test_one_who_waits_waits_longer_than_a_paused_one_may_hold_it_up_and_nobody_waits_without_end(
    db: Database,
) -> None:
    names = ("idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout")
    for door in (db.write, db.read, db.glance):
        asked = [await door(lambda c, name=name: c.execute(f"SHOW {name}").fetchone()) for name in names]
        assert asked == [("5s",), ("8s",), ("15s",)]


async def test_what_is_answered_is_on_the_disk_whatever_the_server_does_elsewhere(tmp_path: Path) -> None:
    server, url = stores.postgresql(), stores.postgresql().new_database()
    server.sql(f"ALTER DATABASE {url.rpartition('/')[2]} SET synchronous_commit = off")
    db = await Database.connect(StoreUrl.of(url))
    assert await db.write(lambda c: c.execute("SHOW synchronous_commit").fetchone()) == ("on",)
    await db.close()


async def test_a_statement_that_was_used_before_still_works_after_the_connection_was_lost(
    db: Database, tmp_path: Path
) -> None:
    await notes(db)
    for number in range(3):
        assert await db.write(insert(number)) == number
        cut_off(tmp_path)
    assert await stored(db) == [0, 1, 2]


@pytest.mark.parametrize("done", ["fetch", "executemany"])
async def test_a_connection_that_is_lost_between_two_steps_of_a_statement_is_told_as_lost(
    db: Database, monkeypatch: pytest.MonkeyPatch, done: str
) -> None:
    await notes(db)
    real = getattr(PreparedStatement, done)

    def losing(statement: PreparedStatement, *values: Any) -> Any:
        """As if the server went just before the driver looks at its connection."""
        statement._connection.terminate()
        return real(statement, *values)

    def several(connection: Connection) -> int:
        connection.executemany("INSERT INTO notes VALUES (?)", [(1,), (2,)])
        return 2

    with monkeypatch.context() as patched:
        patched.setattr(PreparedStatement, done, losing)
        with pytest.raises(StoreError, match="was lost"):
            await db.write(insert(1) if done == "fetch" else several)
    assert await stored(db) == []


@pytest.mark.parametrize("failure", [asyncpg.InternalClientError("another operation is in progress"), RuntimeError()])
async def test_whatever_fails_where_a_transaction_begins_is_told_and_the_next_one_works(
    db: Database, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    await notes(db)

    async def failing(*_: object) -> None:
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(asyncpg.Connection, "execute", failing)
        with pytest.raises(StoreError, match=r"was lost|the database failed: RuntimeError"):
            await db.write(insert(1))
    assert await db.write(insert(2)) == 2
    assert await stored(db) == [2]


async def test_a_connection_that_is_lost_as_soon_as_it_is_made_is_told_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = asyncpg.Connection.fetchval

    async def lost_before(connection: asyncpg.Connection, *words: Any) -> Any:
        connection.terminate()
        return await real(connection, *words)

    monkeypatch.setattr(asyncpg.Connection, "fetchval", lost_before)
    with pytest.raises(StoreError, match="was lost"):
        await postgresql.connect(StoreUrl.of(stores.url_of(tmp_path / "state")))


async def test_a_connection_that_is_lost_after_a_statement_is_told_as_lost(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await notes(db)
    real = PreparedStatement.fetch

    async def lost_after(statement: PreparedStatement, *values: Any) -> Any:
        rows = await real(statement, *values)
        statement._connection.terminate()
        return rows

    with monkeypatch.context() as patched:
        patched.setattr(PreparedStatement, "fetch", lost_after)
        with pytest.raises(StoreError, match="was lost"):
            await db.write(insert(1))
    assert await stored(db) == []


async def test_the_gate_of_one_gateway_is_the_gate_of_all(db: Database, tmp_path: Path) -> None:
    await notes(db)
    other = await stores.opened(tmp_path / "state", "postgresql")
    gate, task = await held(db)
    waiting = asyncio.ensure_future(other.write(insert(1)))
    assert await stored(db) == []
    assert not waiting.done()
    gate.open()
    await task
    assert await waiting == 1
    await other.close()
