"""On Dovecot: new mail of watched folders is told once to each endpoint that may see it, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from postroom.base.clock import HandClock
from postroom.base.errors import Code, GatewayError
from postroom.events.arrivals import Arrivals
from postroom.events.duty import Duty
from postroom.events.reach import ATTEMPTS, Reach
from postroom.events.watched import watched
from postroom.store import leases
from postroom.store.deliveries import DELIVERIES
from postroom.store.leases import LeaseLostError
from postroom.store.marks import is_unreachable
from postroom.store.times import SKEW, to_text
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.servers.patience import until
from tests.servers.proxy import proxied
from tests.servers.talker import Talker, talking
from tests.watching.standing import RECEIVED, RESET, configuration, endpoint, standing

pytestmark = pytest.mark.anyio
USERS = (f"arrivals-{number}" for number in count())
ALL = (RECEIVED, RESET, "message.flags", "message.deleted", "mailbox.unreachable", "mailbox.recovered")
AWAY = GatewayError(Code.IMAP_ERROR, "The server is away.", reason="refused")
HIDDEN = plain("Tender", sender="boss@corp.example")


async def deliver(dovecot: Dovecot, user: str, *messages: bytes, folder: str = "INBOX") -> None:
    await asyncio.to_thread(dovecot.deliver, user, messages, folder)


async def test_old_mail_is_told_to_nobody_and_new_mail_at_once(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    await deliver(dovecot, user, plain("Old"), plain("Older"))
    async with standing(configuration(dovecot.port, user, [endpoint("desk", RECEIVED)]), tmp_path) as at, at.watching():
        await at.trusted()
        await at.until(at.marked)
        assert await at.due("desk") == []
        heard: list[str | None] = []
        with at.database.listening(DELIVERIES, heard.append):
            await deliver(dovecot, user, plain("New"))
            await at.until(lambda: at.received("desk"))
            await until(lambda: heard == ["work"])
        assert await at.received("desk") == [3]


async def test_a_look_that_finds_nothing_leaves_no_connection_beside_the_one_that_listens(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    user = next(USERS)
    async with proxied(dovecot.port) as proxy:
        config = configuration(proxy.port, user, [endpoint("desk", RECEIVED)])
        async with standing(config, tmp_path) as at, at.watching():
            await at.trusted()
            await at.until(at.marked)
            await until(lambda: proxy.open == 1)
            await deliver(dovecot, user, plain("New"))
            await at.until(lambda: at.received("desk"))
            assert proxy.open == 2  # more may come, and who is told of it may want to read it


async def test_one_connection_serves_looks_at_news_that_is_nobodys_to_be_told(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    await deliver(dovecot, user, plain("Old"))
    async with proxied(dovecot.port) as proxy:
        config = configuration(proxy.port, user, [endpoint("desk", RECEIVED)])
        async with standing(config, tmp_path) as at, at.watching():
            await at.trusted()
            await at.until(at.marked)
            await until(lambda: proxy.open == 1)
            before = proxy.connections
            for sign in "+-+-+-":
                seen = at.directory.watching.board.versions([("work", "INBOX")])
                await asyncio.to_thread(flag, dovecot, user, sign)
                await until(lambda seen=seen: at.directory.watching.board.versions([("work", "INBOX")]) != seen)
            await deliver(dovecot, user, plain("New"))
            await at.until(lambda: at.received("desk"))
            assert proxy.connections <= before + 2  # one for the news, and one if a look just in case was still to come


def flag(dovecot: Dovecot, user: str, sign: str) -> None:
    with dovecot.login(user) as imap:
        imap.select()
        assert imap.store("1", f"{sign}FLAGS", "\\Flagged")[0] == "OK"


async def test_what_is_hidden_from_an_endpoint_moves_the_mark_and_gives_nothing(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    user = next(USERS)
    dovecot.create(user, "Work")
    hooks = [endpoint("whole", RECEIVED), endpoint("bound", RECEIVED, profile="desk"), endpoint("deaf", RESET)]
    config = configuration(dovecot.port, user, hooks, ["INBOX", "Work"])
    async with standing(config, tmp_path) as at, at.watching():
        await at.trusted("INBOX", "Work")
        await at.until(lambda: at.marked("Work"))
        await deliver(dovecot, user, HIDDEN, plain("For all"))
        await deliver(dovecot, user, plain("In another folder"), folder="Work")
        await at.until(lambda: many(at.due("whole"), 3))
        assert sorted(await at.received("whole")) == [1, 1, 2]
        ((kind, uid),) = await at.due("bound")
        (row,) = at.directory.view(at.watched.endpoints[1].caller, "work")._sight.naming.read("INBOX", uid)[:1]
        assert (kind, row) == (RECEIVED, 2)
        assert not uid.partition("-")[0].isdigit()
        assert await at.due("deaf") == []
        assert (await at.marked() or ())[1] == 2


async def many(due: Any, least: int) -> bool:
    return len(await due) >= least


async def test_mail_that_came_between_two_lives_is_told_in_the_second(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    config = configuration(dovecot.port, user, [endpoint("desk", RECEIVED)])
    for life in range(3):
        async with standing(config, tmp_path) as at, at.watching(f"g_{life}"):
            await at.until(at.marked)
            await at.until(lambda life=life: many(at.received("desk"), 2 * life))
            assert await at.received("desk") == list(range(1, 2 * life + 1))
        await deliver(dovecot, user, plain("One"), plain("Two"))


@pytest.mark.parametrize("is_back", [False, True], ids=["still away in another life", "back by then"])
async def test_what_came_while_the_server_was_away_is_told_when_it_is_back_and_so_is_that_it_was_away(
    dovecot: Dovecot, tmp_path: Path, is_back: bool
) -> None:
    user = next(USERS)
    hooks = [endpoint("desk", *ALL), endpoint("bound", *ALL, profile="desk")]
    async with proxied(dovecot.port) as proxy:
        config = configuration(proxy.port, user, hooks)
        async with standing(config, tmp_path) as at:
            async with at.watching():
                await at.trusted()
                await at.until(at.marked)
                proxy.away = True
                proxy.cut()
                await deliver(dovecot, user, plain("Meanwhile"))
                await at.until(lambda: at.due("desk"))
                assert await at.due("desk") == [("mailbox.unreachable", {"mailbox": "work", "reason": at_reason(at)})]
                assert await at.due("bound") == [
                    ("mailbox.unreachable", {"mailbox": "work", "reason": "mail_server"}),
                ]
                at.clock.wind(200)
            # Another life that finds it still away says nothing of it again.
            proxy.away = not is_back
            async with at.watching("g_2"):
                for _ in range(0 if is_back else 40):
                    at.clock.wind(30)
                    await asyncio.sleep(0.005)
                proxy.away = False
                await at.until(lambda: many(at.due("desk"), 3), pace=30)
                assert [kind for kind, _ in await at.due("desk")] == [
                    "mailbox.unreachable",
                    RECEIVED,
                    "mailbox.recovered",
                ]


def at_reason(at: Any) -> str:
    """Our own word for it: which one depends on the moment of the cut."""
    line = next(line for line in at.log.getvalue().splitlines() if "watch.unreachable" in line)
    return str(line.split('"reason":"')[1].split('"')[0])


async def test_a_folder_that_is_numbered_anew_is_told_of_once_and_its_mail_not_again(tmp_path: Path) -> None:
    talker = Talker()
    hooks = [endpoint("desk", *ALL), endpoint("bound", *ALL, profile="desk")]
    async with talking(talker) as server:
        config = configuration(server.port, "ana", hooks, ["Work", "INBOX"])
        async with standing(config, tmp_path) as at, at.watching():
            await at.until(lambda: at.marked("INBOX"))
            await talker.add("Work", 4)
            await at.until(lambda: at.due("desk"))
            talker.uid_validity = 18
            talker.folders["Work"] = [1, 2, 3, 4, 5, 6]
            talker.restart()
            await at.until(lambda: many(at.due("desk"), 3), pace=5)
            await talker.add("Work", 7)
            await at.until(lambda: many(at.due("desk"), 4), pace=5)
            told = await at.due("desk")
            resets = [data for kind, data in told if kind == RESET]
            assert sorted(one["folder"] for one in resets) == ["INBOX", "Work"]
            assert [uid for kind, uid in told if kind == RECEIVED] == ["4-17", "7-18"]
            assert (await at.marked("Work"), await at.marked("INBOX")) == ((18, 7), (18, 7))
            # Whoever may not see a folder does not hear of it.
            assert await at.due("bound") == [(RESET, {"mailbox": "work", "folder": "INBOX"})]


async def test_a_folder_that_is_missing_keeps_no_other_from_being_watched(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    config = configuration(dovecot.port, user, [endpoint("desk", RECEIVED)], ["Nowhere", "INBOX"])
    async with standing(config, tmp_path) as at, at.watching():
        await at.until(at.marked)
        await deliver(dovecot, user, plain("New"))
        await at.until(lambda: at.received("desk"))
        assert at.log.getvalue().count('"event":"watch.no_folder","mailbox":"work"}') == 1


# Leases


async def test_a_watcher_whose_lease_is_lost_writes_nothing(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    config = configuration(dovecot.port, user, [endpoint("desk", *ALL)])
    async with standing(config, tmp_path) as at:
        (lease,) = await leases.take(at.database, ["work"], "g_1", at.clock.now())
        arrivals, reach = Arrivals(at.watched, at.means), Reach(at.watched, at.means)
        await arrivals.look("INBOX", lease)
        mark = await at.marked()
        await leases.take(at.database, ["work"], "another", at.clock.now(), alone=True)
        await deliver(dovecot, user, plain("Not ours"))
        with pytest.raises(LeaseLostError):
            await arrivals.look("INBOX", lease)
        for _ in range(ATTEMPTS - 1):
            await reach.failed(AWAY, lease)
        with pytest.raises(LeaseLostError):
            await reach.failed(AWAY, lease)
        assert (await at.due("desk"), await at.marked()) == ([], mark)
        assert not await is_unreachable(at.database, "work")


async def test_a_watcher_whose_lease_is_lost_ends_and_comes_back_when_it_is_free(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    user = next(USERS)
    config = configuration(dovecot.port, user, [endpoint("desk", RECEIVED)])
    async with standing(config, tmp_path) as at, at.watching(alone=False):
        await at.until(at.marked)
        (stolen,) = await leases.take(at.database, ["work"], "another", at.clock.now(), alone=True)
        await deliver(dovecot, user, plain("New"))
        await at.until(lambda: logged(at, "watch.lease_lost"))
        assert await at.due("desk") == []
        await leases.release(at.database, [stolen])
        await at.until(lambda: at.received("desk"), pace=1)
        assert await at.received("desk") == [1]


async def logged(at: Any, event: str) -> bool:
    return event in at.log.getvalue()


async def holder(at: Any) -> str:
    query = "SELECT owner FROM leases WHERE mailbox = 'work'"
    return str((await at.database.read(lambda connection: connection.execute(query).fetchone()))[0])


async def test_of_two_gateways_one_watches_and_the_other_goes_on_when_it_dies(
    dovecot: Dovecot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, clock = next(USERS), HandClock()
    config = configuration(dovecot.port, user, [endpoint("desk", RECEIVED)])
    async with standing(config, tmp_path, clock) as at, standing(config, tmp_path, clock) as other:
        dying = AsyncExitStack()
        await dying.enter_async_context(at.watching("g_1", alone=False))
        await at.until(at.marked)
        async with other.watching("g_2", alone=False):
            for number in range(1, 4):
                await deliver(dovecot, user, plain("New"))
                await at.until(lambda number=number: many(at.received("desk"), number))
            assert await holder(at) == "g_1"
            monkeypatch.setattr("postroom.store.leases.release", nothing)
            await dying.aclose()
            await deliver(dovecot, user, plain("New"))
            await at.until(lambda: many(at.received("desk"), 4), pace=1)
            assert await holder(at) == "g_2"
            assert await at.received("desk") == [1, 2, 3, 4]


async def nothing(*_: object) -> None:
    """A gateway that dies leaves nothing behind in order."""


async def test_each_of_several_gateways_takes_its_share_and_no_more(tmp_path: Path) -> None:
    talker = Talker()
    async with talking(talker) as server:
        config = configuration(server.port, "ana", [endpoint("desk", RECEIVED)])
        (mailbox,) = config.mailboxes
        config = config.model_copy(
            update={"mailboxes": tuple(mailbox.model_copy(update={"name": f"m{number}"}) for number in range(7))}
        )
        async with standing(config, tmp_path) as at:
            duty = Duty(watched(config.mailboxes), at.means, "g_1", alone=False)
            await there_are(at, 3)
            async with asyncio.TaskGroup() as tasks:
                running = tasks.create_task(duty.run())
                await until(lambda: len(duty._held) == 3)
                await there_are(at, 1)
                await until(lambda: len(duty._held) == 7, lambda: at.clock.wind(0.1))
                await there_are(at, 3)
                await until(lambda: len(duty._held) == 3, lambda: at.clock.wind(0.1))
                await at.until(lambda: are_free(at, 4), pace=0)
                running.cancel()


async def there_are(at: Any, gateways: int) -> None:
    """So many live for the next minute, as their rows say."""
    until = to_text(at.clock.now() + SKEW)

    def written(connection: Any) -> None:
        connection.execute("DELETE FROM gateways")
        rows = [(f"g_{number}", until) for number in range(1, gateways + 1)]
        connection.executemany("INSERT INTO gateways (id, until) VALUES (?, ?)", rows)

    await at.database.write(written)


async def are_free(at: Any, mailboxes: int) -> bool:
    query = "SELECT count(*) FROM leases WHERE until = ''"
    return bool((await at.database.read(lambda connection: connection.execute(query).fetchone()))[0] == mailboxes)


async def is_held_by(at: Any, owner: str) -> bool:
    return await holder(at) == owner
