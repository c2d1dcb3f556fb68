"""SQLite: a file that is ours alone, its connections, and its schema brought up to date."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from postroom.base.files import private_file, private_folder
from postroom.store.connection import Announcement, Connection, Rows, StatementError, Value
from postroom.store.schema import missing, newest
from postroom.store.worker import StoreError

T = TypeVar("T")

_LOCK_SECONDS = 5.0


class SqliteSession:
    """A connection; one that begins with BEGIN IMMEDIATE writes alone, whatever other processes do."""

    def __init__(self, connection: sqlite3.Connection, begin: str) -> None:
        self.announced: list[Announcement] = []
        self._connection = connection
        self._begin = begin

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, statement: str, values: Sequence[Value] = ()) -> Rows:
        with _told():
            cursor = self._connection.execute(statement, values)
            return Rows(cursor.fetchall(), cursor.rowcount)

    def pages(self, statement: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a statement, so many at a time."""
        with _told():
            cursor = self._connection.execute(statement)
            while rows := cursor.fetchmany(size):
                yield rows

    def executemany(self, statement: str, values: Iterable[Sequence[Value]]) -> None:
        with _told():
            self._connection.executemany(statement, values)

    def announce(self, topic: str, payload: str = "") -> None:
        self.announced.append(Announcement(topic, payload))

    def begin(self) -> None:
        self.announced.clear()
        with _told():
            self._connection.execute(self._begin)
            self._connection.execute("SAVEPOINT job")

    def mark(self) -> None:
        with _told():
            self._connection.execute("RELEASE job")
            self._connection.execute("SAVEPOINT job")

    def undo(self) -> None:
        with _told():
            self._connection.execute("ROLLBACK TO job")

    def commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as failure:
            raise StoreError(f"the database failed: {failure}") from failure

    def rollback(self) -> None:
        with suppress(sqlite3.Error):  # there may be nothing left to undo
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()


class Glances:
    """A door that is open at once: in the caller's thread, some microseconds, whatever the writer does."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session
        self._closed = False

    async def submit(self, fn: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreError("the database is closed")
        return fn(self._session)

    async def close(self) -> None:
        self._closed = True
        self._session.close()


@contextmanager
def _told() -> Iterator[None]:
    """What SQLite says in our terms."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as failure:
        raise StatementError(str(failure)) from failure
    except sqlite3.Error as failure:  # a full disk, a lock that another process holds, a file that is none
        raise StoreError(f"the database cannot be used: {failure}") from failure


def open_file(path: Path, *, checked: bool) -> tuple[SqliteSession, SqliteSession, SqliteSession]:
    """Connections that write, read and glance, to a file that was made if it was not there. It blocks.

    Raises FileFault for a file or folder that is open to others, StoreError for one that is not ours to use.
    """
    private_folder(path.parent, checked=checked)
    private_file(path, checked=checked)
    try:
        with _alone_in(path.parent), ExitStack() as opened:
            writing = opened.enter_context(closing(connect(path)))
            _migrate(writing, path)
            reading, glancing = (opened.enter_context(closing(connect(path))) for _ in range(2))
            for connection in (reading, glancing):
                connection.execute("PRAGMA query_only = ON")
            glancing.execute("PRAGMA busy_timeout = 0")  # it is used on the event loop
            opened.pop_all()  # from here on the sessions close them
    except sqlite3.Error as failure:
        raise StoreError(f"{path} cannot be used: {failure}") from failure
    return SqliteSession(writing, "BEGIN IMMEDIATE"), SqliteSession(reading, "BEGIN"), SqliteSession(glancing, "BEGIN")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Have the folder's lock: a new file becomes a WAL database for one process at a time, others would not wait."""
    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def connect(path: Path) -> sqlite3.Connection:
    # Made in one thread, then used by its worker alone.
    connection = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # an erased key is overwritten
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the schema up to date in one transaction; two processes starting at once wait for each other."""
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for statement in missing(version, str(path)):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {newest()}")
    connection.execute("COMMIT")
