"""PostgreSQL: one connection driven from one thread, which comes back when the server does."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import asyncpg
from asyncpg.prepared_stmt import PreparedStatement

from postroom.config.storeurl import StoreUrl
from postroom.store.connection import Announcement, Rows, StatementError, Value
from postroom.store.schema import for_postgresql, in_postgresql, missing, newest
from postroom.store.worker import StoreError

T = TypeVar("T")

LOCK = int.from_bytes(b"postroom")
"""Whoever writes has this lock of the database: one transaction at a time, as in SQLite."""
CHANNEL = "postroom"
_WRITING = f"BEGIN; SELECT pg_advisory_xact_lock({LOCK}); SAVEPOINT job"
READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 20.0
_SLOW_SECONDS = 1.0
"""An attempt to connect that took longer in vain speaks for whoever comes within as many seconds after it."""
SETTINGS = {
    "application_name": "postroom",
    # A gateway that is paused or cut off within a transaction loses it before those who wait for it give up.
    "idle_in_transaction_session_timeout": "5s",
    "lock_timeout": "8s",
    "statement_timeout": "15s",
}
_MOST_PREPARED = 256
LOSSES = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
"""What is raised where a connection is lost or of no use."""


class PostgresqlSession:
    """A connection that is made when it is first needed, and again after it was lost."""

    def __init__(
        self,
        url: StoreUrl,
        begin: str,
        letter: Callable[[Announcement], str] | None = None,
        seconds: float = COMMAND_SECONDS,
    ) -> None:
        """`letter` writes what other processes are told of an announcement; a statement may take so many seconds."""
        self.announced: list[Announcement] = []
        self._letter = letter
        self._url = url
        self._begin = begin
        self._seconds = seconds
        self._silent_until = 0.0
        self._loop = asyncio.new_event_loop()
        self._connection: asyncpg.Connection | None = None
        self._prepared: OrderedDict[str, PreparedStatement] = OrderedDict()

    @property
    def in_transaction(self) -> bool:
        connection = self._connection
        return connection is not None and not connection.is_closed() and connection.is_in_transaction()

    def execute(self, statement: str, values: Sequence[Value] = ()) -> Rows:
        return self._do(self._executed(for_postgresql(statement), values))

    def executemany(self, statement: str, values: Iterable[Sequence[Value]]) -> None:
        self._do(self._executed_many(for_postgresql(statement), values))

    def announce(self, topic: str, payload: str = "") -> None:
        announcement = Announcement(topic, payload)
        self.announced.append(announcement)
        if self._letter is not None:
            self.execute("SELECT pg_notify(?, ?)", (CHANNEL, self._letter(announcement)))

    def begin(self) -> None:
        """A connection that died while nobody used it is found out here, where making a new one costs nothing."""
        self.announced.clear()
        if self._connection is not None:
            try:
                self._run_all(self._begin)
                return
            except StoreError:
                if self._connection is not None:
                    raise
        self._connection = self._connected()
        self._run_all(self._begin)

    def _connected(self) -> asyncpg.Connection:
        """Many who wait for a server that is silent wait once, and not one after another."""
        since = self._loop.time()
        if since < self._silent_until:
            raise StoreError(f"{self._url} does not answer; see whether PostgreSQL runs there")
        try:
            return self._do(connect(self._url, self._seconds))
        except StoreError:
            now = self._loop.time()
            self._silent_until = now + _SLOW_SECONDS if now - since > _SLOW_SECONDS else now
            raise

    def mark(self) -> None:
        self._run_all("RELEASE SAVEPOINT job; SAVEPOINT job")

    def undo(self) -> None:
        self._run_all("ROLLBACK TO SAVEPOINT job")

    def commit(self) -> None:
        self._run_all("COMMIT")

    def rollback(self) -> None:
        if self.in_transaction:
            with suppress(StoreError):
                self._run_all("ROLLBACK")

    def close(self) -> None:
        if self._connection is not None:
            with suppress(StoreError):
                self._do(self._connection.close(timeout=1))
        self._leave()
        self._loop.close()

    def migrate(self) -> None:
        """Bring the schema up to date in one transaction; those who start at once wait for each other."""
        self.begin()
        try:
            known = self.execute("SELECT to_regclass('postroom_schema') IS NOT NULL").fetchone() == (True,)
            if not known:
                self.execute("CREATE TABLE postroom_schema (version BIGINT NOT NULL)")
                self.execute("INSERT INTO postroom_schema VALUES (0)")
            (version,) = self.execute("SELECT version FROM postroom_schema").fetchone()
            steps = missing(version, str(self._url))
            for definition in steps:
                self._run_all(in_postgresql(definition))
            if steps:
                self.execute("UPDATE postroom_schema SET version = ?", (newest(),))
            self.commit()
        finally:
            self.rollback()

    def _run_all(self, statements: str) -> None:
        """Several statements in one round trip; nothing of anybody's is in them."""
        if self._connection is None:
            raise _lost()
        self._do(self._connection.execute(statements))

    async def _executed(self, statement: str, values: Sequence[Value]) -> Rows:
        """Everything is asked of asyncpg within `_do`: some of it fails where it is called, and not where awaited."""
        prepared = await self._prepare(statement)
        rows = await prepared.fetch(*values)
        return Rows([tuple(row) for row in rows], _changed(prepared.get_statusmsg()))

    async def _executed_many(self, statement: str, values: Iterable[Sequence[Value]]) -> None:
        await (await self._prepare(statement)).executemany(values)

    async def _prepare(self, statement: str) -> PreparedStatement:
        if self._connection is None:
            raise _lost()
        prepared = self._prepared.pop(statement, None) or await self._connection.prepare(statement)
        self._prepared[statement] = prepared
        if len(self._prepared) > _MOST_PREPARED:
            self._prepared.popitem(last=False)
        return prepared

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        """What it returns; its failures in our terms, and without the connection if that is of no use any more."""
        try:
            return self._loop.run_until_complete(work)
        except asyncpg.IntegrityConstraintViolationError as failure:
            raise StatementError(failure.args[0]) from failure
        except asyncpg.PostgresError as failure:
            raise StoreError(f"the database cannot be used: {failure.args[0]}") from failure
        except asyncpg.InterfaceError as failure:
            if self._connection is None or self._connection.is_closed():
                raise _lost() from failure
            raise StatementError(str(failure)) from failure
        except (OSError, TimeoutError, asyncpg.InternalClientError) as failure:
            # The last is asyncpg at a loss: a server that died has cut an exchange short that it waits to go on with.
            self._leave()
            raise _lost() from failure
        finally:
            if self._connection is not None and self._connection.is_closed():
                self._leave()

    def _leave(self) -> None:
        """Without the connection, and without waiting for the server to hear of it."""
        connection, self._connection = self._connection, None
        self._prepared.clear()
        if connection is not None:
            connection.terminate()


