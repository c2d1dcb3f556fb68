"""Conversations of a mailbox across the folder at hand, its inbox and its sent mail."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from postroom.base.errors import GatewayError
from postroom.mail.threads import Kin, conversations
from postroom.mailbox.folders import INBOX, Folder, folder_name
from postroom.mailbox.kindred import MOST_KEPT, FolderKin
from postroom.mailbox.reading import OpenFolder

Place: TypeAlias = tuple[str, int]
"""A folder's name and a UID in it."""
Group: TypeAlias = tuple[Place, ...]
Look: TypeAlias = Callable[[OpenFolder, Sequence[int]], Awaitable[None]]
"""What is done with messages while their folder is open anyway."""
_Signature: TypeAlias = tuple[tuple[str, int], ...]
"""Folders, and what was known of each."""
NEWEST = 2_000
"""Messages of a folder whose kin are known without being asked for."""
_ROUNDS = 3
"""How often what was found may send the search after more."""
_DEEPER = 4
_MOST_FOLDERS = 8
"""Folders of which it is remembered who is kin to whom."""
_MOST_AT_ONCE = 5_000
"""Messages that are grouped in passing: some milliseconds' work."""
_UNREAD = "the folder {} could not be read: {}"
_UNSOUGHT = "the server cannot search for older messages"
_BOUND = "only the newest {:,} messages were looked at"


class Folders(Protocol):
    """What this needs of the account."""

    def open(self, folder: str, *, proved: bool = True) -> AbstractAsyncContextManager[OpenFolder]: ...

    async def special(self, use: str) -> Folder | None: ...


@dataclass(frozen=True, slots=True)
class Numbering:
    """A UIDVALIDITY that the folder at hand must have, and what is raised if it has another."""

    uid_validity: int
    otherwise: GatewayError


@dataclass(frozen=True, slots=True)
class _Looking:
    """The message that is asked about, and what is done with its conversation on the way."""

    uid: int
    look: Look


@dataclass(frozen=True, slots=True)
class Grouped:
    """Conversations with a message in the folder at hand, the one with the newest such message first."""

    folder: str
    groups: tuple[Group, ...]
    numbering: Mapping[str, int]
    """The UIDVALIDITY of each folder."""
    more: bool
    """There are further conversations, or there may be."""
    incomplete: str | None
    """Why messages may be missing."""


class Grouping(Protocol):
    """Finds conversations: as the server has them, or as a caller sees them."""

    async def around(self, folder: str, uid: int, numbering: Numbering | None, look: Look) -> Grouped | None:
        """The conversation of one message; None if there is no such message.

        While a folder is open `look` is called with those of its messages that were in the conversation before.
        """
        ...

    async def recent(self, folder: str, count: int, *, below: int | None, numbering: Numbering | None) -> Grouped:
        """So many conversations, all whose newest message in the folder lies below a UID."""
        ...


