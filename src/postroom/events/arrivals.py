"""What came into a watched folder: told once to every endpoint that may see it; none is passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from postroom.base.errors import GatewayError
from postroom.events.endpoint import Endpoint
from postroom.events.pace import Pace
from postroom.events.watched import HIDES, Means, Watched, due, glimpse_of
from postroom.mail.model import Shown
from postroom.mailbox.following import Place
from postroom.mailbox.notices import DELETED, FLAGS, RECEIVED, RESET, of_mailbox, of_message
from postroom.store import marks
from postroom.store.deliveries import Due
from postroom.store.findings import Finding, record
from postroom.store.leases import Lease
from postroom.store.marks import Mark
from postroom.store.told import Told

_AT_ONCE = 100
"""Messages that are told in one transaction."""


class Arrivals:
    """Of one mailbox. A message that cannot be looked at now stops the mark, so that it is looked at again."""

    def __init__(self, watched: Watched, means: Means) -> None:
        self._watched = watched
        self._means = means
        self._pace = Pace(watched, means)

    async def look(self, folder: str, lease: Lease) -> None:
        """Tell of all that came since the last look. Raises a `GatewayError`, StoreError, LeaseLostError.

        A folder that is met for the first time is told of from now on.
        """
        numbers = self._means.directory().numbers(self._watched.mailbox)
        mark = await marks.read(self._means.database, self._watched.mailbox, folder)
        if mark is None:
            await self._record(lease, Finding(folder, mark=_mark(await numbers.now(folder))))
            return
        arrived = await numbers.after(folder, Place(mark.uid_validity, mark.uid))
        if arrived.now is not None:
            await self._reset(folder, arrived.now, lease)
            return
        for uids in _batches(arrived.uids):
            finding = await self._found(folder, mark.uid_validity, uids)
            await self._record(lease, finding)
            await self._pace.keep(Counter(one.endpoint for one in finding.due))

    async def _found(self, folder: str, uid_validity: int, uids: Sequence[int]) -> Finding:
        tellings: list[Due] = []
        told: list[Told] = []
        for endpoint in self._watched.who_want(RECEIVED):
            seen, policy = await self._seen(endpoint, folder, uid_validity, uids)
            for uid, shown in sorted(seen.items()):
                notice = of_message(RECEIVED, endpoint.mailbox, folder, shown.uid)
                tellings.append(due(endpoint, notice, self._means, folder, (uid_validity, uid)))
                if endpoint.wants(FLAGS) or endpoint.wants(DELETED):
                    where = (endpoint.mailbox, endpoint.name, folder, uid_validity, uid)
                    told.append(Told(*where, shown.flags, policy))
        return Finding(folder, tellings, Mark(uid_validity, uids[-1]), told)

    async def _seen(
        self, endpoint: Endpoint, folder: str, uid_validity: int, uids: Sequence[int]
    ) -> tuple[dict[int, Shown], str]:
        """Those of these messages that exist for an endpoint, and the hash of the policy that says so."""
        glimpse = glimpse_of(endpoint, self._means.directory())
        if glimpse is None:
            return {}, ""
        try:
            return await glimpse.rows(folder, uid_validity, uids), glimpse.policy
        except GatewayError as error:
            # A folder that was there a moment ago, and is not for somebody with a policy, is hidden from it.
            if error.code not in HIDES or endpoint.caller.binding is None:
                raise
            return {}, glimpse.policy

    async def _reset(self, folder: str, now: Place, lease: Lease) -> None:
        """The folder was numbered anew: its receivers list it again, and nothing of it is told twice."""
        notice = of_mailbox(RESET, self._watched.mailbox, folder=folder)
        tellings = [
            due(endpoint, notice, self._means, folder)
            for endpoint in self._watched.who_want(RESET)
            if await self._may_read(endpoint, folder)
        ]
        await self._record(lease, Finding(folder, tellings, _mark(now), renumbered=True))

    async def _may_read(self, endpoint: Endpoint, folder: str) -> bool:
        glimpse = glimpse_of(endpoint, self._means.directory())
        if glimpse is None:
            return False
        try:
            await glimpse.may_read(folder)
        except GatewayError as error:
            if error.code not in HIDES:
                raise
            return False
        return True

    async def _record(self, lease: Lease, finding: Finding) -> None:
        await record(self._means.database, lease, finding, self._means.clock.now())


def _mark(place: Place) -> Mark:
    return Mark(place.uid_validity, place.uid)


def _batches(uids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(uids), _AT_ONCE):
        yield uids[start : start + _AT_ONCE]
