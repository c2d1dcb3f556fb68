"""Whatever happens to mailboxes between two looks, the feed tells each arrival once: judged by (UIDVALIDITY, UID)."""

from __future__ import annotations

import asyncio
import imaplib
import itertools
from collections.abc import Coroutine, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from postroom.base.backoff import LONGEST_REST
from postroom.base.clock import HandClock
from postroom.mail.query.tree import All
from postroom.mailbox.feed import FeedPage
from postroom.mailbox.uids import read_uid
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.inprocess import directory_of, reader_of
from tests.servers.mail import plain
from tests.servers.proxy import Proxy, proxied

T = TypeVar("T")
Id: TypeAlias = tuple[int, int]
"""UIDVALIDITY and UID."""
NAMES = ("one", "two", "three")
LIMITS = st.sampled_from([1, 2, 3, 20])
BOX = st.sampled_from(NAMES)
SOME_BOXES = st.lists(BOX, min_size=1, max_size=5)
_users = itertools.count()


@dataclass
class Box:
    """A mailbox beside the product's back, and what the feed owes of it."""

    client: imaplib.IMAP4
    folder: str
    told_validity: int | None = None
    """The numbering that the feed told of last; None before it has met the folder."""
    due: set[Id] = field(default_factory=set)
    remade: bool = False
    """The folder was made anew, and the feed has not told so."""

    def ids(self) -> set[Id]:
        """What lies in the folder now."""
        status, _ = self.client.select(self.folder)
        assert status == "OK"
        (validity,) = self.client.response("UIDVALIDITY")[1]
        uids = self.client.uid("SEARCH", "ALL")[1][0].split()
        return {(int(validity or 0), int(uid)) for uid in uids}

    def append(self, count: int, *, day: int) -> None:
        date = f'"{day:02}-Mar-2026 09:00:00 +0000"'
        for _ in range(count):
            assert self.client.append(self.folder, "", date, plain("News"))[0] == "OK"

    def on_some(self, numbers: Iterable[int], *command: str) -> None:
        """A UID command on messages by their place in the folder."""
        uids = sorted(uid for _, uid in self.ids())
        chosen = {str(uids[number % len(uids)]) for number in numbers} if uids else set()
        if chosen:
            assert self.client.uid(command[0], ",".join(chosen), *command[1:])[0] == "OK"


