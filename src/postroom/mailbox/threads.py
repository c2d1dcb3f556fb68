"""Conversations as one caller may see them: their messages read, told once each, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from postroom.base.clock import Clock
from postroom.base.errors import GatewayError
from postroom.mail.model import Shown
from postroom.mail.threads import kin_of, oldest_first
from postroom.mailbox.cache import Read
from postroom.mailbox.conversations import Group, Grouped, Numbering, Place
from postroom.mailbox.cursors import Cursors, Position, bad_cursor
from postroom.mailbox.folders import folder_name
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.sight import Sight
from postroom.mailbox.uids import asked_for, changed, gone

MOST_MEMBERS = 200
"""Messages of one conversation that are told: the newest."""
_TEXTS_AT_ONCE = 20
_CUT = f"only the newest {MOST_MEMBERS} messages of a conversation are told"
_NO_DATE = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation: what of it the caller sees, oldest first, and why something may be missing."""

    folder: str
    messages: tuple[Shown, ...]
    incomplete: str | None = None
    newest_uid: int = 0
    """Of its messages in the folder that was asked about."""


@dataclass(frozen=True, slots=True)
class ThreadList:
    """A page of conversations, the one with the newest message in the folder first."""

    folder: str
    uid_validity: int
    threads: tuple[Thread, ...]
    next_cursor: str | None
    incomplete: str | None


class Threads:
    """Conversations of one mailbox for one caller."""

    def __init__(self, sight: Sight, cursors: Callable[[str], Cursors], clock: Clock) -> None:
        self._sight = sight
        self._cursors = cursors
        self._clock = clock

    async def around(self, folder: str, uid: str) -> Thread:
        """The conversation of a message, with its texts. Raises a `GatewayError`."""
        ((number, uid_validity),) = asked_for(
            self._sight.naming, folder_name(folder), [uid], whole=False, several=False
        ).values()
        since, kept = self._clock.monotonic(), dict[Place, Read | None]()

        async def look(opened: OpenFolder, uids: Sequence[int]) -> None:
            known = await self._sight.kept(opened, uids)
            kept.update({(opened.name, uid): one for uid, one in known.items()})

        numbering = None if uid_validity is None else Numbering(uid_validity, changed(uid))
        grouped = await self._sight.conversations.around(folder, number, numbering, look)
        if grouped is None:
            raise gone(uid)
        place = (grouped.folder, number)
        (group,) = grouped.groups
        newest, is_cut = list(_newest(group, place)), False
        if len(newest) > MOST_MEMBERS:
            order = _in_order(await self._read(grouped, newest, since, texts=False), grouped.folder, place)
            is_cut = len(order) > MOST_MEMBERS or len(newest) < len(group)
            newest = list(dict.fromkeys([*order[-MOST_MEMBERS:], place]))
        read = await self._ready({one: told for one in newest if (told := kept.get(one))})
        read |= await self._read(grouped, (one for one in newest if one not in kept), since, texts=True)
        if place not in read:
            raise gone(uid)
        messages = tuple(read[one] for one in _in_order(read, grouped.folder, place))
        return Thread(grouped.folder, messages, grouped.incomplete or (_CUT if is_cut else None))

    async def members(self, folder: str, uid: str) -> tuple[Shown, ...]:
        """The messages of the conversation without their texts, oldest first. Raises a `GatewayError`."""
        since = self._clock.monotonic()
        ((number, uid_validity),) = asked_for(
            self._sight.naming, folder_name(folder), [uid], whole=False, several=False
        ).values()
        numbering = None if uid_validity is None else Numbering(uid_validity, changed(uid))

        async def look(_: OpenFolder, _uids: Sequence[int]) -> None:
            return None

        grouped = await self._sight.conversations.around(folder, number, numbering, look)
        if grouped is None:
            raise gone(uid)
        (group,) = grouped.groups
        read = await self._read(grouped, _newest(group, (grouped.folder, number)), since, texts=False)
        return tuple(read[one] for one in _in_order(read, grouped.folder))

    async def recent(self, folder: str, *, limit: int, cursor: str | None) -> ThreadList:
        """The conversations with the newest messages in a folder, or those after `cursor`, without texts.

        Raises a `GatewayError`.
        """
        position = self._cursors(folder_name(folder)).read(cursor, self._clock.now()) if cursor is not None else None
        numbering = Numbering(position.uid_validity, _stale()) if position else None
        below, since = position.uid if position else None, self._clock.monotonic()
        grouped = await self._sight.conversations.recent(folder, limit, below=below, numbering=numbering)
        wanted = [list(_newest(group)) for group in grouped.groups]
        read = await self._read(grouped, [place for places in wanted for place in places], since, texts=False)
        threads = [_thread(grouped.folder, places, read) for places in wanted]
        is_cut = any(len(places) < len(group) for places, group in zip(wanted, grouped.groups, strict=True))
        page = ThreadList(
            folder=grouped.folder,
            uid_validity=grouped.numbering[grouped.folder],
            threads=tuple(thread for thread in threads if thread.newest_uid),
            next_cursor=None,
            incomplete=grouped.incomplete or (_CUT if is_cut else None),
        )
        if not grouped.more or not page.threads:
            return page
        return replace(page, next_cursor=self.cursor_after(page, page.threads[-1]))

    def cursor_after(self, page: ThreadList, thread: Thread) -> str:
        """A cursor that goes on behind this conversation of a page."""
        position = Position(thread.newest_uid, page.uid_validity)
        return self._cursors(page.folder).write(position, self._clock.now())

    async def _read(
        self, grouped: Grouped, places: Iterable[Place], since: float, *, texts: bool
    ) -> dict[Place, Shown]:
        """Those of these messages that exist and may be seen, as they are at that moment or later.

        No connection is held while another is waited for.
        """
        by_folder: dict[str, list[int]] = {}
        for name, uid in places:
            by_folder.setdefault(name, []).append(uid)
        read = self._texts if texts else self._rows
        tried = await asyncio.gather(
            *(read(name, grouped.numbering[name], uids, since) for name, uids in by_folder.items()),
            return_exceptions=True,
        )
        found: dict[Place, Shown] = {}
        for one in tried:
            if isinstance(one, BaseException):
                raise one
            found |= {(shown.folder, uid): shown for uid, shown in one.items()}
        return found

    async def _rows(self, folder: str, uid_validity: int, uids: Sequence[int], since: float) -> dict[int, Shown]:
        async with self._sight.open(folder, since=since) as opened:
            rows = await opened.rows(uids) if opened.uid_validity == uid_validity else []
            told = await self._sight.rows(opened, rows)
        return {row.uid: shown for row, shown in zip(rows, told, strict=True) if shown is not None}

    async def _texts(self, folder: str, uid_validity: int, uids: Sequence[int], since: float) -> dict[int, Shown]:
        found: dict[int, Shown] = {}
        for start in range(0, len(uids), _TEXTS_AT_ONCE):
            async with self._sight.open(folder, since=since) as opened:
                if opened.uid_validity != uid_validity:
                    return {}
                fetched = await self._sight.fetch(opened, uids[start : start + _TEXTS_AT_ONCE])
            found |= await self._sight.ready(fetched)
        return found

    async def _ready(self, kept: Mapping[Place, Read]) -> dict[Place, Shown]:
        by_folder: dict[str, dict[int, Read]] = {}
        for (name, uid), one in kept.items():
            by_folder.setdefault(name, {})[uid] = one
        return {
            (name, uid): shown
            for name, messages in by_folder.items()
            for uid, shown in (await self._sight.ready(messages)).items()
        }


