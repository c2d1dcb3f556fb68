"""Wherever the connection breaks, and whenever the process ends: each message is told once, and hidden ones never."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import pytest

from postroom.store import findings, marks
from postroom.store.worker import StoreError
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.servers.proxy import proxied
from tests.servers.talker import Talker, talking
from tests.watching.standing import RECEIVED, Standing, configuration, endpoint, standing

pytestmark = pytest.mark.anyio
LIVES, TURNS, LONGEST = 4, 4, 60
HOOKS = [endpoint("desk", RECEIVED, "message.flags"), endpoint("bound", RECEIVED, profile="desk")]


class Breaking:
    """A store whose writes fail by chance, before or after what they should write."""

    def __init__(self, rng: Random, monkeypatch: pytest.MonkeyPatch) -> None:
        self._rng = rng
        self.on = True
        real = findings._record

        def record(connection: sqlite3.Connection, *what: object) -> None:
            if self.on and rng.random() < 0.2:
                raise StoreError("the disk is full")
            real(connection, *what)  # type: ignore[arg-type]
            if self.on and rng.random() < 0.2:
                raise StoreError("the disk is full by now")

        monkeypatch.setattr(findings, "_record", record)


@pytest.mark.parametrize("seed", range(5))
async def test_every_message_is_told_once_wherever_it_breaks(
    seed: int, dovecot: Dovecot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, user, mail = Random(seed), f"faults-{seed}", list[bool]()
    breaking = Breaking(rng, monkeypatch)
    await asyncio.to_thread(dovecot.deliver, user, [])
    async with proxied(dovecot.port) as proxy:
        config = configuration(proxy.port, user, HOOKS)
        for life in range(LIVES):
            async with standing(config, tmp_path) as at, at.watching(f"g_{life}"):
                if not life:
                    breaking.on = False
                    await at.until(at.marked)
                    breaking.on = True
                for _ in range(TURNS):
                    await come(dovecot, user, mail, rng)
                    proxy.left = rng.randrange(1, LONGEST)
                    await some_time(at, rng)
        breaking.on, proxy.left = False, None
        async with standing(config, tmp_path) as at, at.watching("g_last"):
            visible = [uid for uid, hidden in enumerate(mail, 1) if not hidden]
            await at.until(lambda: told_so_many(at, len(mail), len(visible)), pace=1)
            assert await at.received("desk") == list(range(1, len(mail) + 1))
            naming = at.directory.view(at.watched.endpoints[1].caller, "work")._sight.naming
            uids = [naming.read("INBOX", uid)[0] for _, uid in await at.due("bound")]
            assert uids == visible


async def come(dovecot: Dovecot, user: str, mail: list[bool], rng: Random) -> None:
    """Some messages; those of the boss are hidden from one of the endpoints."""
    hidden = [rng.random() < 0.3 for _ in range(rng.randrange(4))]
    mail += hidden
    senders = ["boss@corp.example" if one else "dana@example.org" for one in hidden]
    await asyncio.to_thread(dovecot.deliver, user, [plain("New", sender=one) for one in senders])


async def some_time(at: Standing, rng: Random) -> None:
    for _ in range(rng.randrange(40)):
        at.clock.wind(rng.random() * 2)
        await asyncio.sleep(0.003)


async def told_so_many(at: Standing, desk: int, bound: int) -> bool:
    return len(await at.due("desk")) >= desk and len(await at.due("bound")) >= bound


async def test_a_message_that_cannot_be_looked_at_now_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talker, refused = Talker(), [True]
    answer = Talker._answer

    def refusing(self: Talker, line: str, name: str) -> list[bytes]:
        if refused[0] and line.startswith("UID FETCH"):
            self.restart()
        return answer(self, line, name)

    monkeypatch.setattr(Talker, "_answer", refusing)
    async with talking(talker) as server:
        config = configuration(server.port, "ana", HOOKS)
        async with standing(config, tmp_path) as at, at.watching():
            refused[0] = False
            await at.until(at.marked)
            refused[0] = True
            await talker.add("INBOX", 9)
            await at.until(lambda: failed(at, 3), pace=0.3)
            assert await at.marked() == (17, 7)
            await talker.add("INBOX", 10)
            refused[0] = False
            await at.until(lambda: told_so_many(at, 2, 0), pace=1)
            assert await at.received("desk") == [9, 10]
            assert at.log.getvalue().count("watch.failed") >= 3


async def test_a_store_that_is_back_is_used_at_once_however_often_it_failed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talker, tried, touched, away, read = Talker(), 0, -1, True, marks.read

    async def failing(*what: Any) -> Any:
        nonlocal tried
        tried += 1
        if away:
            raise StoreError("the connection to the database was lost")
        return await read(*what)

    async def was_tried(times: int) -> bool:
        nonlocal touched
        if touched < tried < times:
            touched = tried
            at.directory.watching.board.touch(("work", "INBOX"))  # mail comes all the time
        return tried >= times

    async with talking(talker) as server, standing(configuration(server.port, "ana", HOOKS), tmp_path) as at:
        async with at.watching():
            await at.until(at.marked)
            monkeypatch.setattr(marks, "read", failing)
            await talker.add("INBOX", 9)
            await at.until(lambda: was_tried(12))
            away, since = False, at.clock.monotonic()
            await at.until(lambda: told_so_many(at, 1, 0))
        assert at.clock.monotonic() - since < 10
        assert at.log.getvalue().count('"event":"watch.stuck"') == 1
        assert "watch.failed" not in at.log.getvalue()


async def failed(at: Standing, times: int) -> bool:
    return at.log.getvalue().count('"event":"watch.failed"') >= times


@pytest.mark.parametrize("refusal", ["NO [NOPERM] not yours", "NO it is broken"])
async def test_a_folder_that_the_server_does_not_open_keeps_no_other_from_being_told_of(
    refusal: str, tmp_path: Path
) -> None:
    talker = Talker(folders={"Locked": [1], "INBOX": [3]}, refusals={"Locked": refusal})
    hooks = [endpoint("desk", RECEIVED, "mailbox.unreachable")]
    async with talking(talker) as server:
        config = configuration(server.port, "ana", hooks, ["Locked", "INBOX"])
        async with standing(config, tmp_path) as at, at.watching():
            await at.until(at.marked)
            await talker.add("INBOX", 9)
            await at.until(lambda: told_so_many(at, 1, 0), pace=1)
            await at.until(lambda: failed(at, 5), pace=1)
            assert [kind for kind, _ in await at.due("desk")] == [RECEIVED], "the server can be reached all the time"


@pytest.mark.parametrize("flag", ["a\u00a0b", "a\x1cb", '"a b"', "a\x00b"])
async def test_a_flag_that_is_no_word_is_not_told_again_and_again(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talker, answer = Talker(), Talker._answer

    def flagged(self: Talker, line: str, name: str) -> list[bytes]:
        return [told.replace(b"FLAGS ()", f"FLAGS (urgent {flag})".encode()) for told in answer(self, line, name)]

    monkeypatch.setattr(Talker, "_answer", flagged)
    async with talking(talker) as server:
        config = configuration(server.port, "ana", [endpoint("desk", RECEIVED, "message.flags")])
        async with standing(config, tmp_path) as at, at.watching():
            await at.until(at.marked)
            for uid in (9, 10, 11):
                await talker.add("INBOX", uid)
                await at.until(lambda uid=uid: told_so_many(at, uid - 8, 0), pace=1)
            assert [kind for kind, _ in await at.due("desk")] == [RECEIVED] * 3