def open_database(url: StoreUrl, letter: Callable[[Announcement], str]) -> PostgresqlSession:
    """A connection that writes, to a database that is up to date. It blocks.

    Raises StoreError if it cannot be reached, or was written by a newer Postroom.
    """
    session = PostgresqlSession(url, _WRITING, letter)
    try:
        session.migrate()
    except BaseException:
        session.close()
        raise
    return session


async def connect(url: StoreUrl, seconds: float = COMMAND_SECONDS) -> asyncpg.Connection:
    """A connection to the database, whose statements may take so many seconds.

    Raises StoreError, which says what to do and holds no password.
    """
    try:
        connection = await asyncpg.connect(
            url.text.reveal(),
            timeout=min(_CONNECT_SECONDS, seconds),
            command_timeout=seconds,
            server_settings=SETTINGS,
        )
    except asyncpg.PostgresError as failure:
        raise StoreError(f"{url} lets nobody in: {failure.args[0]}; check user, password and database") from failure
    except TimeoutError as failure:
        raise StoreError(f"{url} does not answer; see whether PostgreSQL runs there") from failure
    except OSError as failure:
        told = f"cannot be reached: {_reason(failure)}; see whether PostgreSQL runs there"
        raise StoreError(f"{url} {told}{_of_tls(url)}") from failure
    except asyncpg.InternalClientError as failure:
        raise StoreError(f"{url} has no server as target_session_attrs wants it") from failure
    except (asyncpg.InterfaceError, ValueError, OverflowError):
        # What it complains of may be a piece of the password that was taken for something else.
        told = "is not understood; check store, where a character such as / or @ of a password is written as %2F or %40"
        raise StoreError(f"{url} {told}{_of_tls(url)}") from None
    try:
        if await connection.fetchval("SELECT current_setting('synchronous_commit')") == "off":
            await connection.execute("SET synchronous_commit = on")  # what is answered must be on the disk
    except LOSSES as failure:
        connection.terminate()
        raise _lost() from failure
    return connection


def _of_tls(url: StoreUrl) -> str:
    """What more to look at where only an encrypted connection will do."""
    told = "; it asks for TLS: see whether the server has it, and sslrootcert or ~/.postgresql/root.crt its authority"
    return told if url.is_encrypted else ""


def _reason(failure: OSError) -> str:
    return failure.strerror or "the connection was refused or cut off"


def _lost() -> StoreError:
    return StoreError("the connection to the database was lost")


def _changed(status: str) -> int:
    """Rows that a statement changed, by its status, such as `UPDATE 3` or `INSERT 0 1`."""
    number = status.rpartition(" ")[2]
    return int(number) if number.isdecimal() else 0
