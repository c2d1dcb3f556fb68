"""For conversations: which messages belong together by what their own heads say (RFC 5256, REFERENCES)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeAlias, TypeVar

from postroom.mail.model import Head, Threading

Key = TypeVar("Key", bound=Hashable)
Ordered: TypeAlias = tuple[datetime, datetime, int]
"""When a message was received and sent, and a number where both are equal."""

MOST_REFERENCES = 100
"""References of one message that are looked at: the first, which names the root, and the latest."""


@dataclass(frozen=True, slots=True)
class Kin:
    """What a head says of its kin: its own id, and the ids of its ancestors, oldest first, both with brackets."""

    message_id: str | None
    ancestors: tuple[str, ...]
    copy: int | None = None
    """The same for all copies of one message, within this process; None if nothing is known of copies."""


def kin_of(head: Head, ids: Threading | None = None) -> Kin:
    """References, or else In-Reply-To (RFC 5322 3.6.4); a message is not its own ancestor.

    `ids` are the message's own where its head is shown without them.
    """
    ids = ids or head.threading
    ancestors = ids.references or ((ids.in_reply_to,) if ids.in_reply_to else ())
    if len(ancestors) > MOST_REFERENCES:
        ancestors = (ancestors[0], *ancestors[-(MOST_REFERENCES - 1) :])
    copy = hash((head.date, head.subject)) if ids.message_id else None
    return Kin(ids.message_id, tuple(one for one in dict.fromkeys(ancestors) if one != ids.message_id), copy)


def conversations(kin: Mapping[Key, Kin]) -> list[list[Key]]:
    """Messages by conversation, each in the order they came in.

    A message joins its parent, by its own word alone: what it says of two others that are there does not tie those
    together, or anybody could. Ids that name no message here are tied as references have them, so that answers to a
    lost message stay together; the first to say so counts. Subjects tie nothing. Of several messages with one id the
    first is the one that is answered, and those that are copies of it are with it.
    """
    keys, said = list(kin), list(kin.values())
    owners: dict[str, int] = {}
    for place, one in enumerate(said):
        if one.message_id is not None:
            owners.setdefault(one.message_id, place)
    ties = _Ties()
    for place, one in enumerate(said):
        owner = owners.get(one.message_id, place) if one.message_id is not None else place
        if one.copy is not None and one.copy == said[owner].copy:
            ties.tie(place, owner)
        if one.ancestors:
            ties.tie_absent(one.ancestors, owners)
            ties.tie(place, owners.get(one.ancestors[-1], one.ancestors[-1]))
    return [[keys[place] for place in group] for group in ties.groups(len(keys))]


class _Ties:
    """Which belong together of messages, by their place, and of ids that name none: a forest that is kept flat."""

    def __init__(self) -> None:
        self._above: dict[int | str, int | str] = {}
        self._placed: set[str] = set()

    def tie(self, one: int | str, other: int | str) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self._above[first] = second

    def tie_absent(self, ancestors: Sequence[str], owners: Mapping[str, int]) -> None:
        """Tie each ancestor that is no message to the one before it, if nobody has said yet where it belongs."""
        for before, absent in pairwise(ancestors):
            if absent not in owners and absent not in self._placed:
                self._placed.add(absent)
                self.tie(absent, owners.get(before, before))

    def groups(self, count: int) -> list[list[int]]:
        found: dict[int | str, list[int]] = {}
        for place in range(count):
            found.setdefault(self._root(place), []).append(place)
        return list(found.values())

    def _root(self, one: int | str) -> int | str:
        root = one
        while (above := self._above.get(root, root)) != root:
            root = above
        while one != root:
            self._above[one], one = root, self._above[one]
        return root


def oldest_first(kin: Sequence[Kin], moments: Sequence[Ordered]) -> list[int]:
    """Places of messages by their moments, but none before the nearest ancestor of its own that is there.

    Answers to a message that came late, as after a move to another server, still follow it; loops end by moment.
    """
    owners: dict[str, int] = {}
    by_moment = sorted(range(len(kin)), key=lambda place: moments[place])
    for place in by_moment:
        if (id_ := kin[place].message_id) is not None:
            owners.setdefault(id_, place)
    answers: dict[int | None, list[int]] = {}
    for place in by_moment:
        parent = next((owners[one] for one in reversed(kin[place].ancestors) if one in owners), None)
        answers.setdefault(None if parent == place else parent, []).append(place)
    return list(_by_parent(by_moment, answers, moments))


def _by_parent(
    by_moment: Sequence[int], answers: Mapping[int | None, Sequence[int]], moments: Sequence[Ordered]
) -> Iterator[int]:
    told: set[int] = set()
    ready = [(moments[place], place) for place in answers.get(None, ())]
    heapify(ready)
    rest = iter(by_moment)
    while len(told) < len(by_moment):
        # Where nothing is ready there is a loop: its earliest message is told first.
        place = heappop(ready)[1] if ready else next(one for one in rest if one not in told)
        if place not in told:
            told.add(place)
            yield place
            for one in answers.get(place, ()):
                heappush(ready, (moments[one], one))
