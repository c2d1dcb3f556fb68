"""The SQLite file: one writer that commits many callers at once, one reader, and the schema's migrations."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection as Connection  # for whoever gives functions to `write` and `read`
from typing import TypeVar

from postroom.base.files import private_file, private_folder
from postroom.store.migrations import MIGRATIONS
from postroom.store.worker import Job, StoreError, Worker

T = TypeVar("T")

FILE_NAME = "postroom.sqlite3"
_LOCK_SECONDS = 5.0


class Database:
    """Two doors: `write` and `read`. Functions given to them are run in another thread and must be short."""

    def __init__(self, writing: Connection, reading: Connection) -> None:
        self._writer = Worker("writer", writing, _commit_together)
        self._reader = Worker("reader", reading, _read_each)

    @classmethod
    async def open(cls, path: Path, *, insecure_permissions: bool = False) -> Database:
        """The database in the file `path`, made if it is not there (0600, in a folder of 0700), and brought up to date.

        Raises FileFault for a file or folder that is open to others, StoreError for one that is not ours to use.
        """
        return await asyncio.to_thread(cls._open, path, not insecure_permissions)

    @classmethod
    def _open(cls, path: Path, checked: bool) -> Database:
        private_folder(path.parent, checked=checked)
        private_file(path, checked=checked)
        try:
            with _alone_in(path.parent), ExitStack() as opened:
                writing = opened.enter_context(closing(connect(path)))
                _migrate(writing, path)
                reading = opened.enter_context(closing(connect(path)))
                reading.execute("PRAGMA query_only = ON")
                opened.pop_all()  # from here on the workers close them
        except sqlite3.Error as failure:
            raise StoreError(f"{path} cannot be used: {failure}") from failure
        return cls(writing, reading)

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` inside a transaction and return its result once that is on the disk.

        What `fn` raises undoes what it did and comes out here; others in the same transaction are not touched.
        `fn` must not begin, commit or roll back. Raises StoreError if the transaction cannot be committed,
        StoreBusyError if too many wait. A caller cancelled while it waits does not know whether it happened.
        """
        return await self._writer.submit(fn)

    def post(self, fn: Callable[[Connection], T]) -> asyncio.Future[T]:
        """As `write`, at once and without waiting: the future holds what `fn` returned, or the failure."""
        return self._writer.post(fn)

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` on a connection that cannot write, in one consistent view of what is committed."""
        return await self._reader.submit(fn)

    async def close(self) -> None:
        """Finish what is waiting and close the file."""
        await self._reader.close()
        await self._writer.close()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Have the folder's lock: a new file becomes a WAL database for one process at a time, others would not wait."""
    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def connect(path: Path) -> Connection:
    # Made in one thread, then used by its worker alone.
    connection = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # an erased key is overwritten
    return connection


def _migrate(connection: Connection, path: Path) -> None:
    """Bring the schema up to date in one transaction; two processes starting at once wait for each other."""
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path} was written by a newer Postroom: its schema is {version}, this one knows up to "
            f"{len(MIGRATIONS)}; install that version, or restore a copy from before it"
        )
    for step in MIGRATIONS[version:]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


def _commit_together(connection: Connection, jobs: Sequence[Job[object]]) -> None:
    """All jobs in one transaction, each behind a savepoint of its own."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        for job in jobs:
            _attempt(connection, job)
        connection.execute("COMMIT")
    except (sqlite3.Error, StoreError) as failure:
        _give_up(connection, jobs, failure)
    else:
        for job in jobs:
            job.settle()


def _attempt(connection: Connection, job: Job[object]) -> None:
    connection.execute("SAVEPOINT job")
    failure = job.run(connection)
    if not connection.in_transaction:  # SQLite undoes the whole transaction when the disk is full
        raise failure if isinstance(failure, StoreError) else StoreError("a job ended the transaction of all")
    if failure is not None:
        connection.execute("ROLLBACK TO job")
    connection.execute("RELEASE job")


def _give_up(connection: Connection, jobs: Sequence[Job[object]], failure: Exception) -> None:
    with suppress(sqlite3.Error):  # there may be nothing left to undo
        connection.execute("ROLLBACK")
    for job in jobs:
        job.fail(StoreError(f"the database failed: {failure}"))


def _read_each(connection: Connection, jobs: Sequence[Job[object]]) -> None:
    for job in jobs:
        try:
            connection.execute("BEGIN")
            job.run(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as failure:
            _give_up(connection, [job], failure)
        else:
            job.settle()
