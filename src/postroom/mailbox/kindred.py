"""Who is kin to whom in a folder: ids and references of its messages, kept so that only new mail is asked about."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from postroom.imap.faults import RefusedFault
from postroom.mail.query.tree import Header, Or
from postroom.mail.threads import Kin
from postroom.mailbox.reading import OpenFolder

MOST_KEPT = 20_000
_MOST_CHARACTERS = 8_000_000
"""Of ids of one folder."""
_WIDER = 8
_AT_ONCE = 2_000
"""Messages that are asked for in one command."""
_LONGEST_ID = 120
_MOST_SOUGHT = 10
"""Ids that one search looks for."""
_MOST_FOUND = 500
_MOST_REMEMBERED = 20_000
"""Ids of which it is remembered that they were looked for."""


class FolderKin:
    """One folder's; for as long as its numbering stays."""

    def __init__(self) -> None:
        self.of: dict[int, Kin] = {}
        self.version = 0
        """Grows whenever something is learned or forgotten."""
        self.uid_validity = -1
        self.low = 0
        """All messages from this UID on are known."""
        self._high = 0
        self._exists = 0
        self._characters = 0
        self._sought: set[str] = set()

    @property
    def whole(self) -> bool:
        """Nothing of the folder is older than what is known."""
        return self.low <= 1

    @property
    def full(self) -> bool:
        return len(self.of) >= MOST_KEPT or self._characters >= _MOST_CHARACTERS

    async def refresh(self, folder: OpenFolder, least: int) -> None:
        """Learn of new mail, and of older mail until `least` messages are known; forget what is gone."""
        if folder.uid_validity != self.uid_validity or not folder.uids_stay:
            self._begin(folder.uid_validity)
        top, exists = await folder.top(), folder.exists
        if not self._high:
            self.low, self._high = top + 1, top
        else:
            await self._catch_up(folder, top, exists)
        self._exists = exists
        await self._reach_back(folder, least)

    async def include(self, folder: OpenFolder, uid: int) -> bool:
        """Know this message too; False if there is none."""
        if uid not in self.of:
            await self._learn(folder, [uid])
        return uid in self.of

    def seeks(self, ids: Collection[str]) -> bool:
        """Whether there is older mail that was not looked at for these."""
        return bool(self._unsought(ids))

    async def seek(self, folder: OpenFolder, ids: Collection[str]) -> bool:
        """Look among older mail for messages with these ids and for answers to them; False if the server cannot."""
        sought = self._unsought(ids)[:_MOST_SOUGHT]
        fields = ("message-id", "references", "in-reply-to")
        query = Or(tuple(Header(name, one) for one in sought for name in fields))
        try:
            hits = await folder.search(query, 1, self.low - 1)
        except RefusedFault:
            return False
        if len(self._sought) > _MOST_REMEMBERED:
            self._sought.clear()
        self._sought.update(sought)
        found = sorted((uid for uid in hits if uid not in self.of), reverse=True)[:_MOST_FOUND]
        await self._learn(folder, found)
        return True

    def _begin(self, uid_validity: int) -> None:
        self.of, self._sought, self._characters = {}, set(), 0
        self.uid_validity, self.low, self._high, self._exists = uid_validity, 0, 0, 0
        self.version += 1

    async def _catch_up(self, folder: OpenFolder, top: int, exists: int) -> None:
        """New mail; if the number of messages has changed by anything else, something is gone."""
        arrived = await folder.uids(self._high + 1, top) if top > self._high else []
        await self._learn(folder, arrived)
        self._high = max(top, self._high)
        if exists != self._exists + len(arrived):
            await self._forget_gone(folder)

    async def _forget_gone(self, folder: OpenFolder) -> None:
        there = set(await folder.uids(self.low, self._high)) if self.low <= self._high else set[int]()
        older = [uid for uid in self.of if uid < self.low]
        if older:
            there |= (await folder.marks(older)).keys()
        for uid in self.of.keys() - there:
            self._characters -= _characters(self.of.pop(uid))
            self.version += 1

    async def _reach_back(self, folder: OpenFolder, least: int) -> None:
        width = least
        while len(self.of) < least and not self.full and self.low > 1:
            below = max(1, self.low - width)
            await self._learn(folder, await folder.uids(below, self.low - 1))
            self.low, width = below, width * _WIDER

    def _unsought(self, ids: Collection[str]) -> list[str]:
        return [] if self.whole else [one for one in ids if one not in self._sought and not one.startswith("#")]

    async def _learn(self, folder: OpenFolder, uids: Collection[int]) -> None:
        for batch in _batches(uids):
            for uid, kin in (await folder.kin(batch)).items():
                short = _short(kin)
                self._characters += _characters(short) - (_characters(self.of[uid]) if uid in self.of else 0)
                self.of[uid] = short
                self.version += 1


def _batches(uids: Collection[int]) -> Iterator[set[int]]:
    ordered = sorted(uids, reverse=True)
    for start in range(0, len(ordered), _AT_ONCE):
        yield set(ordered[start : start + _AT_ONCE])


def _characters(kin: Kin) -> int:
    return len(kin.message_id or "") + sum(map(len, kin.ancestors))


def _short(kin: Kin) -> Kin:
    """With a digest instead of each id that is too long to be kept: one that the server is not asked for."""
    if all(len(one) <= _LONGEST_ID for one in (kin.message_id or "", *kin.ancestors)):
        return kin
    return Kin(kin.message_id and _name(kin.message_id), tuple(map(_name, kin.ancestors)), kin.copy)


def _name(id_: str) -> str:
    return id_ if len(id_) <= _LONGEST_ID else f"#{hashlib.sha256(id_.encode()).hexdigest()}"
