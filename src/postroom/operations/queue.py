"""The queue of webhooks' deliveries, as far as calls may reach it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from postroom.base.errors import Code, GatewayError
from postroom.operations.trail import unwritable
from postroom.store import deliverylist
from postroom.store.courierqueue import State
from postroom.store.database import Connection, Database
from postroom.store.deliverylist import Listed
from postroom.store.worker import StoreError

T = TypeVar("T")


class Queue:
    """One for the process; `wake` says to the courier that something is due."""

    def __init__(self, database: Database, wake: Callable[[], None]) -> None:
        self._database = database
        self._wake = wake

    async def listing(self, mailbox: str, state: State | None, limit: int) -> list[Listed]:
        """The newest deliveries of a mailbox. Raises `unavailable` if they cannot be read."""
        try:
            return await deliverylist.listing(self._database, mailbox, state, limit)
        except StoreError as failure:
            message = "The deliveries cannot be read now. Try again; the operator must look at it if it stays."
            raise GatewayError(Code.UNAVAILABLE, message, reason="books", retry_after=5) from failure

    async def replay(self, queue: Callable[[Connection], T]) -> T:
        """Have something queued in one transaction. Raises what `queue` raises, and `unavailable`."""
        try:
            queued = await self._database.write(queue)
        except StoreError as failure:
            raise unwritable() from failure
        self._wake()
        return queued
