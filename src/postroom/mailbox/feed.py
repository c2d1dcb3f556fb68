"""The unified inbox: many mailboxes asked at once, each within its own time, and what came to them since."""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.base.turns import StillTakenError, Turns
from postroom.imap.faults import DeadlineFault
from postroom.mail.model import Shown
from postroom.mail.query.tree import All, Query
from postroom.mailbox.board import Spot
from postroom.mailbox.faults import imap_error
from postroom.mailbox.folders import folder_name
from postroom.mailbox.following import Followed, Place
from postroom.mailbox.listing import Listing
from postroom.mailbox.sincecursor import SinceCursors, place_key
from postroom.mailbox.view import MailboxView
from postroom.mailbox.waiting import Stands, Waiting, always
from postroom.mailbox.watching import Watching

T = TypeVar("T")
Row: TypeAlias = tuple[str, Shown]
"""A mailbox's name and a message in it."""
Places: TypeAlias = dict[bytes, Place]
TURN = 1.0
"""Seconds that a look waits for its turn; then it is made beside the others: a slow server keeps nobody for long."""
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Rows over all mailboxes, and by mailbox what went wrong, what is not whole, and which were numbered anew."""

    rows: tuple[Row, ...]
    faults: Mapping[str, GatewayError]
    incomplete: Mapping[str, str]
    more: bool
    reset: tuple[str, ...]
    cursor: Callable[[int], str] | None
    """The cursor for an answer with only the first so many rows; None where none was asked for."""

    def cursor_after(self, given: int) -> str:
        """The cursor after the first so many rows, of a page that has cursors."""
        if self.cursor is None:
            raise ValueError("no cursor was asked for")
        return self.cursor(given)

    @property
    def is_empty(self) -> bool:
        """There is nothing to tell."""
        return not (self.rows or self.reset or self.more)


@dataclass(frozen=True, slots=True)
class Means:
    """What all feeds take to look and to wait: `seconds` is the time that a mailbox has for one look."""

    watching: Watching
    clock: Clock
    seconds: float
    turns: Turns = field(default_factory=Turns)
    """Of those who wait, by mailbox: a crowd that is woken at once looks one by one, over one connection."""


class Feed:
    """The mailboxes of one call. A mailbox that fails, or is too slow, is named and takes no other with it."""

    def __init__(
        self,
        views: Sequence[MailboxView],
        folder: str | None,
        query: Query,
        cursors: SinceCursors,
        means: Means,
    ) -> None:
        self._views = tuple(views)
        self._folder = folder
        self._query = query
        self._cursors = cursors
        self.watching = means.watching
        self._clock = means.clock
        self._seconds = means.seconds
        self._turns = means.turns
        self._keys = {view.name: place_key(view.name, folder or view.default_folder) for view in views}
        self.spots: Mapping[Spot, MailboxView] = {
            (view.name, folder_name(folder or view.default_folder)): view for view in views
        }

    async def newest(self, *, limit: int, checkpoint: bool) -> FeedPage:
        """The newest rows, newest first; with `checkpoint` a cursor for all that comes later."""
        places: Places = {}

        async def listed(view: MailboxView) -> Listing:
            if checkpoint:
                now = await view.follow(self._folder, None, self._query, limit=limit)
                places[self._keys[view.name]] = now.reached
            if isinstance(self._query, All):
                return await view.page(self._folder, limit=limit, cursor=None)
            return await view.search(self._folder, self._query, sort=None, limit=limit, cursor=None)

        found, faults = await self._each(self._views, listed)
        rows = {view: self._until_place(view, found[view].rows, places) for view in found}
        merged = _merged([_dated(view.name, ones[::-1])[::-1] for view, ones in rows.items()], newest_first=True)
        return FeedPage(
            rows=tuple(merged[:limit]),
            faults=faults,
            incomplete={view.name: told for view, listing in found.items() if (told := listing.incomplete)},
            more=len(merged) > limit or any(listing.next_cursor for listing in found.values()),
            reset=(),
            cursor=(lambda _: self._cursors.write(places, self._clock.now())) if checkpoint else None,
        )

    async def since(self, cursor: str, *, limit: int, wait_seconds: float = 0, stands: Stands = always) -> FeedPage:
        """What came after `cursor`, oldest first; while that is nothing, up to `wait_seconds` are waited for it.

        Whoever waits holds no connection, and is told of nothing more once its call `stands` no longer.
        """
        places = self._cursors.read(cursor, self._clock.now())
        with self.watching.hold(self.spots if wait_seconds else ()):
            waiting = Waiting(self.watching.board, self.spots, self._clock, wait_seconds, stands)
            found, faults = await self._look(self._views, places, limit, in_turn=wait_seconds > 0)
            page = self._arrived(found, places, limit)
            while found and page.is_empty and (spots := await waiting.news()):
                # What was met for the first time starts here, and what did not match is behind us.
                places = places | {self._keys[view.name]: followed.reached for view, followed in found.items()}
                asked = [view for spot, view in self.spots.items() if spot in spots and view in found]
                again, failed = await self._look(asked, places, limit, in_turn=True)
                found = {view: followed for view, followed in found.items() if view.name not in failed} | again
                faults |= failed
                page = self._arrived(found, places, limit)
        return replace(page, faults=faults)

    async def arrivals(self, spots: Collection[Spot], cursor: str | None, *, limit: int) -> FeedPage:
        """What came after `cursor` in some of the folders, for one who waits; without a cursor, where now ends."""
        places = self._cursors.read(cursor, self._clock.now()) if cursor is not None else {}
        asked = [view for spot, view in self.spots.items() if spot in spots]
        found, faults = await self._look(asked, places, limit, in_turn=True)
        return replace(self._arrived(found, places, limit), faults=faults)

    async def _look(
        self, views: Sequence[MailboxView], places: Places, limit: int, *, in_turn: bool
    ) -> tuple[dict[MailboxView, Followed], dict[str, GatewayError]]:
        async def followed(view: MailboxView) -> Followed:
            return await view.follow(self._folder, places.get(self._keys[view.name]), self._query, limit=limit)

        async def followed_in_turn(view: MailboxView) -> Followed:
            async with self._turn(view):
                return await followed(view)

        return await self._each(views, followed_in_turn if in_turn else followed)

    @asynccontextmanager
    async def _turn(self, view: MailboxView) -> AsyncIterator[None]:
        async with AsyncExitStack() as taken:
            with suppress(StillTakenError):
                await taken.enter_async_context(self._turns.of(view.name, TURN))
            yield

    def _arrived(self, found: Mapping[MailboxView, Followed], places: Places, limit: int) -> FeedPage:
        """The first `limit` of all arrivals; each mailbox's place follows what is really given out of it."""
        merged = _merged([_dated(view.name, followed.shown) for view, followed in found.items()])
        rows = tuple(merged[:limit])
        unread = {name: told for name, shown in rows if (told := shown.incomplete)}

        def cursor(given: int) -> str:
            counts = Counter(name for name, _ in rows[:given])
            moved = {self._keys[view.name]: followed.after(counts[view.name]) for view, followed in found.items()}
            asked = {key: place for key, place in places.items() if key in self._keys.values()}
            return self._cursors.write(asked | moved, self._clock.now())

        return FeedPage(
            rows=rows,
            faults={},
            incomplete=unread | {view.name: told for view, one in found.items() if (told := one.incomplete)},
            more=len(merged) > limit or any(followed.more for followed in found.values()),
            reset=tuple(view.name for view, followed in found.items() if followed.reset),
            cursor=cursor,
        )

    def _until_place(self, view: MailboxView, rows: Sequence[Shown], places: Places) -> list[Shown]:
        """Without what came after the checkpoint was taken: that is for the feed to tell."""
        place = places.get(self._keys[view.name])
        return [row for row in rows if place is None or view.reaches(place, row)]

    async def _each(
        self, views: Sequence[MailboxView], ask: Callable[[MailboxView], Awaitable[T]]
    ) -> tuple[dict[MailboxView, T], dict[str, GatewayError]]:
        """All at once. What is wrong with the call itself is raised, and what is wrong with a mailbox returned."""
        async with asyncio.TaskGroup() as tasks:
            running = {view: tasks.create_task(self._in_time(view, ask)) for view in views}
        results = {view: task.result() for view, task in running.items()}
        for result in results.values():
            if isinstance(result, GatewayError) and result.code is Code.VALIDATION_ERROR:
                raise result
        good = {view: result for view, result in results.items() if not isinstance(result, GatewayError)}
        return good, {view.name: result for view, result in results.items() if isinstance(result, GatewayError)}

    async def _in_time(self, view: MailboxView, ask: Callable[[MailboxView], Awaitable[T]]) -> T | GatewayError:
        try:
            async with asyncio.timeout(self._seconds):
                return await ask(view)
        except TimeoutError:
            return imap_error(DeadlineFault("the server did not answer in the time that inbox gives it"), view.name)
        except GatewayError as error:
            return error


_Dated: TypeAlias = tuple[datetime, Row]


def _merged(mailboxes: Sequence[Sequence[_Dated]], *, newest_first: bool = False) -> list[Row]:
    return [row for _, row in heapq.merge(*mailboxes, key=lambda dated: dated[0], reverse=newest_first)]


def _dated(mailbox: str, rows: Sequence[Shown]) -> list[_Dated]:
    """Rows of ascending UIDs with the time they are merged by.

    A message arrived no earlier than those with lower UIDs, however old one that was moved here says it is.
    """
    dated, latest = [], _EARLIEST
    for shown in rows:
        latest = max(latest, shown.received_at or latest)
        dated.append((latest, (mailbox, shown)))
    return dated
