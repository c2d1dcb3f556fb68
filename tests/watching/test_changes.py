"""What becomes of messages that an endpoint was told of; of others, and of what is hidden by now, it hears nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from postroom.store import told as memory
from postroom.store.told import LIFE, MOST, Told, listing
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.servers.patience import until
from tests.watching.standing import DANA, RECEIVED, Standing, configuration, endpoint, standing

pytestmark = pytest.mark.anyio
USERS = (f"changes-{number}" for number in count())
INBOX = ("work", "INBOX")
FLAGS, DELETED = "message.flags", "message.deleted"
HIDDEN = plain("Tender", sender="boss@corp.example")


def changed(dovecot: Dovecot, user: str, *work: tuple[str, ...], folder: str = "INBOX") -> None:
    """Another client at work: UID commands."""
    with dovecot.login(user) as client:
        client.select(folder)
        for words in work:
            status, told = client.uid(*words)
            assert status == "OK", told
        client.expunge()


async def told(at: Standing, dovecot: Dovecot, user: str, *messages: bytes) -> None:
    """Deliver these, and wait until all are told of to `desk`, and the listener has heard of them.

    Of what comes and goes while Dovecot holds its news back it tells nothing: then a sweep finds out.
    """
    await at.trusted()
    board, before = at.directory.watching.board, len(await at.received("desk"))
    seen = board.versions([INBOX])
    await asyncio.to_thread(dovecot.deliver, user, messages)
    await at.until(lambda: at_least(at.received, "desk", before + len(messages)))
    await until(lambda: board.versions([INBOX]) != seen)


async def at_least(ask: Callable[[str], Any], name: str, least: int) -> bool:
    return len(await ask(name)) >= least


async def news(at: Standing, name: str = "desk") -> list[Any]:
    return [(kind, what) for kind, what in await at.due(name) if kind != RECEIVED]


async def test_flags_and_deletions_of_told_messages_are_told_and_of_no_others(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    await asyncio.to_thread(dovecot.deliver, user, [plain("Old")])
    hooks = [endpoint("desk", RECEIVED, FLAGS, DELETED), endpoint("bound", FLAGS, DELETED, RECEIVED, profile="desk")]
    hooks += [endpoint("plain", RECEIVED), endpoint("gone", RECEIVED, DELETED)]
    async with standing(configuration(dovecot.port, user, hooks), tmp_path) as at, at.watching():
        await at.until(at.marked)
        await told(at, dovecot, user, plain("New"), HIDDEN, plain("Newer"))
        await at.trusted()
        flagging = [("STORE", "1:4", "+FLAGS", "(\\Flagged)"), ("STORE", "2", "+FLAGS", "(\\Seen urgent)")]
        await asyncio.to_thread(changed, dovecot, user, *flagging)
        await at.until(lambda: at_least(at.due, "desk", 6))
        flags = {what for kind, what in await news(at)}
        assert {uid.partition("-")[0] for uid in flags} == {"2", "3", "4"}
        last = await bodies(at, "desk", FLAGS)
        assert max(last, key=len) == ["\\Flagged", "\\Seen", "urgent"]
        await at.until(lambda: at_least(at.due, "bound", 4))
        assert len({what for _, what in await news(at, "bound")}) == 2
        await asyncio.to_thread(changed, dovecot, user, ("STORE", "1:3", "+FLAGS", "(\\Deleted)"))
        await at.until(lambda: at_least(lambda name: events(at, name, DELETED), "desk", 2))
        await at.until(lambda: at_least(lambda name: events(at, name, DELETED), "gone", 2))
        assert [uid.partition("-")[0] for uid in await events(at, "desk", DELETED)] == ["2", "3"]
        assert len(await events(at, "bound", DELETED)) == 1
        assert await news(at, "plain") == []
        assert await events(at, "gone", FLAGS) == []
        assert [one.uid for one in await listing(at.database, "work", "desk", "INBOX")] == [4]


async def bodies(at: Standing, name: str, kind: str) -> list[list[str]]:
    query = "SELECT body ->> '$.data.flags' FROM deliveries WHERE endpoint = ? AND type = ?"
    rows = await at.database.read(lambda connection: connection.execute(query, (name, kind)).fetchall())
    return [json.loads(flags) for (flags,) in rows]


async def events(at: Standing, name: str, kind: str) -> list[Any]:
    return [what for one, what in await at.due(name) if one == kind]


async def test_a_message_that_moves_is_deleted_where_it_was(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    hooks = [endpoint("desk", RECEIVED, DELETED)]
    async with standing(configuration(dovecot.port, user, hooks), tmp_path) as at, at.watching():
        await at.until(at.marked)
        await told(at, dovecot, user, plain("New"))
        await asyncio.to_thread(changed, dovecot, user, ("MOVE", "1", "Trash"))
        await at.until(lambda: at_least(at.due, "desk", 2))
        assert [kind for kind, _ in await at.due("desk")] == [RECEIVED, DELETED]


async def test_what_another_policy_hides_by_now_gives_nothing_more(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    hooks = [endpoint("desk", RECEIVED, FLAGS), endpoint("bound", RECEIVED, FLAGS, DELETED, profile="desk")]
    async with standing(configuration(dovecot.port, user, hooks), tmp_path) as at, at.watching():
        await at.until(at.marked)
        await told(at, dovecot, user, plain("From Dana"), plain("From Eve", sender="eve@example.org"))
        await at.until(lambda: at_least(at.due, "bound", 2))
        at.narrow(DANA)
        await asyncio.to_thread(changed, dovecot, user, ("STORE", "1:2", "+FLAGS", "(\\Seen)"))
        await at.until(lambda: at_least(lambda name: events(at, name, FLAGS), "bound", 1))
        await at.until(lambda: at_least(lambda name: events(at, name, FLAGS), "desk", 2))
        assert len(await events(at, "bound", FLAGS)) == 1
        assert [one.uid for one in await listing(at.database, "work", "bound", "INBOX")] == [2]
        await asyncio.to_thread(changed, dovecot, user, ("STORE", "1:2", "+FLAGS", "(\\Deleted)"))
        await at.until(lambda: at_least(lambda name: events(at, name, DELETED), "bound", 1))
        assert len(await events(at, "bound", DELETED)) == 1


async def test_of_what_went_under_another_policy_nobody_can_tell_whether_it_would_be_shown(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    user = next(USERS)
    hooks = [endpoint("desk", RECEIVED, DELETED), endpoint("bound", RECEIVED, DELETED, profile="desk")]
    config = configuration(dovecot.port, user, hooks)
    async with standing(config, tmp_path) as at:
        async with at.watching():
            await at.until(at.marked)
            await told(at, dovecot, user, plain("From Dana"), plain("From Eve", sender="eve@example.org"))
            await at.until(lambda: at_least(at.due, "bound", 2))
        at.narrow(DANA)
        await asyncio.to_thread(changed, dovecot, user, ("STORE", "1:2", "+FLAGS", "(\\Deleted)"))
        async with at.watching("g_2"):
            await at.until(lambda: at_least(lambda name: events(at, name, DELETED), "desk", 2))
            await at.until(lambda: is_forgotten(at, "bound"))
        assert await events(at, "bound", DELETED) == []


async def is_forgotten(at: Standing, name: str) -> bool:
    return not await listing(at.database, "work", name, "INBOX")


async def test_what_is_still_shown_under_another_policy_is_followed_on(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    hooks = [endpoint("desk", RECEIVED), endpoint("bound", RECEIVED, DELETED, profile="desk")]
    async with standing(configuration(dovecot.port, user, hooks), tmp_path) as at, at.watching():
        await at.until(at.marked)
        await told(at, dovecot, user, plain("From Dana"), plain("From Eve", sender="eve@example.org"))
        await at.until(lambda: at_least(at.due, "bound", 2))
        at.narrow(DANA)
        await told(at, dovecot, user, plain("Another of Dana"))
        await at.until(lambda: remembers(at, "bound", 2))
        await asyncio.to_thread(changed, dovecot, user, ("STORE", "1:3", "+FLAGS", "(\\Deleted)"))
        await at.until(lambda: is_forgotten(at, "bound"))
        assert len(await events(at, "bound", DELETED)) == 1


async def remembers(at: Standing, name: str, *uids: int) -> bool:
    return [one.uid for one in await listing(at.database, "work", name, "INBOX")] == list(uids)


async def test_so_many_messages_are_remembered_for_so_long(dovecot: Dovecot, tmp_path: Path) -> None:
    user = next(USERS)
    async with standing(configuration(dovecot.port, user, [endpoint("desk", RECEIVED)]), tmp_path) as at:
        now = at.clock.now()
        rows = [Told("work", "desk", "INBOX", 17, uid, frozenset({"\\Seen", "a"}), "") for uid in range(1, MOST + 51)]
        await at.database.write(lambda connection: memory.put(connection, rows, now))
        kept = await listing(at.database, "work", "desk", "INBOX")
        assert ([one.uid for one in kept], kept[0].flags) == (list(range(51, MOST + 51)), {"\\Seen", "a"})
        later = Told("work", "desk", "INBOX", 17, 5000, frozenset(), "")
        await at.database.write(lambda connection: memory.put(connection, [later], now + LIFE))
        assert await listing(at.database, "work", "desk", "INBOX") == [later]
