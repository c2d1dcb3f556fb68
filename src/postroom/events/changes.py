"""What became of messages that an endpoint was told of: other flags, or gone. Of no other message it hears anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from postroom.base.errors import GatewayError
from postroom.events.endpoint import Endpoint
from postroom.events.watched import HIDES, Means, Watched, due, glimpse_of
from postroom.mail.model import Shown
from postroom.mailbox.notices import DELETED, FLAGS, Notice, of_message
from postroom.mailbox.numbers import Glimpse
from postroom.store import told as memory
from postroom.store.deliveries import Due
from postroom.store.findings import Finding, record
from postroom.store.leases import Lease
from postroom.store.told import Told

_MOST_FLAGS, _LONGEST = 50, 40
"""Flags of one message that are told, and their characters."""


@dataclass(slots=True)
class _Found:
    """What is to be told to one endpoint, and what is known of its messages then."""

    due: list[Due] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    forgotten: list[Told] = field(default_factory=list)


class Changes:
    """Of one mailbox."""

    def __init__(self, watched: Watched, means: Means) -> None:
        self._watched = watched
        self._means = means

    async def look(self, folder: str, lease: Lease) -> None:
        """Tell what changed since the last look. Raises a `GatewayError`, StoreError, LeaseLostError."""
        for endpoint in self._watched.who_want(FLAGS, DELETED):
            known = await memory.listing(self._means.database, endpoint.mailbox, endpoint.name, folder)
            if known:
                await self._look(endpoint, folder, known, lease)

    async def _look(self, endpoint: Endpoint, folder: str, known: Sequence[Told], lease: Lease) -> None:
        directory, uid_validity = self._means.directory(), known[-1].uid_validity
        numbers = directory.numbers(endpoint.mailbox)
        now = await numbers.flags(folder, uid_validity, {one.uid for one in known})
        glimpse = glimpse_of(endpoint, directory)
        policy = glimpse.policy if glimpse is not None else None
        found = _Found()
        for one in known:
            if one.uid not in now:
                self._gone(endpoint, glimpse, one, found)
        there = [one for one in known if one.uid in now]
        others = [one for one in there if one.policy != policy or now[one.uid] not in (None, one.flags)]
        await self._changed(endpoint, glimpse, others, found)
        if found.told or found.forgotten:
            finding = Finding(folder, found.due, None, found.told, found.forgotten)
            await record(self._means.database, lease, finding, self._means.clock.now())

    def _gone(self, endpoint: Endpoint, glimpse: Glimpse | None, one: Told, found: _Found) -> None:
        """Whether another policy would still have shown it nobody can tell any more."""
        found.forgotten.append(one)
        if glimpse is not None and glimpse.policy == one.policy and endpoint.wants(DELETED):
            uid = glimpse.name(one.folder, one.uid, one.uid_validity)
            found.due.append(self._due(endpoint, one, of_message(DELETED, one.mailbox, one.folder, uid)))

    async def _changed(
        self, endpoint: Endpoint, glimpse: Glimpse | None, others: Sequence[Told], found: _Found
    ) -> None:
        shown = await _seen(glimpse, others)
        for one in others:
            seen = shown.get(one.uid)
            if glimpse is None or seen is None:
                found.forgotten.append(one)
                continue
            found.told.append(replace(one, flags=seen.flags, policy=glimpse.policy))
            if seen.flags != one.flags and endpoint.wants(FLAGS):
                notice = of_message(FLAGS, one.mailbox, one.folder, seen.uid, flags=_spelled(seen.flags))
                found.due.append(self._due(endpoint, one, notice))

    def _due(self, endpoint: Endpoint, one: Told, notice: Notice) -> Due:
        return due(endpoint, notice, self._means, one.folder, (one.uid_validity, one.uid))


async def _seen(glimpse: Glimpse | None, others: Sequence[Told]) -> Mapping[int, Shown]:
    if glimpse is None or not others:
        return {}
    try:
        return await glimpse.rows(others[0].folder, others[0].uid_validity, {one.uid for one in others})
    except GatewayError as error:
        if error.code not in HIDES:
            raise
        return {}


def _spelled(flags: Collection[str]) -> list[str]:
    return [flag for flag in sorted(flags) if len(flag) <= _LONGEST][:_MOST_FLAGS]