class Arrivals(RuleBasedStateMachine):
    """Three mailboxes behind proxies, the product's directory in front, a hand-wound clock."""

    dovecot: ClassVar[Dovecot]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.clock = HandClock()
        self.told: set[tuple[str, Id]] = set()
        self.boxes: dict[str, Box] = {}
        self.proxies: dict[str, Proxy] = {}
        self.cursor = ""
        self.folder = ""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize(folder=st.sampled_from(["INBOX", "Box"]), before=st.integers(0, 3), away=st.sets(BOX, max_size=2))
    def takes_a_checkpoint(self, folder: str, before: int, away: set[str]) -> None:
        user, self.folder = f"feed-{next(_users)}", folder
        for name in NAMES:
            client = imaplib.IMAP4("127.0.0.1", self.dovecot.port, timeout=20)
            client.login(f"{user}-{name}", PASSWORD)
            for box in ("Box", "Other"):
                client.create(box)
            self.boxes[name] = Box(client, folder)
            self.boxes[name].append(before, day=1)
            self.proxies[name] = self.run(self.stack.enter_async_context(proxied(self.dovecot.port)))
            self.proxies[name].away = name in away
        ports = {name: proxy.port for name, proxy in self.proxies.items()}
        users = {name: f"{user}-{name}" for name in NAMES}
        self.directory = directory_of(ports, self.clock, users=users)
        self.stack.callback(self.directory.close)
        page = self.run(self.feed().newest(limit=20, checkpoint=True))
        assert page.cursor is not None
        assert page.faults.keys() == away
        assert len(page.rows) == min(20, before * (3 - len(away)))
        self.cursor = page.cursor(len(page.rows))
        for name in set(NAMES) - away:
            self.meets(name)

    def feed(self) -> Any:
        return self.directory.feed(reader_of(*NAMES), None, self.folder, All())

    def meets(self, name: str) -> None:
        ids = self.boxes[name].ids()
        self.boxes[name].told_validity = self.validity(name)
        self.told |= {(name, one) for one in ids}

    def validity(self, name: str) -> int:
        self.boxes[name].client.select(self.boxes[name].folder)
        return int(self.boxes[name].client.response("UIDVALIDITY")[1][0] or 0)

    def happens(self, name: str) -> None:
        """Note what came and what went; what went before it was told is owed no more."""
        box = self.boxes[name]
        if box.told_validity is not None:
            now = box.ids()
            box.due = {one for one in now if (name, one) not in self.told}

    # -- what others do

    @rule(names=SOME_BOXES, count=st.integers(1, 3), day=st.integers(2, 28))
    def mail_arrives(self, names: list[str], count: int, day: int) -> None:
        for name in names:
            self.boxes[name].append(count, day=day)
            self.happens(name)

    @rule(names=SOME_BOXES, day=st.integers(2, 28), limit=LIMITS)
    def mail_arrives_and_the_caller_looks(self, names: list[str], day: int, limit: int) -> None:
        self.mail_arrives(names, 1, day)
        self.the_caller_looks(limit, 1)

    @rule(name=BOX, numbers=st.sets(st.integers(0, 9), min_size=1, max_size=3))
    def messages_are_expunged(self, name: str, numbers: set[int]) -> None:
        self.boxes[name].on_some(numbers, "STORE", "+FLAGS", r"(\Deleted)")
        self.boxes[name].client.expunge()
        self.happens(name)

    @rule(name=BOX, numbers=st.sets(st.integers(0, 9), min_size=1, max_size=3))
    def the_newest_or_others_are_moved_away(self, name: str, numbers: set[int]) -> None:
        self.boxes[name].on_some({-1} | numbers, "MOVE", "Other")
        self.happens(name)

    @rule(name=BOX)
    def what_was_moved_away_comes_back_under_new_uids(self, name: str) -> None:
        client = self.boxes[name].client
        client.select("Other")
        uids = client.uid("SEARCH", "ALL")[1][0].split()
        if uids:
            assert client.uid("MOVE", b",".join(uids).decode(), self.folder)[0] == "OK"
        self.happens(name)

    @rule(name=BOX, numbers=st.sets(st.integers(0, 9), min_size=1, max_size=3), sign=st.sampled_from("+-"))
    def flags_change(self, name: str, numbers: set[int], sign: str) -> None:
        self.boxes[name].on_some(numbers, "STORE", f"{sign}FLAGS", r"(\Seen agent-note)")

    @precondition(lambda self: self.folder == "Box")
    @rule(name=BOX, before=st.integers(0, 3))
    def the_folder_is_made_anew(self, name: str, before: int) -> None:
        """With no session in it: one that is may spoil Dovecot's index of the new folder."""
        self.connections_are_cut(name)
        box = self.boxes[name]
        box.client.select("Other")
        assert box.client.delete("Box")[0] == "OK"
        assert box.client.create("Box")[0] == "OK"
        box.remade = box.remade or box.told_validity is not None
        box.append(before, day=1)
        self.happens(name)

    @rule(name=BOX)
    def connections_are_cut(self, name: str) -> None:
        async def cut() -> None:
            self.proxies[name].cut()
            await self.proxies[name].ended()

        self.run(cut())

    @precondition(lambda self: not any(proxy.away for proxy in self.proxies.values()))
    @rule(name=BOX)
    def a_server_goes_away(self, name: str) -> None:
        self.proxies[name].away = True
        self.connections_are_cut(name)

    @precondition(lambda self: any(proxy.away for proxy in self.proxies.values()))
    @rule()
    def all_servers_are_back(self) -> None:
        for proxy in self.proxies.values():
            proxy.away = False
        self.clock.wind(LONGEST_REST * 2)

    @rule(seconds=st.sampled_from([1, 30, 61]))
    def time_passes(self, seconds: float) -> None:
        self.clock.wind(seconds)

    # -- what the caller does

    @rule(limit=LIMITS)
    def the_answer_is_lost(self, limit: int) -> None:
        """And the caller will ask with the same cursor again."""
        self.judge(self.look(limit), taken=None)

    @rule(limit=LIMITS, taken=st.integers(0, 4))
    def only_part_of_the_answer_has_room(self, limit: int, taken: int) -> None:
        self.judge(self.look(limit), taken=taken)

    @rule(limit=LIMITS, calls=st.integers(1, 3))
    def the_caller_looks(self, limit: int, calls: int) -> None:
        """Several calls at once come over several connections, which may have met the folder at different times."""

        async def looks() -> list[FeedPage]:
            return await asyncio.gather(*(self.feed().since(self.cursor, limit=limit) for _ in range(calls)))

        for page in self.run(looks())[:1]:
            self.judge(page, taken=limit)

    @rule(limit=LIMITS)
    def the_caller_reads_all_there_is(self, limit: int) -> None:
        for _ in range(1 + sum(len(box.due) for box in self.boxes.values())):
            page = self.look(limit)
            self.judge(page, taken=limit)
            if not page.more:
                return
        raise AssertionError("there is always more")

    def look(self, limit: int) -> FeedPage:
        page: FeedPage = self.run(self.feed().since(self.cursor, limit=limit))
        assert len(page.rows) <= limit
        return page

    def judge(self, page: FeedPage, taken: int | None) -> None:
        rows = [(name, (read_uid(shown.uid)[1] or 0, read_uid(shown.uid)[0])) for name, shown in page.rows]
        assert len(set(rows)) == len(rows)
        for name, box in self.boxes.items():
            mine = [one for who, one in rows if who == name]
            assert mine == sorted(mine)
            self.judge_box(name, box, mine, page)
        if taken is None:
            return
        assert page.cursor is not None
        self.cursor = page.cursor(min(taken, len(rows)))
        self.told |= set(rows[:taken])
        for name in page.reset:
            self.boxes[name].told_validity, self.boxes[name].remade = self.validity(name), False
        for name, box in self.boxes.items():
            if box.told_validity is None and name not in page.faults:
                self.meets(name)
            self.happens(name)

    def judge_box(self, name: str, box: Box, mine: list[Id], page: FeedPage) -> None:
        assert set(mine) <= box.due, "neither repeated nor invented"
        if name in page.faults or box.told_validity is None:
            assert not mine
            assert name not in page.reset
        else:
            assert (name in page.reset) is box.remade
            assert page.more or set(mine) == box.due, "nothing is lost"

    def teardown(self) -> None:
        try:
            if self.boxes:
                self.all_servers_are_back()
                self.the_caller_reads_all_there_is(20)  # a first call may still meet connections that were cut
                self.the_caller_reads_all_there_is(20)
                assert not any(box.due for box in self.boxes.values()), "at the end nothing is owed"
        finally:
            for box in self.boxes.values():
                box.client.logout()
            self.run(self.stack.aclose())
            self.runner.close()


def test_nothing_is_lost_and_nothing_repeated(dovecot: Dovecot) -> None:
    Arrivals.dovecot = dovecot
    run_state_machine_as_test(
        Arrivals,
        settings=settings(
            max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
