"""How far a watcher runs ahead of those who are told: a flood waits in the mailbox, and overflows no queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from postroom.events.endpoint import Endpoint
from postroom.events.watched import Means, Watched
from postroom.mailbox.notices import RECEIVED
from postroom.store import endpoints
from postroom.store.deliveries import MOST_WAITING

FAR = MOST_WAITING // 2
_LOOK_SECONDS = 1.0


class Pace:
    """Of one mailbox. What is not marked as told yet is found again, after a restart too."""

    def __init__(self, watched: Watched, means: Means) -> None:
        self._watched = watched
        self._means = means

    async def keep(self, told: Mapping[str, int]) -> None:
        """Return as soon as somebody who takes events has few enough waiting, or nobody takes any. Raises StoreError.

        The quickest decides: no endpoint waits for another, and those that fail are not waited for. Nor does one decide
        that was `told` far less than others just now, since most of the mail is hidden from it.
        """
        much = max(told.values(), default=0) / 2
        busy = [one for one in self._watched.who_want(RECEIVED) if told.get(one.name, 0) > much]
        while await self._is_far_ahead(busy):
            await self._means.clock.sleep(_LOOK_SECONDS)

    async def _is_far_ahead(self, busy: Sequence[Endpoint]) -> bool:
        waiting = [await self._waiting(endpoint) for endpoint in busy]
        taking = [count for count in waiting if count is not None]
        return bool(taking) and min(taking) >= FAR

    async def _waiting(self, endpoint: Endpoint) -> int | None:
        """Events that wait for it; None where it takes none at present."""
        found = await endpoints.standing(self._means.database, (endpoint.mailbox, endpoint.name))
        return found.waiting if found.failing_since is None and found.disabled is None else None