def _thread(folder: str, places: Sequence[Place], read: Mapping[Place, Shown]) -> Thread:
    there = {place: read[place] for place in places if place in read}
    newest = max((uid for name, uid in there if name == folder), default=0)
    return Thread(folder, tuple(there[one] for one in _in_order(there, folder)), newest_uid=newest)


def _newest(group: Group, kept: Place | None = None) -> Iterator[Place]:
    """Of each folder's messages the newest, and one that is there whatever its age; that folder comes first."""
    by_folder: dict[str, list[int]] = {}
    for name, uid in group:
        by_folder.setdefault(name, []).append(uid)
    for name, uids in by_folder.items():
        newest = sorted(uids, reverse=True)[:MOST_MEMBERS]
        yield from ((name, uid) for uid in newest)
        if kept is not None and kept[0] == name and kept[1] not in newest:
            yield kept


def _in_order(read: Mapping[Place, Shown], home: str, kept: Place | None = None) -> list[Place]:
    """Each message once, oldest first. Of copies that counts which must be kept, else one at home that came first."""
    moments = {place: _moment(place, shown) for place, shown in read.items()}
    once: dict[object, Place] = {}
    for place in sorted(read, key=lambda one: (one != kept, one[0] != home, moments[one][:2])):
        once.setdefault(_identity(place, read[place]), place)
    places = list(once.values())
    kin = [kin_of(read[one].head, read[one].threading) for one in places]
    order = oldest_first(kin, [moments[one] for one in places])
    return [places[one] for one in order]


def _identity(place: Place, shown: Shown) -> object:
    """What copies of one message have in common, such as Gmail's in a folder and in All Mail.

    Where the texts are known they must be the same too: nobody can put his words in the place of another's.
    """
    head, reading = shown.head, shown.reading
    if not shown.threading.message_id:
        return place
    words = (reading.reader_quoted, reading.links, reading.parts) if reading else None
    return shown.threading.message_id, head.date, head.subject, head.from_, words


def _moment(place: Place, shown: Shown) -> tuple[datetime, datetime, int]:
    sent = shown.head.date or shown.received_at or _NO_DATE
    return shown.received_at or sent, sent, place[1]


def _stale() -> GatewayError:
    return bad_cursor("is stale: the server has renumbered this folder")
