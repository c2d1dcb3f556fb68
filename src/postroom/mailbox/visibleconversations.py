"""Conversations as a bound caller sees them: of visible messages, by what these say, and of nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from postroom.base.errors import GatewayError
from postroom.mail.model import Fetched, Shown
from postroom.mail.threads import Kin, conversations, kin_of
from postroom.mailbox.conversations import Group, Grouped, Look, Numbering, Place
from postroom.mailbox.folders import INBOX, Folder, folder_name
from postroom.mailbox.listing import newest_seen
from postroom.mailbox.reading import OpenFolder

_BOUND = "only the newest {:,} messages of each folder were looked at"
_UNREAD = "the folder {} could not be read"


class Seeing(Protocol):
    """What this needs of a sight."""

    def open(
        self, folder: str, *, proved: bool = True, since: float = math.inf
    ) -> AbstractAsyncContextManager[OpenFolder]: ...

    async def special(self, use: str) -> Folder | None: ...

    async def rows(self, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]: ...


class VisibleConversations:
    """Made anew for each call: what is hidden now must not have tied together what is seen.

    A hidden message is no member and ties nothing; of visible ones the newest `most` of each folder are looked at.
    """

    def __init__(self, sight: Seeing, most: int) -> None:
        self._sight = sight
        self._most = most

    async def around(self, folder: str, uid: int, numbering: Numbering | None, look: Look) -> Grouped | None:
        found = await self._kin(folder_name(folder), numbering, uid)
        place = (found.here, uid)
        if place not in found.kin:
            return None
        groups = [tuple(group) for group in conversations(found.kin) if place in group]
        return found.grouped(groups, more=False)

    async def recent(self, folder: str, count: int, *, below: int | None, numbering: Numbering | None) -> Grouped:
        found = await self._kin(folder_name(folder), numbering)
        newest: dict[int, Group] = {}
        for group in map(tuple, conversations(found.kin)):
            here = [uid for name, uid in group if name == found.here]
            if here and (below is None or max(here) < below):
                newest[max(here)] = group
        groups = [newest[uid] for uid in sorted(newest, reverse=True)]
        return found.grouped(groups[:count], more=len(groups) > count)

    async def _kin(self, here: str, numbering: Numbering | None, uid: int | None = None) -> _Found:
        found = _Found(here)
        sent = await self._sight.special("sent")
        for name in dict.fromkeys([here, INBOX, *([sent.name] if sent else [])]):
            try:
                await self._learn(found, name, numbering if name == here else None, uid if name == here else None)
            except GatewayError as error:
                if name == here:
                    raise
                hidden = error.code.value in ("not_found", "policy_denied")
                found.incomplete = found.incomplete if hidden else _UNREAD.format(name)
        return found

    async def _learn(self, found: _Found, name: str, numbering: Numbering | None, uid: int | None) -> None:
        async with self._sight.open(name) as opened:
            if numbering is not None and not await opened.has_numbering(numbering.uid_validity):
                raise numbering.otherwise
            found.numbering[name] = opened.uid_validity
            rows, whole = await newest_seen(opened, self._most, self._sight.rows)
            if uid is not None and all(row.uid != uid for row in rows):
                asked = await opened.rows([uid])
                told = await self._sight.rows(opened, asked)
                rows += [row for row, shown in zip(asked, told, strict=True) if shown is not None]
            found.kin |= {(name, row.uid): kin_of(row.head) for row in rows}
            if not whole:
                found.incomplete = found.incomplete or _BOUND.format(self._most)


class _Found:
    """Who is kin to whom among what is seen."""

    def __init__(self, here: str) -> None:
        self.here = here
        self.kin: dict[Place, Kin] = {}
        self.numbering: dict[str, int] = {}
        self.incomplete: str | None = None

    def grouped(self, groups: Sequence[Group], *, more: bool) -> Grouped:
        numbering: Mapping[str, int] = self.numbering
        return Grouped(self.here, tuple(groups), numbering, more, self.incomplete)
