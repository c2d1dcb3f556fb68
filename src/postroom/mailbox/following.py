"""What came into one folder after a place, oldest first; a place moves over what was looked at and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from postroom.imap.faults import LostFault
from postroom.imap.wire import MAX_UID
from postroom.mail.model import Fetched, Shown
from postroom.mailbox.listing import MOST_LOOKED_AT, Page, Show, read_page
from postroom.mailbox.reading import OpenFolder

_MANY = 5_000
"""UIDs that may be asked for at once, and messages that are looked at in one call."""
_GROWTH = 8
_BATCH = 200
"""Rows of one command, if the caller does not need more."""

Seek = Callable[[int, int, Show], Awaitable[tuple[Page, int | None]]]
"""The oldest rows after a UID that fit a search, at most so many, and the UID from which on it could not be told."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a folder was told: all that has a higher UID in this numbering came later (RFC 9051 2.3.1.1)."""

    uid_validity: int
    uid: int


@dataclass(frozen=True, slots=True)
class Followed:
    """Arrivals of one folder with their UIDs, ascending; `reached` is the place once all of them are given out."""

    start: Place
    reached: Place
    rows: tuple[tuple[int, Shown], ...] = ()
    more: bool = False
    reset: bool = False
    """The folder was numbered anew: `start` lies before its first message."""
    incomplete: str | None = None
    """Why arrivals that fit may be missing."""

    @property
    def shown(self) -> list[Shown]:
        return [shown for _, shown in self.rows]

    def after(self, given: int) -> Place:
        """The place once only the first `given` rows were given out."""
        if given >= len(self.rows):
            return self.reached
        return Place(self.start.uid_validity, self.rows[given - 1][0]) if given else self.start


async def follow(
    folder: OpenFolder,
    place: Place | None,
    *,
    limit: int,
    show: Show,
    seek: Seek | None,
    most: int | None = MOST_LOOKED_AT,
) -> Followed:
    """At most `limit` arrivals after `place`; without one, the place where what is there now ends.

    `seek` finds those that fit a search; without it all do. `most` is as in `fill_page`.
    """
    if place is None:
        now = Place(folder.uid_validity, await _newest_uid(folder, show))
        return Followed(now, now)
    reset = not await folder.has_numbering(place.uid_validity)
    start = Place(folder.uid_validity, 0) if reset else place
    if seek is None:
        found = await _arrivals(folder, start.uid, limit, show, most)
    else:
        found = await _fitting(folder, start.uid, limit, show, seek)
    if folder.uid_validity != start.uid_validity:
        raise LostFault("the server numbered the folder anew meanwhile")
    reached = Place(start.uid_validity, found.reached)
    return Followed(start, reached, tuple(found.rows), found.more, reset, found.incomplete)


@dataclass(slots=True)
class _Found:
    """Rows with their UIDs, the UID up to which all was looked at, and whether there is more."""

    reached: int
    rows: list[tuple[int, Shown]] = field(default_factory=list)
    more: bool = False
    incomplete: str | None = None


async def _newest_uid(folder: OpenFolder, show: Show) -> int:
    """The highest UID that the caller may see, or 0. UIDNEXT tells of hidden mail, and on some servers is wrong."""
    seen = _Seen(show)
    await read_page(folder, below=None, limit=1, show=seen, most=None)
    return max(seen.uids.values(), default=0)


class _Seen:
    """Shows messages and notes the UIDs of those that the caller may see, by the id that it knows them under."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self.uids: dict[str, int] = {}

    async def __call__(self, folder: OpenFolder, rows: Sequence[Fetched]) -> Sequence[Shown | None]:
        told = await self._show(folder, rows)
        self.uids |= {shown.uid: row.uid for row, shown in zip(rows, told, strict=True) if shown is not None}
        return told


async def _arrivals(folder: OpenFolder, after: int, limit: int, show: Show, most: int | None) -> _Found:
    """All that came. Hidden mail moves nothing: who waits must not notice it."""
    found, looked_at = _Found(after), 0
    async for rows in _ascending(folder, after, limit + 1):
        for fetched, shown in zip(rows, await show(folder, rows), strict=True):
            if shown is not None and len(found.rows) == limit:
                found.more = True
                return found
            looked_at += 1
            if shown is not None:
                found.rows.append((fetched.uid, shown))
                found.reached = fetched.uid
            if most is not None and looked_at == most:
                found.reached, found.more = fetched.uid, True
                return found
    return found


async def _fitting(folder: OpenFolder, after: int, limit: int, show: Show, seek: Seek) -> _Found:
    """What came and fits; the place moves over the rest too, as far as it was looked at."""
    now, seen = min(await _newest_uid(folder, show), await folder.top()), _Seen(show)
    page, unread = await seek(after, limit, seen)
    rows = [(uid, shown) for shown in page.rows if (uid := seen.uids[shown.uid]) < (unread or uid + 1)]
    looked_at = max([after, *seen.uids.values()]) if page.cut else max([after, now, *(uid for uid, _ in rows)])
    reached = unread - 1 if unread else page.last_uid or looked_at
    return _Found(reached, rows, page.cut or page.last_uid is not None, page.incomplete)


async def _ascending(folder: OpenFolder, after: int, need: int) -> AsyncIterator[list[Fetched]]:
    async for low, high in _windows(folder, after + 1):
        uids = await folder.uids(low, high)
        for start, end in pairwise([0, *range(need, len(uids), _BATCH), len(uids)]):
            if end:
                yield (await folder.rows(uids[start:end]))[::-1]


async def _windows(folder: OpenFolder, low: int) -> AsyncIterator[tuple[int, int]]:
    """The last window has no end: a server's UIDNEXT may be too low, so it only tells how wide windows may be."""
    top, width = (await folder.top() if folder.exists > _MANY else low), _MANY
    while top - low > width:
        yield low, low + width - 1
        low, width = low + width, width * _GROWTH
    if low <= MAX_UID:
        yield low, MAX_UID
