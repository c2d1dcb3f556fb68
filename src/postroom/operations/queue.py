"""The queue of webhooks' deliveries, as far as calls may reach it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from postroom.base.errors import Code, GatewayError
from postroom.operations.trail import unwritable
from postroom.store import deliverylist
from postroom.store.connection import Connection
from postroom.store.courierqueue import State
from postroom.store.database import Database
from postroom.store.deliverylist import Listed
from postroom.store.worker import StoreError

T = TypeVar("T")


class Queue:
    """One for the process."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
            return await self._database.write(queue)
        except StoreError as failure:
            raise unwritable() from failure
