"""Who waits for mail is woken by one listener of its mailbox, which comes back after everything that may go wrong."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from postroom.base.clock import HandClock, SystemClock
from postroom.base.logs import Log
from postroom.imap.pool import CROWDED_REST
from postroom.imap.watching import Standing
from postroom.mail.query.tree import All
from postroom.mailbox.account import Account
from postroom.mailbox.board import Board
from postroom.mailbox.directory import Directory
from postroom.mailbox.ear import ASKING, LISTENING
from postroom.mailbox.feed import FeedPage
from postroom.mailbox.folders import Folder
from postroom.mailbox.listening import LINGER
from tests.servers.dovecot import POORER, Dovecot
from tests.servers.inprocess import directory_of, reader_of
from tests.servers.mail import plain
from tests.servers.patience import until
from tests.servers.peer import Peer, listening
from tests.servers.proxy import proxied
from tests.servers.talker import Talker, talking

pytestmark = pytest.mark.anyio
INBOX, WORK = ("box", "INBOX"), ("box", "Work")


@dataclass
class Desk:
    """A directory that is listened for, and the clock that its listeners live by."""

    directory: Directory
    clock: HandClock
    log: io.StringIO

    @property
    def board(self) -> Board:
        return self.directory.watching.board

    async def trusted(self, *spots: tuple[str, str]) -> None:
        """Returns when somebody listens there; who rests meanwhile is woken."""
        await until(lambda: all(self.board.trusts(spot) for spot in spots), lambda: self.clock.wind(0.02))

    async def news(self, seen: Mapping[tuple[str, str], int]) -> set[tuple[str, str]]:
        """Where something happened; the clock stands still meanwhile."""
        async with asyncio.timeout(10):
            await self.board.changed(seen, 1e9)
        return {spot for spot, version in self.board.versions(seen).items() if version != seen[spot]}

    async def round_over(self) -> None:
        """Returns when what the server forgot to tell has been asked for, and it is listened to again."""
        before = self._heard_at()
        self.clock.wind(LISTENING + 5)
        await until(lambda: (now := self._heard_at()) is not None and now != before)

    def _heard_at(self) -> tuple[object, int] | None:
        """The connection that listens now, and its how manieth round this is."""
        ear = self.directory.watching._listeners["box"]._ear
        return (ear, ear._connection.idles) if ear is not None and ear._connection.idles else None

    async def failed(self, times: int) -> None:
        """Returns when the listener has lost its connection so often."""
        await until(lambda: self.log.getvalue().count("listen.failed") >= times)

    async def checkpoint(self) -> str:
        page = await self.directory.feed(reader_of("box"), None, None, All()).newest(limit=1, checkpoint=True)
        assert page.cursor
        return page.cursor(0)

    async def since(self, cursor: str, wait_seconds: float = 60) -> FeedPage:
        feed = self.directory.feed(reader_of("box"), None, None, All())
        return await feed.since(cursor, limit=9, wait_seconds=wait_seconds)


@asynccontextmanager
async def desk(
    port: int, user: str = "ana", host: str = "127.0.0.1", command_seconds: float = 20
) -> AsyncIterator[Desk]:
    clock, log = HandClock(), io.StringIO()
    directory = directory_of(
        {"box": port},
        clock,
        users={"box": user},
        log=Log(SystemClock(), log),
        host=host,
        command_seconds=command_seconds,
    )
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(directory.watching.run())
        yield Desk(directory, clock, log)
        running.cancel()
    directory.close()


# On Dovecot


async def test_two_hundred_who_wait_cost_what_one_costs_and_are_told_at_once(dovecot: Dovecot) -> None:
    user = "listening-many"
    async with proxied(dovecot.port) as proxy, desk(proxy.port, user) as at, asyncio.TaskGroup() as tasks:
        cursor = await at.checkpoint()
        before = proxy.connections
        calls = [tasks.create_task(at.since(cursor)) for _ in range(200)]
        await at.trusted(INBOX)
        await quiet(at.board, 200)
        await asyncio.to_thread(dovecot.deliver, user, [plain("At last")])
        pages = [await call for call in calls]
        assert {len(page.rows) for page in pages} == {1}
        assert before == 1
        assert proxy.connections == 2  # that one, and the listener's


async def quiet(board: Board, callers: int) -> None:
    """Returns when all who were woken have looked and wait again."""
    await until(lambda: len(board._waiting.get(INBOX, ())) == callers)


async def test_several_folders_are_heard_of_over_one_connection(dovecot: Dovecot) -> None:
    user = "listening-notify"
    dovecot.create(user, "Work")
    async with proxied(dovecot.port) as proxy, desk(proxy.port, user) as at:
        with at.directory.watching.hold([INBOX, WORK]):
            await at.trusted(INBOX, WORK)
            for spot in (WORK, INBOX):
                seen = at.board.versions([INBOX, WORK])
                await asyncio.to_thread(dovecot.deliver, user, [plain("New")], spot[1])
                assert await at.news(seen) == {spot}
        assert proxy.connections <= 2


async def test_a_folder_that_was_made_anew_is_told_of_within_a_round_and_listened_to_again(dovecot: Dovecot) -> None:
    user = "listening-anew"
    dovecot.create(user, "Work")
    async with desk(dovecot.port, user) as at:
        with at.directory.watching.hold([INBOX, WORK]):
            await at.trusted(INBOX, WORK)
            seen = at.board.versions([WORK])
            await asyncio.to_thread(made_anew, dovecot, user, "Work")
            await at.round_over()
            assert await at.news(seen) == {WORK}
            for subject in ("New", "Newer"):
                seen = at.board.versions([WORK])
                await asyncio.to_thread(dovecot.deliver, user, [plain(subject)], "Work")
                assert await at.news(seen) == {WORK}


async def test_where_it_was_listened_to_before_is_looked_at_again_once_more_is_listened_to(dovecot: Dovecot) -> None:
    user = "listening-more"
    dovecot.create(user, "Work")
    async with desk(dovecot.port, user) as at:
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)
            seen = at.board.versions([INBOX])
            with at.directory.watching.hold([WORK]):
                await at.trusted(WORK)
                assert at.board.versions([INBOX]) != seen
                assert at.board.count_trusted() == 2


def made_anew(dovecot: Dovecot, user: str, folder: str) -> None:
    with dovecot.login(user) as imap:
        assert imap.delete(folder)[0] == imap.create(folder)[0] == "OK"


async def test_asking_how_a_folder_stands_is_no_news_of_it(dovecot: Dovecot) -> None:
    user = "listening-calm"
    dovecot.create(user, "Work")
    async with proxied(dovecot.port) as proxy, desk(proxy.port, user) as at:
        with at.directory.watching.hold([INBOX, WORK]):
            await at.trusted(INBOX, WORK)
            seen = at.board.versions([WORK])
            await at.round_over()
            assert at.board.versions([WORK]) == seen


async def test_without_notify_the_other_folders_are_asked_after(dovecot: Dovecot) -> None:
    user, host = "listening-poor", next(iter(POORER))
    dovecot.create(user, "Work")
    async with desk(dovecot.port, user, host) as at:
        with at.directory.watching.hold([INBOX, WORK]):
            await at.trusted(INBOX, WORK)
            seen = at.board.versions([INBOX, WORK])
            await asyncio.to_thread(dovecot.deliver, user, [plain("New")], "Work")
            at.clock.wind(ASKING)
            assert await at.news(seen) == {WORK}


async def test_what_came_while_the_connection_was_cut_is_told(dovecot: Dovecot) -> None:
    user = "listening-cut"
    async with proxied(dovecot.port) as proxy, desk(proxy.port, user) as at, asyncio.TaskGroup() as tasks:
        cursor = await at.checkpoint()
        call = tasks.create_task(at.since(cursor))
        await at.trusted(INBOX)
        await quiet(at.board, 1)
        proxy.cut()
        await at.failed(1)
        await asyncio.to_thread(dovecot.deliver, user, [plain("Came while away")])
        await at.trusted(INBOX)
        assert [shown.head.subject for _, shown in (await call).rows] == ["Came while away"]


async def test_a_call_ends_with_its_own_cursor_when_the_process_stops(dovecot: Dovecot) -> None:
    async with desk(dovecot.port, "listening-stop") as at, asyncio.TaskGroup() as tasks:
        cursor = await at.checkpoint()
        call = tasks.create_task(at.since(cursor))
        await at.trusted(INBOX)
        at.board.close()
        page = await call
        assert page.cursor
        assert (page.rows, page.cursor(0)) == ((), cursor)


# On servers with habits


async def test_a_folder_that_nobody_wants_any_more_is_left_after_a_while() -> None:
    talker = Talker()
    async with talking(talker) as server, desk(server.port) as at:
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)
        await talker.hears("IDLE")
        for _ in range(2):
            at.clock.wind(LINGER - 1)
            await settled()
            assert (talker.open, at.board.trusts(INBOX)) == (1, True)
            with at.directory.watching.hold([INBOX]):
                pass
        at.clock.wind(LINGER)
        await until(lambda: not talker.open)
        assert not at.board.trusts(INBOX)
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)


async def settled() -> None:
    """Returns when who was woken has done what can be done without a server."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_server_that_keeps_its_news_is_asked_every_minute() -> None:
    talker = Talker(tells=False)
    async with talking(talker) as server, desk(server.port) as at:
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)
            await talker.hears("IDLE")
            seen = at.board.versions([INBOX])
            await talker.add("INBOX", 9)
            at.clock.wind(LISTENING + 5)
            assert await at.news(seen) == {INBOX}


