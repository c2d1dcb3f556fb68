"""The unified inbox over several mailboxes: merged by arrival, each within its time, waited for, filtered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from postroom.base.clock import HandClock
from postroom.base.errors import Code, GatewayError
from postroom.mail.model import Fetched, Head, Shown
from postroom.mail.query.filters import filter_query
from postroom.mail.query.pushdown import but_for_text
from postroom.mail.query.tree import All, Query
from postroom.mailbox.feed import Feed, FeedPage, Means
from postroom.mailbox.following import Followed, Place
from postroom.mailbox.sincecursor import feed_cursors
from postroom.mailbox.uids import read_uid
from postroom.mailbox.view import Listing
from postroom.mailbox.waiting import PAUSE
from postroom.mailbox.watching import Watching
from postroom.policy.visibility import show
from tests.servers.dovecot import Dovecot
from tests.servers.inprocess import SEAL, directory_of, reader_of
from tests.servers.mail import plain, with_file

pytestmark = pytest.mark.anyio

EMPTY = Head((), None, (), (), (), (), None, None, None, ())
DOWN = GatewayError(Code.IMAP_ERROR, "The server is away.", reason="refused")


def message(uid: int, day: int | None) -> Shown:
    received = datetime(2026, 3, day, tzinfo=UTC) if day else None
    shown = show(Fetched("INBOX", uid, 17, EMPTY, received, None, frozenset(), None), f"{uid}-17")
    assert shown
    return shown


@dataclass(eq=False)
class Box:
    """A mailbox in memory: `days` are those on which its messages came, in the order of their UIDs."""

    name: str
    days: list[int | None] = field(default_factory=list)
    fault: Exception | None = None
    hangs: bool = False
    renumbered: bool = False
    asked: int = 0
    default_folder: str = "INBOX"

    async def follow(self, folder: str | None, place: Place | None, query: Query, *, limit: int) -> Followed:
        await self._answer()
        top = Place(17, len(self.days))
        if place is None:
            return Followed(top, top)
        rows = [(uid, message(uid, day)) for uid, day in enumerate(self.days, 1) if uid > place.uid]
        more = len(rows) > limit
        reached = Place(17, rows[limit - 1][0]) if more else top
        return Followed(place, reached, tuple(rows[:limit]), more, self.renumbered)

    async def page(self, folder: str | None, *, limit: int, cursor: str | None) -> Listing:
        await self._answer()
        rows = [message(uid, day) for uid, day in enumerate(self.days, 1)][::-1]
        return Listing("INBOX", tuple(rows[:limit]), "more" if len(rows) > limit else None, None, b"list_messages")

    def reaches(self, place: Place, row: Shown) -> bool:
        return read_uid(row.uid)[0] <= place.uid

    async def _answer(self) -> None:
        self.asked += 1
        if self.fault:
            raise self.fault
        if self.hangs:
            await asyncio.Event().wait()


def feed(*boxes: Box, clock: HandClock | None = None, seconds: float = 5.0, means: Means | None = None) -> Feed:
    cursors = feed_cursors(SEAL, "token/tester", None, None, All())
    views: Any = boxes
    clock = clock or HandClock()
    return Feed(views, None, All(), cursors, means or Means(Watching({}, clock), clock, seconds))


def rows(page: FeedPage) -> list[str]:
    return [f"{name} {read_uid(shown.uid)[0]}" for name, shown in page.rows]


async def checkpoint(*boxes: Box) -> str:
    page = await feed(*boxes).newest(limit=1, checkpoint=True)
    assert page.cursor
    return page.cursor(0)


async def test_the_newest_of_all_come_newest_first() -> None:
    one, two = Box("one", [1, 3, 5]), Box("two", [2, 4, 4])
    page = await feed(one, two).newest(limit=5, checkpoint=False)
    assert rows(page) == ["one 3", "two 3", "two 2", "one 2", "two 1"]
    assert (page.more, page.cursor, page.faults) == (True, None, {})
    assert not (await feed(one, two).newest(limit=6, checkpoint=False)).more


async def test_a_mailbox_with_more_than_the_limit_makes_more() -> None:
    page = await feed(Box("one", [1, 2, 3]), Box("two")).newest(limit=2, checkpoint=False)
    assert (rows(page), page.more) == (["one 3", "one 2"], True)


async def test_an_old_message_moved_here_today_hides_nothing_behind_it() -> None:
    one, two = Box("one", [2, 20, 1]), Box("two", [10])
    assert rows(await feed(one, two).newest(limit=9, checkpoint=False)) == ["one 3", "one 2", "two 1", "one 1"]


async def test_messages_without_a_date_keep_their_place() -> None:
    one, two = Box("one", [None, 5, None]), Box("two", [3, 6])
    assert rows(await feed(one, two).newest(limit=9, checkpoint=False)) == ["two 2", "one 3", "one 2", "two 1", "one 1"]


async def test_what_comes_while_a_checkpoint_is_taken_is_told_once() -> None:
    class Growing(Box):
        async def follow(self, *args: Any, **more: Any) -> Followed:
            now = await super().follow(*args, **more)
            self.days.append(9)
            return now

    box = Growing("one", [1])
    page = await feed(box).newest(limit=9, checkpoint=True)
    assert rows(page) == ["one 1"]
    assert page.cursor
    assert rows(await feed(box).since(page.cursor(1), limit=9)) == ["one 2"]


async def test_arrivals_come_oldest_first_and_the_cursor_moves_over_just_those_given_out() -> None:
    one, two = Box("one"), Box("two")
    cursor = await checkpoint(one, two)
    one.days, two.days = [3, 4, 8], [5, 6, 7]
    met = []
    for given in (2, 1, 0, 3):
        page = await feed(one, two).since(cursor, limit=3)
        assert page.cursor
        assert page.more is (len(met) + 3 < 6)
        met += rows(page)[:given]
        cursor = page.cursor(given)
    assert met == ["one 1", "one 2", "two 1", "two 2", "two 3", "one 3"]


async def test_the_order_of_the_configuration_does_not_matter_and_mailboxes_may_come_and_go() -> None:
    one, two, new = Box("one"), Box("two"), Box("new", [1])
    cursor = await checkpoint(one, two)
    one.days, two.days = [1], [2]
    assert rows(await feed(two, new, one).since(cursor, limit=9)) == ["one 1", "two 1"]
    page = await feed(new, one).since(cursor, limit=9)
    assert rows(page) == ["one 1"]
    new.days.append(3)
    assert page.cursor
    assert rows(await feed(new, one).since(page.cursor(1), limit=9)) == ["new 2"]


async def test_a_mailbox_that_was_away_at_the_checkpoint_starts_at_its_first_contact() -> None:
    one, two = Box("one"), Box("two", [1], fault=DOWN)
    cursor = await checkpoint(one, two)
    two.days, two.fault = [1, 2], None
    page = await feed(one, two).since(cursor, limit=9)
    assert rows(page) == []
    two.days = [1, 2, 3]
    assert page.cursor
    assert rows(await feed(one, two).since(page.cursor(0), limit=9)) == ["two 3"]


async def test_a_mailbox_that_is_away_now_keeps_its_place_and_is_named() -> None:
    one, two = Box("one"), Box("two")
    cursor = await checkpoint(one, two)
    one.days, two.days, two.fault = [1], [1], DOWN
    page = await feed(one, two).since(cursor, limit=9)
    assert (rows(page), page.faults) == (["one 1"], {"two": DOWN})
    two.fault = None
    assert page.cursor
    assert rows(await feed(one, two).since(page.cursor(1), limit=9)) == ["two 1"]


async def test_a_mailbox_that_was_numbered_anew_is_named_and_not_waited_for() -> None:
    one, two = Box("one"), Box("two", renumbered=True)
    page = await feed(one, two).since(await checkpoint(one, two), limit=9, wait_seconds=60)
    assert (page.reset, rows(page)) == (("two",), [])


async def test_one_that_hangs_is_named_when_its_time_is_up_and_delays_nobody_further() -> None:
    page = await feed(Box("one", [1]), Box("two", hangs=True), seconds=0.05).newest(limit=9, checkpoint=True)
    assert rows(page) == ["one 1"]
    assert page.faults["two"].details == {"reason": "timeout", "mailbox": "two", "retryable": True}


async def test_what_is_wrong_with_the_call_is_no_fault_of_a_mailbox() -> None:
    wrong = GatewayError(Code.VALIDATION_ERROR, "text: must not be empty", argument="text")
    with pytest.raises(GatewayError) as caught:
        await feed(Box("one"), Box("two", fault=wrong)).newest(limit=9, checkpoint=False)
    assert caught.value is wrong


# Waiting


@asynccontextmanager
async def waiting(cursor: str, *boxes: Box, seconds: int) -> AsyncIterator[tuple[HandClock, asyncio.Task[FeedPage]]]:
    clock, before = HandClock(), boxes[0].asked
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(feed(*boxes, clock=clock).since(cursor, limit=9, wait_seconds=seconds))
        await until(lambda: boxes[0].asked > before)
        yield clock, task


async def until(happens: Callable[[], bool]) -> None:
    for _ in range(100):
        if happens():
            return
        await asyncio.sleep(0)
    raise AssertionError("it does not happen")


async def looks(box: Box, clock: HandClock) -> None:
    """Wind the clock to the next look."""
    before = box.asked
    for _ in range(10):
        await asyncio.sleep(0)
    assert box.asked == before
    clock.wind(PAUSE)
    await until(lambda: box.asked > before)


async def test_a_call_waits_for_mail_and_answers_when_it_comes() -> None:
    box = Box("one")
    async with waiting(await checkpoint(box), box, seconds=60) as (clock, task):
        await looks(box, clock)
        box.days.append(1)
        await looks(box, clock)
        assert rows(await task) == ["one 1"]


async def test_a_call_that_waits_in_vain_answers_when_its_time_is_up() -> None:
    box = Box("one")
    async with waiting(await checkpoint(box), box, seconds=int(PAUSE) + 2) as (clock, task):
        await looks(box, clock)
        await looks(box, clock)
        assert rows(await task) == []
    assert box.asked == 5  # two of them for the checkpoint


async def test_mail_that_is_there_already_is_not_waited_for() -> None:
    box = Box("one")
    cursor = await checkpoint(box)
    box.days.append(1)
    assert rows(await feed(box).since(cursor, limit=9, wait_seconds=60)) == ["one 1"]


async def test_a_mailbox_met_while_waiting_starts_there_and_one_that_failed_is_left_alone() -> None:
    one, late, down = Box("one"), Box("late", fault=DOWN), Box("down", fault=DOWN)
    cursor = await checkpoint(one, late, down)
    late.days, late.fault = [1], None
    async with waiting(cursor, one, late, down, seconds=60) as (clock, task):
        late.days.append(2)
        await looks(one, clock)
        page = await task
    assert (rows(page), page.faults) == (["late 2"], {"down": DOWN})
    assert down.asked == 2  # at the checkpoint and once since


async def test_nobody_waits_when_every_mailbox_is_away() -> None:
    box = Box("one")
    cursor = await checkpoint(box)
    box.fault = DOWN
    assert (await feed(box).since(cursor, limit=9, wait_seconds=60)).faults == {"one": DOWN}


async def test_who_may_see_nothing_any_more_is_told_nothing_of_what_came_meanwhile() -> None:
    box, clock, stood = Box("one"), HandClock(), [True]

    async def stands() -> bool:
        return stood[0]

    cursor = await checkpoint(box)
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(feed(box, clock=clock).since(cursor, limit=9, wait_seconds=60, stands=stands))
        await until(lambda: box.asked > 2)
        box.days.append(1)
        stood[0] = False
        for _ in range(10):
            await asyncio.sleep(0)
        clock.wind(PAUSE)
        page = await call
    assert page.cursor
    assert (rows(page), page.cursor(0), box.asked) == ([], cursor, 3)


# A crowd that waits


@dataclass(eq=False)
class Slow(Box):
    """A mailbox that answers nobody until it is let: `most` looked at a time, `looking` do now."""

    let: asyncio.Event = field(default_factory=asyncio.Event)
    looking: int = 0
    most: int = 0

    async def _answer(self) -> None:
        self.looking += 1
        self.most = max(self.most, self.looking)
        try:
            await self.let.wait()
            await super()._answer()
        finally:
            self.looking -= 1


@asynccontextmanager
async def crowd(box: Slow, wait_seconds: float) -> AsyncIterator[list[asyncio.Task[FeedPage]]]:
    """Five calls of one process that have begun, for mail that has come before."""
    box.let.set()
    cursor = await checkpoint(box)
    box.let.clear()
    box.days, box.most = [1], 0
    clock = HandClock()
    means = Means(Watching({}, clock), clock, 5.0)
    async with asyncio.TaskGroup() as tasks:
        feeds = [feed(box, means=means) for _ in range(5)]
        calls = [tasks.create_task(one.since(cursor, limit=9, wait_seconds=wait_seconds)) for one in feeds]
        await until(lambda: box.looking > 0)
        yield calls
        assert [rows(await call) for call in calls] == [["one 1"]] * 5


async def test_of_those_who_wait_for_a_mailbox_one_looks_at_a_time() -> None:
    box = Slow("one")
    async with crowd(box, wait_seconds=60):
        box.let.set()
    assert box.most == 1


async def test_who_has_waited_long_for_a_turn_looks_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.mailbox.feed.TURN", 0.0)
    box = Slow("one")
    async with crowd(box, wait_seconds=60):
        await until(lambda: box.looking == 5)
        box.let.set()


async def test_a_call_that_does_not_wait_takes_no_turn() -> None:
    box = Slow("one")
    async with crowd(box, wait_seconds=0):
        await until(lambda: box.looking == 5)
        box.let.set()


async def test_a_turn_of_a_call_that_is_given_up_is_the_next_one_s() -> None:
    box = Slow("one")
    async with crowd(box, wait_seconds=60) as calls:
        calls[0].cancel()
        await until(lambda: calls[0].done())
        calls[0] = calls[1]
        box.let.set()
    assert box.most == 1


# On a real server


async def test_filters_let_the_cursor_move_over_what_does_not_fit(dovecot: Dovecot) -> None:
    user, caller = "feed-filters", reader_of("work")
    directory = directory_of({"work": dovecot.port}, HandClock(), users={"work": user})
    searches = [{"subject": "bill"}, {"body": "due"}, {"from": "dana", "unseen": True, "text": "due"}]
    queries = [filter_query(one) for one in searches]
    cursors = []
    for query in queries:
        page = await directory.feed(caller, None, None, query).newest(limit=9, checkpoint=True)
        assert page.cursor
        cursors.append(page.cursor(0))
    mail = [plain("A bill", "It is due."), plain("Hello"), plain("Another bill", "Overdue."), plain("Bye")]
    await asyncio.to_thread(dovecot.deliver, user, mail)
    for query, first in zip(queries, cursors, strict=True):
        page = await directory.feed(caller, None, None, query).since(first, limit=1)
        assert page.cursor
        assert ([shown.head.subject for _, shown in page.rows], page.more) == (["A bill"], True)
        page = await directory.feed(caller, None, None, query).since(page.cursor(1), limit=1)
        assert page.cursor
        assert ([shown.head.subject for _, shown in page.rows], page.more) == (["Another bill"], False)
        last = page.cursor(1)
        # The place is behind `Bye`, which does not fit: what is marked or changed before it is not arrival.
        assert await place_of(directory, query, last) == 4
    directory.close()


async def told_by_pieces(dovecot: Dovecot, user: str, query: Query, mail: list[bytes]) -> list[list[str | None]]:
    """The subjects that each call tells of this new mail, to the last."""
    directory = directory_of({"work": dovecot.port}, HandClock(), users={"work": user})
    feed_of = directory.feed(reader_of("work"), None, None, query)
    page = await feed_of.newest(limit=9, checkpoint=True)
    await asyncio.to_thread(dovecot.deliver, user, mail)
    told = []
    for _ in mail:
        assert page.cursor
        page = await feed_of.since(page.cursor(len(page.rows)), limit=9)
        told.append([shown.head.subject for _, shown in page.rows])
        assert bool(page.incomplete) is page.more
        if not page.more:
            break
    directory.close()
    return told


async def test_a_search_that_looks_at_too_many_messages_goes_on_with_the_next_call(
    dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.mailbox.sight.Whole.most_looked_at", 10)
    mail = [*(plain(f"Plain {number}") for number in range(24)), with_file("File")]
    told = await told_by_pieces(dovecot, "feed-cut", filter_query({"has_attachment": True}), mail)
    assert told == [[], [], ["File"]]


async def test_texts_that_there_were_no_means_to_look_at_are_looked_at_by_the_next_call(
    dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.mailbox.sight.wholly", but_for_text)
    monkeypatch.setattr("postroom.mailbox.sight.MOST_READ", 3)
    mail = [plain(f"Mail {number}", "Due." if number in (1, 4, 6) else "Paid.") for number in range(8)]
    told = await told_by_pieces(dovecot, "feed-unread", filter_query({"body": "due"}), mail)
    assert told == [["Mail 1"], ["Mail 4"], ["Mail 6"]]


async def place_of(directory: Any, query: Query, cursor: str) -> int:
    (place,) = feed_cursors(SEAL, "token/tester", None, None, query).read(cursor, HandClock().now()).values()
    return int(place.uid)
