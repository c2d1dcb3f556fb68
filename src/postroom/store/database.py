"""The database: one writer that commits many callers at once, and readers that wait for no writer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TypeVar

from postroom.base.clock import Clock
from postroom.base.files import private_folder
from postroom.config import Config
from postroom.config.storeurl import StoreUrl
from postroom.store.announcing import Board, Heard
from postroom.store.batches import commit_together, read_together
from postroom.store.connection import Connection, Session
from postroom.store.hearing import Post
from postroom.store.postgresql import READING, PostgresqlSession, open_database
from postroom.store.sqlite import Glances, open_file
from postroom.store.worker import Door, Worker

T = TypeVar("T")

FILE_NAME = "postroom.sqlite3"
_GLANCE_SECONDS = 3.0
"""In which a PostgreSQL must give a row or two: every call waits for them."""


class Database:
    """Two doors: `write` and `read`. Functions given to them are run in another thread and must be short."""

    def __init__(
        self, board: Board, writing: Worker, reading: Worker, glancing: Door, post: Post | None = None
    ) -> None:
        self._board = board
        self._writing = writing
        self._reading = reading
        self._glancing = glancing
        self._post = post

    @classmethod
    async def open(cls, path: Path, *, insecure_permissions: bool = False) -> Database:
        """The SQLite database in the file `path`, made if it is not there (0600, in a folder of 0700), up to date.

        Raises FileFault for a file or folder that is open to others, StoreError for one that is not ours to use.
        """
        writing, reading, glancing = await asyncio.to_thread(open_file, path, checked=not insecure_permissions)
        board = Board()
        return cls(board, _writer(board, writing), _reader("reader", reading), Glances(glancing))

    @classmethod
    async def connect(cls, url: StoreUrl) -> Database:
        """The PostgreSQL database at `url`, brought up to date. Raises StoreError if it cannot be reached or used."""
        board = Board()
        post = Post(url, board)
        writing = await asyncio.to_thread(open_database, url, post.letter)
        reading = _reader("reader", PostgresqlSession(url, READING))
        glancing = _reader("glancer", PostgresqlSession(url, READING, seconds=_GLANCE_SECONDS))
        return cls(board, _writer(board, writing), reading, glancing, post)

    @classmethod
    async def of(cls, config: Config) -> Database:
        """The one that the configuration names, as `open` and `connect` give it."""
        if isinstance(config.store, StoreUrl):
            await asyncio.to_thread(private_folder, config.state_dir, checked=not config.insecure_permissions)
            return await cls.connect(config.store)
        return await cls.open(config.state_dir / FILE_NAME, insecure_permissions=config.insecure_permissions)

    @property
    def is_shared(self) -> bool:
        """Whether other gateways may work with it at the same time."""
        return self._post is not None

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` inside a transaction and return its result once that is on the disk.

        What `fn` raises undoes what it did and comes out here; others in the same transaction are not touched.
        `fn` must not begin, commit or roll back. Raises StoreError if the transaction cannot be committed, or if the
        connection was lost before PostgreSQL could say that it was; StoreBusyError if too many wait. A caller
        cancelled while it waits does not know whether it happened.
        """
        return await self._writing.submit(fn)

    def post(self, fn: Callable[[Connection], T]) -> asyncio.Future[T]:
        """As `write`, at once and without waiting: the future holds what `fn` returned, or the failure."""
        return self._writing.post(fn)

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` on a connection that cannot write, in one consistent view of what is committed."""
        return await self._reading.submit(fn)

    async def glance(self, fn: Callable[[Connection], T]) -> T:
        """As `read`, for a row or two that every call looks at: it waits for nobody's longer reading."""
        return await self._glancing.submit(fn)

    def listening(self, topic: str, heard: Heard) -> AbstractContextManager[None]:
        """While the block runs, `heard` is called with the payload of each announcement of the topic.

        It is called on the event loop, also for what other gateways announce while `keep_listening` runs, and with
        None whenever something may have been missed.
        """
        return self._board.listening(topic, heard)

    async def keep_listening(self, clock: Clock) -> None:
        """Hear what other gateways announce, for as long as the process runs."""
        if self._post is not None:
            await self._post.keep(clock)

    async def close(self) -> None:
        """Finish what is waiting and close the connections."""
        await self._glancing.close()
        await self._reading.close()
        await self._writing.close()


def _writer(board: Board, session: Session) -> Worker:
    return Worker("writer", session, partial(commit_together, board.pin))


def _reader(name: str, session: Session) -> Worker:
    return Worker(name, session, read_together)
