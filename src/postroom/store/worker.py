"""One thread that owns one connection and does the jobs of a bounded queue, as many at a time as are waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Generic, Protocol, TypeVar

from postroom.store.connection import Connection, Session

T = TypeVar("T")

_MOST_WAITING = 1024
_LARGEST_BATCH = 256


class StoreError(Exception):
    """The database cannot do what was asked; the sentence is for the operator."""


class StoreBusyError(StoreError):
    """Too much is waiting already; trying again later may help."""


class Job(Generic[T]):
    """A function to run with the connection, and the future of whoever waits for it."""

    def __init__(self, fn: Callable[[Connection], T]) -> None:
        self._fn = fn
        self._outcome: tuple[T] | Exception | None = None
        self.future: Future[T] = Future()

    def run(self, connection: Connection) -> Exception | None:
        """Do it and keep the outcome until it counts; what it raised is returned too."""
        try:
            self._outcome = (self._fn(connection),)
        except Exception as failure:  # noqa: BLE001 - it belongs to the caller that waits, not to this thread
            self._outcome = failure
        return None if isinstance(self._outcome, tuple) else self._outcome

    def settle(self) -> None:
        """Tell the caller the outcome."""
        if isinstance(self._outcome, tuple):
            self.future.set_result(self._outcome[0])
        else:
            self.fail(self._outcome or StoreError("the job was not done"))

    def fail(self, failure: Exception) -> None:
        """Tell the caller that it did not happen."""
        self.future.set_exception(failure)


Perform = Callable[[Session, Sequence[Job[object]]], None]
"""Does a batch and settles or fails each of its jobs; it must not raise."""


class Door(Protocol):
    """Where functions are given in, to be run with a connection."""

    async def submit(self, fn: Callable[[Connection], T]) -> T: ...

    async def close(self) -> None: ...


class Worker:
    """The thread and its queue."""

    def __init__(self, name: str, session: Session, perform: Perform) -> None:
        self._session = session
        self._perform = perform
        self._queue: Queue[Job[object] | None] = Queue(_MOST_WAITING)
        self._closing = False
        # A daemon, since what is committed is safe and a process must be able to end without close().
        self._thread = threading.Thread(target=self._run, name=f"postroom-{name}", daemon=True)
        self._thread.start()

    async def submit(self, fn: Callable[[Connection], T]) -> T:
        """The result of `fn(connection)`, or what it raised; StoreBusyError if too much is waiting.

        A caller that is cancelled before its job began takes it back; one that began is done to its end.
        """
        return await self.post(fn)

    def post(self, fn: Callable[[Connection], T]) -> asyncio.Future[T]:
        """The same as a future, for one who does not wait or must not take it back; every failure is in it."""
        job: Job[T] = Job(fn)
        future = asyncio.wrap_future(job.future)
        try:
            if self._closing:
                raise StoreError("the database is closed")
            self._queue.put_nowait(job)  # type: ignore[arg-type]  # the thread asks nothing of the result's type
        except StoreError as closed:
            job.fail(closed)
        except Full:
            job.fail(StoreBusyError("the database has too much to do; try again later"))
        return future

    async def close(self) -> None:
        """Do what is waiting, then end the thread and close its connection."""
        if not self._closing:
            self._closing = True
            await asyncio.to_thread(self._queue.put, None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        last = False
        while not last:
            batch, last = self._take()
            if wanted := [job for job in batch if job.future.set_running_or_notify_cancel()]:
                self._done(wanted)
        self._session.close()

    def _done(self, jobs: Sequence[Job[object]]) -> None:
        """Whatever happens, nobody waits for ever: who was not told anything is told that it failed."""
        try:
            self._perform(self._session, jobs)
        except Exception as unforeseen:  # noqa: BLE001 - the thread serves whoever comes next
            failure = StoreError(f"the database failed: {type(unforeseen).__name__}")
            for job in jobs:
                if not job.future.done():
                    job.fail(failure)
            with suppress(Exception):
                self._session.rollback()

    def _take(self) -> tuple[list[Job[object]], bool]:
        """Wait for one job, then take all that came meanwhile; True if that was the last."""
        batch: list[Job[object]] = []
        item = self._queue.get()
        while item is not None:
            batch.append(item)
            if len(batch) == _LARGEST_BATCH:
                return batch, False
            try:
                item = self._queue.get_nowait()
            except Empty:
                return batch, False
        return batch, True
