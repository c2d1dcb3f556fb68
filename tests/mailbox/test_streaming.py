"""A stream's own habits: signs of life, what nobody listens to, faults told once, an end with the process."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from postroom.base.clock import HandClock
from postroom.base.errors import GatewayError
from postroom.mail.query.tree import Query
from postroom.mailbox.following import Followed, Place
from postroom.mailbox.streaming import Stream, Told
from postroom.mailbox.waiting import PAUSE
from tests.mailbox.test_feed import DOWN, Box, feed
from tests.servers.patience import until

pytestmark = pytest.mark.anyio


@dataclass
class Listener:
    """Who reads a stream; `told` is what it was told: a sign of life is None."""

    stream: Stream
    clock: HandClock
    told: list[Told | None] = field(default_factory=list)
    ended: bool = False

    async def run(self) -> None:
        async with aclosing(self.stream.run()) as telling:
            async for one in telling:
                self.told.append(one)
        self.ended = True

    async def hears(self, count: int) -> None:
        await until(lambda: len(self.told) >= count)

    async def rests(self) -> None:
        """Let its rest pass, once it has begun."""
        await until(lambda: bool(self.clock._sleepers))
        self.clock.wind(PAUSE)

    @property
    def events(self) -> list[tuple[str, dict[str, object]]]:
        return [(one.notice.type, dict(one.notice.data)) for one in self.told if one is not None]


def plain(error: GatewayError) -> GatewayError:
    return error


@asynccontextmanager
async def listening(*boxes: Box, cursor: str | None = None, most: float = math.inf) -> AsyncIterator[Listener]:
    """One whose leave ends once it was told so much."""
    clock = HandClock()

    async def stands() -> bool:
        return len(listener.told) < most

    feed_ = feed(*boxes, clock=clock)
    stream = Stream(feed_, clock, stands, plain)
    await stream.begin(cursor)
    listener = Listener(stream, clock)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.run())
        await listener.hears(1)
        yield listener
        feed_.watching.board.close()
        await running
        assert listener.ended


async def test_nobody_listens_and_so_it_looks_with_each_sign_of_life() -> None:
    box = Box("one", [1])
    async with listening(box) as heard:
        asked = box.asked
        for count in range(1, 4):
            await heard.rests()
            await heard.hears(1 + count)
        assert heard.told[1:] == [None] * 3
        await until(lambda: box.asked == asked + 3)
        box.days.append(2)
        await heard.rests()
        await heard.hears(6)
        assert heard.events[1:] == [("message.received", {"mailbox": "one", "folder": "INBOX", "uid": "2-17"})]


async def test_where_somebody_listens_it_looks_when_there_is_news_and_not_before() -> None:
    box, other = Box("one"), Box("two")
    async with listening(box, other) as heard:
        board = heard.stream._board
        for spot in heard.stream._seen:
            board.trust(spot)
        await until(lambda: box.asked == 2 and other.asked == 2)
        heard.clock.wind(PAUSE)
        await heard.hears(2)
        assert (box.asked, other.asked) == (2, 2)
        box.days.append(1)
        board.touch(("one", "INBOX"))
        await heard.hears(3)
        assert (box.asked, other.asked) == (3, 2)


async def test_a_fault_is_told_once_and_so_is_its_end_and_nothing_between_is_lost() -> None:
    good, bad = Box("good"), Box("bad")
    async with listening(good, bad) as heard:
        bad.fault = DOWN
        for count in (3, 4, 5):
            asked = bad.asked
            heard.clock.wind(PAUSE)
            await heard.hears(count)
            await until(lambda asked=asked: bad.asked > asked)
        bad.fault = None
        bad.days.append(1)
        heard.clock.wind(PAUSE)
        await heard.hears(8)
        assert heard.events[1:] == [
            ("mailbox.unreachable", {"mailbox": "bad", "reason": "refused"}),
            ("mailbox.recovered", {"mailbox": "bad"}),
            ("message.received", {"mailbox": "bad", "folder": "INBOX", "uid": "1-17"}),
        ]


async def test_a_folder_that_was_numbered_anew_is_named_before_its_mail_is_told_again() -> None:
    box = Box("one", [1])
    async with listening(box) as heard:
        box.days.append(2)
        box.renumbered = True
        heard.clock.wind(PAUSE)
        await heard.hears(4)
        assert [kind for kind, _ in heard.events] == ["ready", "mailbox.reset", "message.received"]


async def test_a_cursor_goes_on_after_each_event_though_many_come_at_once() -> None:
    box = Box("one")
    async with listening(box) as heard:
        ready = heard.told[0]
        box.days = [1] * 250
        heard.clock.wind(PAUSE)
        await heard.hears(252)
        middle = [one for one in heard.told if one is not None][120]
    assert ready is not None
    async with listening(box, cursor=middle.cursor) as again:
        await again.hears(131)
        uids = [data["uid"] for kind, data in again.events if kind == "message.received"]
        assert uids == [f"{uid}-17" for uid in range(121, 251)]


async def test_each_event_is_told_only_while_it_may_be() -> None:
    box = Box("one")
    async with listening(box) as heard:
        ready = heard.told[0]
    assert ready is not None
    box.days = [1] * 9
    async with listening(box, cursor=ready.cursor, most=4) as heard:
        await until(lambda: heard.ended)
        assert [kind for kind, _ in heard.events] == ["ready", *["message.received"] * 3]


async def test_a_search_that_gets_no_further_is_not_tried_again_without_end() -> None:
    class Stuck(Box):
        async def follow(self, folder: str | None, place: Place | None, query: Query, *, limit: int) -> Followed:
            found = await super().follow(folder, place, query, limit=limit)
            return Followed(found.start, found.start, (), more=place is not None)

    box = Stuck("one")
    async with listening(box) as heard:
        box.days = [1]
        asked = box.asked
        heard.clock.wind(PAUSE)
        await heard.hears(2)
        await until(lambda: box.asked > asked)
        for _ in range(50):
            await asyncio.sleep(0)
        assert box.asked == asked + 1