class Conversations:
    """What one mailbox remembers of who is kin to whom."""

    def __init__(self, account: Folders) -> None:
        self._account = account
        self._kin: OrderedDict[str, FolderKin] = OrderedDict()
        self._lock = asyncio.Lock()
        self._groupings: OrderedDict[tuple[str, ...], tuple[_Signature, dict[Place, Group]]] = OrderedDict()

    async def around(self, folder: str, uid: int, numbering: Numbering | None, look: Look) -> Grouped | None:
        """The conversation of one message; None if there is no such message.

        While a folder is open `look` is called with those of its messages that were in the conversation before.
        """
        async with self._lock:
            folders, unread = await self._refresh(folder, numbering, _Looking(uid, look))
            place = (folders[0], uid)
            if not await self._include(place):
                return None
            unsought = None
            for _ in range(_ROUNDS):
                before = self._signature(folders)
                group = (await self._groups(folders))[place]
                unsought = await self._seek(folders, self._missing(group))
                if before == self._signature(folders):
                    break
            group = (await self._groups(folders))[place]
            return self._grouped(folders, [group], more=False, incomplete=unread or unsought)

    async def recent(self, folder: str, count: int, *, below: int | None, numbering: Numbering | None) -> Grouped:
        """So many conversations, all whose newest message in the folder lies below a UID."""
        async with self._lock:
            folders, unread = await self._refresh(folder, numbering)
            groups = await self._enough(folders, count, below)
            roots = dict.fromkeys(one for group in groups[:count] for one in _absent(self._kin_of(group))[:1])
            unsought = await self._seek(folders, list(roots))
            groups = await self._newest_first(folders, below)
            here = self._kin[folders[0]]
            bound = None if here.whole or len(groups) > count else _BOUND.format(len(here.of))
            incomplete = unread or unsought or bound
            return self._grouped(folders, groups[:count], more=len(groups) > count, incomplete=incomplete)

    def _grouped(
        self, folders: Sequence[str], groups: Sequence[Group], *, more: bool, incomplete: str | None
    ) -> Grouped:
        numbering = {name: self._kin[name].uid_validity for name in folders}
        return Grouped(folders[0], tuple(groups), numbering, more, incomplete)

    async def _enough(self, folders: Sequence[str], count: int, below: int | None) -> list[Group]:
        """More than so many conversations, if there are so many among what may be kept."""
        here, least = self._kin[folders[0]], NEWEST
        while len(groups := await self._newest_first(folders, below)) <= count and not (here.whole or here.full):
            least = min(least * _DEEPER, MOST_KEPT)
            async with self._account.open(folders[0], proved=False) as opened:
                await here.refresh(opened, least)
        return groups

    async def _refresh(
        self, folder: str, numbering: Numbering | None, looking: _Looking | None = None
    ) -> tuple[list[str], str | None]:
        """The folders to look in, that at hand first, and why one of the others was not looked in."""
        sent = await self._account.special("sent")
        here = folder_name(folder)
        names = list(dict.fromkeys([here, INBOX, *([sent.name] if sent else [])]))
        last = self._last_group(names, looking)
        tried = await asyncio.gather(
            *(self._learn(name, numbering if name == here else None, looking, last) for name in names),
            return_exceptions=True,
        )
        good, unread = [], None
        for name, failure in zip(names, tried, strict=True):
            if failure is None:
                good.append(name)
            elif name == here or not isinstance(failure, GatewayError):
                raise failure
            else:
                unread = _UNREAD.format(name, failure.message)
        return good, unread

    def _last_group(self, folders: Sequence[str], looking: _Looking | None) -> Group:
        """What the conversation of a message was when it was found last; it may have changed since."""
        known = self._groupings.get(tuple(folders))
        return known[1].get((folders[0], looking.uid), ()) if known and looking else ()

    async def _learn(self, name: str, numbering: Numbering | None, looking: _Looking | None, last: Group) -> None:
        async with self._account.open(name) as opened:
            if numbering is not None and not await opened.has_numbering(numbering.uid_validity):
                raise numbering.otherwise
            kin = self._known(name)
            await kin.refresh(opened, NEWEST)
            uids = [uid for folder, uid in last if folder == name and uid in kin.of]
            if looking and uids:
                await looking.look(opened, uids)

    def _known(self, name: str) -> FolderKin:
        """What is remembered of a folder; the one that was not asked for longest is forgotten instead."""
        kin = self._kin.setdefault(name, FolderKin())
        self._kin.move_to_end(name)
        if len(self._kin) > _MOST_FOLDERS:
            self._kin.popitem(last=False)
        return kin

    async def _include(self, place: Place) -> bool:
        name, uid = place
        if uid in self._kin[name].of:
            return True
        async with self._account.open(name, proved=False) as opened:
            return await self._kin[name].include(opened, uid)

    async def _seek(self, folders: Sequence[str], ids: Sequence[str]) -> str | None:
        """Look for these ids among older mail that is not known; why that could not be, or None."""
        for name in folders:
            kin = self._kin[name]
            if kin.seeks(ids):
                async with self._account.open(name, proved=False) as opened:
                    if not await kin.seek(opened, ids):
                        return _UNSOUGHT
        return None

    def _missing(self, group: Group) -> list[str]:
        """Ids of which older mail may tell: of messages that are not there, and of those that are old themselves."""
        old = [kin for name, uid in group if uid < self._kin[name].low for kin in [self._kin[name].of[uid]]]
        return [*_absent(self._kin_of(group)), *(kin.message_id for kin in old if kin.message_id)]

    def _signature(self, folders: Sequence[str]) -> _Signature:
        return tuple((name, self._kin[name].version) for name in folders)

    async def _groups(self, folders: Sequence[str]) -> dict[Place, Group]:
        """Each message's conversation; found anew only if something was learned."""
        signature = self._signature(folders)
        known = self._groupings.get(tuple(folders))
        if known is not None and known[0] == signature:
            return known[1]
        kin = {(name, uid): one for name in folders for uid, one in sorted(self._kin[name].of.items())}
        found = _grouping(kin) if len(kin) <= _MOST_AT_ONCE else await asyncio.to_thread(_grouping, kin)
        self._groupings[tuple(folders)] = signature, found
        if len(self._groupings) > _MOST_FOLDERS:
            self._groupings.popitem(last=False)
        return found

    async def _newest_first(self, folders: Sequence[str], below: int | None) -> list[Group]:
        groups, told = await self._groups(folders), set[int]()
        newest: list[Group] = []
        for uid in sorted(self._kin[folders[0]].of, reverse=True):
            group = groups[folders[0], uid]
            if id(group) not in told and (below is None or uid < below):
                newest.append(group)
            told.add(id(group))
        return newest

    def _kin_of(self, group: Iterable[Place]) -> list[Kin]:
        return [self._kin[name].of[uid] for name, uid in group]


def _grouping(kin: Mapping[Place, Kin]) -> dict[Place, Group]:
    return {place: group for group in map(tuple, conversations(kin)) for place in group}


def _absent(group: Sequence[Kin]) -> list[str]:
    """Ids that are referred to and name none of these, the oldest first."""
    there = {kin.message_id for kin in group}
    return list(dict.fromkeys(one for kin in group for one in kin.ancestors if one not in there))