@pytest.mark.parametrize("habit", [{"capabilities": b"IMAP4rev1"}, {"begins": False}], ids=["no IDLE", "no answer"])
async def test_a_server_that_cannot_wait_is_asked(habit: dict[str, object]) -> None:
    talker = Talker(**habit)  # type: ignore[arg-type]
    async with talking(talker) as server, desk(server.port, command_seconds=0.4) as at:
        with at.directory.watching.hold([INBOX]):
            if not talker.begins:
                await at.failed(2)
            await at.trusted(INBOX)
            seen = at.board.versions([INBOX])
            await talker.add("INBOX", 9)
            await until(lambda: at.board.versions([INBOX]) != seen, lambda: at.clock.wind(1))
            assert talker.count("IDLE") == (0 if talker.begins else 2)


async def test_where_there_is_no_room_for_a_listener_the_pool_asks_and_the_log_says_so() -> None:
    talker = Talker(most=1)
    async with talking(talker) as server, desk(server.port) as at:
        cursor = await at.checkpoint()
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)
            assert '"event":"listen.polling"' in at.log.getvalue()
            seen = at.board.versions([INBOX])
            await talker.add("INBOX", 9)
            at.clock.wind(ASKING)
            assert await at.news(seen) == {INBOX}
            assert len((await at.since(cursor, 0)).rows) == 1
            talker.most = 2
            at.clock.wind(CROWDED_REST)
            await until(lambda: talker.count("IDLE") > 0, lambda: at.clock.wind(1))
        assert talker.logins == 2


