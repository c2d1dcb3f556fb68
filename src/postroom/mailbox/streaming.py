"""What comes to the mailboxes of a feed, told as it comes, without end; each with a cursor to go on after it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass

from postroom.base.clock import Clock
from postroom.base.errors import GatewayError
from postroom.mailbox.board import Spot
from postroom.mailbox.feed import Feed, FeedPage
from postroom.mailbox.notices import READY, RECEIVED, RECOVERED, RESET, UNREACHABLE, Notice, of_mailbox, of_message
from postroom.mailbox.waiting import PAUSE, Stands

_AT_ONCE = 100
"""Messages that one look finds at most."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that happened, and the cursor with which another stream goes on behind it."""

    notice: Notice
    cursor: str


class Stream:
    """Of one caller, begun once and run once. It holds no connection while it waits."""

    def __init__(self, feed: Feed, clock: Clock, stands: Stands, said: Callable[[GatewayError], GatewayError]) -> None:
        """`said` makes of a mailbox's failure what the caller may hear of it."""
        self._feed = feed
        self._clock = clock
        self._stands = stands
        self._said = said
        self._board = feed.watching.board
        self._failing: set[str] = set()
        self._begun: tuple[str, FeedPage, frozenset[Spot]] | None = None
        self._seen = self._board.versions(feed.spots)
        self._beat = clock.monotonic() + PAUSE

    async def begin(self, cursor: str | None) -> None:
        """Look for what came after `cursor`, or where now ends. Raises a `GatewayError` for what cannot be asked."""
        page = await self._feed.arrivals(self._feed.spots, cursor, limit=_AT_ONCE)
        self._begun = (cursor or page.cursor_after(0), page, frozenset(self._feed.spots))

    async def run(self) -> AsyncGenerator[Told | None, None]:
        """All that comes, and None where nothing came for a while; ends with the caller's leave, or with the process.

        Everything is told only after it was asked whether it still may be.
        """
        if self._begun is None:
            raise RuntimeError("a stream is begun before it is run")
        cursor, page, spots = self._begun
        with self._feed.watching.hold(self._feed.spots):
            yield Told(Notice(READY, {}), cursor)
            while await self._goes_on():
                for told in self._tellings(page, spots, cursor):
                    if not await self._goes_on():
                        return
                    yield told
                before, cursor = cursor, page.cursor_after(len(page.rows))
                if not page.more or cursor == before:  # what leads no further is not asked for again at once
                    spots = frozenset()
                while not spots:
                    if not await self._goes_on():
                        return
                    spots = self._news()
                    if self._clock.monotonic() >= self._beat:
                        self._beat = self._clock.monotonic() + PAUSE
                        spots |= self._in_doubt()
                        yield None
                    elif not spots:
                        await self._board.changed(self._seen, self._beat - self._clock.monotonic())
                page = await self._feed.arrivals(spots, cursor, limit=_AT_ONCE)

    async def _goes_on(self) -> bool:
        return not self._board.closed and await self._stands()

    def _news(self) -> frozenset[Spot]:
        """Where something happened since the last time."""
        before, self._seen = self._seen, self._board.versions(self._seen)
        return frozenset(spot for spot in before if before[spot] != self._seen[spot])

    def _in_doubt(self) -> frozenset[Spot]:
        """Where nobody listens, and what could not be looked at."""
        return frozenset(spot for spot in self._seen if spot[0] in self._failing or not self._board.trusts(spot))

    def _tellings(self, page: FeedPage, spots: frozenset[Spot], cursor: str) -> Iterator[Told]:
        for mailbox, folder in sorted(spots):
            if (error := page.faults.get(mailbox)) is not None and mailbox not in self._failing:
                self._failing.add(mailbox)
                error = self._said(error)
                reason = str(error.details.get("reason", error.code))
                yield Told(of_mailbox(UNREACHABLE, mailbox, reason=reason), cursor)
            elif error is None and mailbox in self._failing:
                self._failing.discard(mailbox)
                yield Told(of_mailbox(RECOVERED, mailbox), cursor)
            if mailbox in page.reset:
                yield Told(of_mailbox(RESET, mailbox, folder=folder), page.cursor_after(0))
        for given, (mailbox, shown) in enumerate(page.rows, 1):
            yield Told(of_message(RECEIVED, mailbox, shown.folder, shown.uid), page.cursor_after(given))
