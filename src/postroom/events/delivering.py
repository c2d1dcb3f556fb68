"""One delivery from its claim to what is written down of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from postroom.base.clock import Clock
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.config import CredentialError
from postroom.events.egress import Egress, Unposted
from postroom.events.endpoint import Endpoint
from postroom.events.posting import TOTAL_SECONDS, Posted, post
from postroom.events.recheck import Sight, StillShown, message_of
from postroom.events.schedule import LEAST_TRIES, MOST_TRIES, is_given_up, next_attempt
from postroom.events.signing import signed, signing_keys
from postroom.store import courierqueue, endpoints
from postroom.store.connection import Connection
from postroom.store.courierqueue import Answered, Claimed, State
from postroom.store.database import Database
from postroom.store.deliveries import Due, body_of, enqueue

DISABLED = "endpoint.disabled"
_PUT_OFF = timedelta(seconds=30)
_HIDDEN = State.DROPPED, Answered(None, "its message is hidden by now, or gone")
_LEFT = State.FAILED, Answered(None, "attempts were begun as often as may be, and none came to an end")


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts of one courier. What each came to is written down in one transaction with all that follows from it."""

    owner: str
    """Under which deliveries are claimed."""
    endpoints: Sequence[Endpoint]
    database: Database
    egress: Egress
    still_shown: StillShown
    clock: Clock
    log: Log
    chance: Callable[[], float]
    meters: Meters
    seconds: float = TOTAL_SECONDS

    async def attempt(self, endpoint: Endpoint, claimed: Claimed) -> None:
        """Raises StoreError where it cannot be written down; then the claim runs out, and it is attempted again."""
        if claimed.tries > MOST_TRIES:
            await self._end(claimed, _LEFT)
            return
        sight = await self._sight(endpoint, claimed)
        if sight is Sight.HIDDEN:
            await self._end(claimed, _HIDDEN)
        elif sight is Sight.UNKNOWN:
            at = self.clock.now() + _PUT_OFF
            await self.database.write(lambda db: courierqueue.put_off(db, claimed, self.owner, at))
        else:
            body, now = claimed.body.encode(), self.clock.now()
            came = await deliver(self.egress, endpoint, claimed.id, body, now, self.seconds)
            await self._record(endpoint, claimed, came)

    async def _end(self, claimed: Claimed, how: tuple[State, Answered]) -> None:
        now = self.clock.now()
        await self.database.write(lambda db: courierqueue.end(db, claimed, self.owner, how, now))

    async def _sight(self, endpoint: Endpoint, claimed: Claimed) -> Sight:
        message = message_of(endpoint, claimed)
        return Sight.SHOWN if message is None else await self.still_shown(endpoint, message)

    async def _record(self, endpoint: Endpoint, claimed: Claimed, came: Posted | str) -> None:
        now, is_taken = self.clock.now(), isinstance(came, Posted) and came.is_taken
        self.meters.post("taken" if is_taken else "refused" if isinstance(came, Posted) else "unanswered")
        if isinstance(came, Posted) and came.is_taken:
            record = partial(self._taken, claimed, came, now)
        else:
            record = partial(self._refused, endpoint, claimed, came, now)
        for event, answered in await self.database.write(record):
            told = {"status": answered.status} if answered.status is not None else {"reason": answered.said}
            self.log.warning(event, mailbox=endpoint.mailbox, webhook=endpoint.name, **told)

    def _taken(self, claimed: Claimed, came: Posted, now: datetime, db: Connection) -> list[tuple[str, Answered]]:
        answered = Answered(came.status, came.said)
        place = claimed.mailbox, claimed.endpoint
        if not courierqueue.end(db, claimed, self.owner, (State.DELIVERED, answered), now):
            return []
        return [("webhook.works_again", answered)] if endpoints.working(db, place) else []

    def _refused(
        self, endpoint: Endpoint, claimed: Claimed, came: Posted | str, now: datetime, db: Connection
    ) -> list[tuple[str, Answered]]:
        """What the log is to be told of it."""
        answered = Answered(came.status, came.said) if isinstance(came, Posted) else Answered(None, came)
        if not self._put_back(claimed, came, answered, now, db):
            return []
        place = claimed.mailbox, claimed.endpoint
        since = endpoints.failing(db, place, now)
        gone = isinstance(came, Posted) and came.is_gone
        if gone or (is_given_up(since, now) and endpoints.was_tried(db, place, LEAST_TRIES, since)):
            self._disable(endpoint, "gone" if gone else "failing", now, db)
            return [("webhook.disabled", answered)]
        return [("webhook.failing", answered)] if since == now else []

    def _put_back(
        self, claimed: Claimed, came: Posted | str, answered: Answered, now: datetime, db: Connection
    ) -> bool:
        wish = came.retry_after if isinstance(came, Posted) else None
        at = next_attempt(claimed.tries, now, self.chance(), wish)
        if at is None:
            return courierqueue.end(db, claimed, self.owner, (State.FAILED, answered), now)
        return courierqueue.again(db, claimed, self.owner, answered, at)

    def _disable(self, endpoint: Endpoint, reason: str, now: datetime, db: Connection) -> None:
        """The mailbox's other endpoints hear of it, if they want to."""
        if not endpoints.disable(db, (endpoint.mailbox, endpoint.name), reason, now):
            return
        data = {"mailbox": endpoint.mailbox, "endpoint": endpoint.name, "reason": reason}
        others = (one for one in self.endpoints if one.mailbox == endpoint.mailbox and one.name != endpoint.name)
        body = body_of(DISABLED, now, data)
        enqueue(db, [Due(one.mailbox, one.name, DISABLED, body) for one in others if one.wants(DISABLED)], now)


async def deliver(
    egress: Egress, endpoint: Endpoint, identifier: str, body: bytes, now: datetime, seconds: float = TOTAL_SECONDS
) -> Posted | str:
    """Post once, signed: the answer, or in a sentence why there is none."""
    settings = endpoint.settings
    try:
        headers = signed(identifier, body, now, await signing_keys(settings))
        return await post(egress, settings.url, settings.allow_private, headers, body, now=now, seconds=seconds)
    except (Unposted, CredentialError) as failure:
        return str(failure)