async def test_a_listener_outlives_whatever_goes_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    talker, asked = Talker(most=1), []
    standing = Account.standing

    async def failing(account: Account, folder: Folder) -> Standing | None:
        asked.append(folder)
        if len(asked) == 1:
            raise ZeroDivisionError
        return await standing(account, folder)

    monkeypatch.setattr(Account, "standing", failing)
    async with talking(talker) as server, desk(server.port) as at:
        await at.checkpoint()
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)
            assert '"type":"ZeroDivisionError"' in at.log.getvalue()


async def test_a_listener_makes_room_for_who_has_something_to_do() -> None:
    talker = Talker(most=1)
    async with talking(talker) as server, desk(server.port) as at:
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)
            assert await at.checkpoint()
            await at.trusted(INBOX)
            assert '"event":"listen.polling"' in at.log.getvalue()


async def test_a_folder_that_is_not_there_is_looked_at_by_who_wants_it() -> None:
    talker = Talker()
    async with talking(talker) as server, desk(server.port) as at:
        with at.directory.watching.hold([INBOX, ("box", "Nowhere")]):
            await at.trusted(INBOX)
            assert not at.board.trusts(("box", "Nowhere"))
            await talker.hears("IDLE")


async def test_a_listener_that_is_thrown_out_comes_back_and_rests_longer_each_time() -> None:
    talker = Talker()
    async with talking(talker) as server, desk(server.port) as at:
        with at.directory.watching.hold([INBOX]):
            for times in (1, 2):
                await talker.hears("IDLE", times)
                talker.drop()
                await at.failed(times)
            await asyncio.sleep(0.05)
            assert talker.count("IDLE") == 2
            at.clock.wind(2)
            await talker.hears("IDLE", 3)


async def test_a_refused_login_is_not_tried_again() -> None:
    talker = Talker()

    async def refusing(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 IDLE] ready")
        await peer.answers(status=b"NO [AUTHENTICATIONFAILED] wrong")
        talker.logins += 1

    async with listening(refusing) as server, desk(server.port) as at:
        with at.directory.watching.hold([INBOX]):
            for _ in range(20):
                at.clock.wind(30)
                await asyncio.sleep(0.01)
            assert talker.logins == 1
            assert '"reason":"login_refused"' in at.log.getvalue()


async def test_of_too_many_folders_some_are_looked_at_by_who_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.mailbox.listening.MOST_FOLDERS", 1)
    talker = Talker()
    async with talking(talker) as server, desk(server.port) as at:
        with at.directory.watching.hold([WORK, INBOX]):
            await at.trusted(WORK)
            assert not at.board.trusts(INBOX)
        await until(lambda: not at.board.trusts(WORK), lambda: at.clock.wind(1))
        with at.directory.watching.hold([INBOX]):
            await at.trusted(INBOX)
