"""What calls spend of their tokens' hourly limits: counted in the store before it is spent."""

from __future__ import annotations

from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.config import LimitsConfig
from postroom.store import spending
from postroom.store.database import Database
from postroom.store.worker import StoreError


class Books:
    """One for the process. A call reaches it through `Call`."""

    def __init__(self, database: Database, clock: Clock, limits: LimitsConfig) -> None:
        self._database = database
        self._clock = clock
        self._limits = limits

    async def spend_moves(self, token: str, count: int) -> None:
        """Raises `rate_limited` when the token would move or delete more messages in an hour than it may."""
        most = self._limits.moves_per_hour
        seconds = await self._spend(token, "moves", count, most)
        if seconds:
            message = (
                f"This token may move or delete {most:,} messages an hour, and this call's {count:,} would be more; "
                + (f"try again in {seconds} s." if count <= most else f"name at most {most:,} in a call.")
            )
            raise GatewayError(Code.RATE_LIMITED, message, retry_after=seconds, limit=most)

    async def _spend(self, token: str, kind: str, count: int, most: int) -> int:
        if not most or count <= 0:
            return 0
        try:
            return await spending.spend(self._database, token, kind, count, most, self._clock.now())
        except StoreError as failure:
            raise unwritable() from failure


def unwritable() -> GatewayError:
    """What cannot be written down is not done."""
    message = "The gateway cannot keep its books now, so it changes nothing. Try again; the operator must look at it."
    return GatewayError(Code.UNAVAILABLE, message, reason="books", retry_after=5)
