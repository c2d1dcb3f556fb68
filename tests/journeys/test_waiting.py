"""Calls that wait for mail: what is hidden answers nobody, who may see no more is told no more, a stop ends them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from postroom.mailbox.board import Board, Spot
from tests.journeys.test_event_stream import HIDDEN, POLICIES
from tests.journeys.test_reloading import rewritten
from tests.journeys.test_tokens import command
from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain

TOKENS = {
    "all": "scopes: [read, admin], mailboxes: [work]",
    "bound": "scopes: [read], mailboxes: [work], user: ana, profile: desk",
}


class Calls:
    """Calls that are made at the same time."""

    def __init__(self, desk: Post) -> None:
        self._desk = desk
        self._pool = ThreadPoolExecutor()

    def checkpoint(self, token: str) -> str:
        return str(self._desk.gateway.get("/inbox", token, checkpoint="true").json()["cursor"])

    def wait(self, token: str, cursor: str, seconds: int = 60) -> Future[httpx2.Response]:
        return self._pool.submit(
            self._desk.gateway.get, "/inbox", token, since_cursor=cursor, wait_seconds=str(seconds)
        )


class Waiters:
    """Who stands before the board of the gateway, which runs in this process."""

    def __init__(self) -> None:
        self._met: set[int] = set()
        self._come = threading.Condition()

    def note(self) -> None:
        with self._come:
            self._met.add(id(asyncio.current_task()))
            self._come.notify_all()

    def are(self, count: int) -> None:
        """Returns once so many calls have begun to wait."""
        with self._come:
            assert self._come.wait_for(lambda: len(self._met) >= count, 15)


@pytest.fixture
def waiters(monkeypatch: pytest.MonkeyPatch) -> Waiters:
    found, changed = Waiters(), Board.changed

    async def noted(board: Board, seen: Mapping[Spot, int], seconds: float) -> None:
        found.note()
        await changed(board, seen, seconds)

    monkeypatch.setattr(Board, "changed", noted)
    return found


@pytest.fixture
def desk(tmp_path: Path, dovecot: Dovecot) -> Iterator[Post]:
    with post(tmp_path, dovecot, Wanted(POLICIES, TOKENS)) as standing:
        dovecot.deliver(standing.user, [plain("Old")])
        yield standing


def subjects(call: Future[httpx2.Response]) -> list[Any]:
    return [row["subject"] for row in call.result(30).json()["messages"]]


def test_hidden_mail_answers_nobody_whom_it_is_hidden_from(desk: Post, waiters: Waiters) -> None:
    calls = Calls(desk)
    bound = calls.wait("bound", calls.checkpoint("bound"))
    whole = calls.wait("all", calls.checkpoint("all"))
    waiters.are(2)
    desk.dovecot.deliver(desk.user, [HIDDEN])
    assert subjects(whole) == ["Tender"]
    short = calls.wait("bound", calls.checkpoint("bound"), 1).result(30).json()
    assert (short["messages"], short["complete"]) == ([], True)
    assert not bound.done()
    desk.dovecot.deliver(desk.user, [plain("For all")])
    assert subjects(bound) == ["For all"]


def test_a_token_that_is_revoked_while_it_waits_is_told_nothing(desk: Post, tmp_path: Path, waiters: Waiters) -> None:
    config, calls = tmp_path / "postroom.yaml", Calls(desk)
    issued = command(config, "create", "reader", "--scopes", "read", "--mailboxes", "work", "--print")
    desk.gateway.tokens["reader"] = issued  # type: ignore[index]
    cursor = calls.checkpoint("reader")
    other, call = calls.wait("all", calls.checkpoint("all")), calls.wait("reader", cursor)
    waiters.are(2)
    command(config, "revoke", "reader")
    desk.dovecot.deliver(desk.user, [plain("Not for it")])
    assert subjects(other) == ["Not for it"]
    assert (subjects(call), call.result().json()["cursor"]) == ([], cursor)


def test_a_policy_that_was_narrowed_while_a_call_waits_holds_for_it(
    desk: Post, tmp_path: Path, waiters: Waiters
) -> None:
    calls = Calls(desk)
    cursor = calls.checkpoint("bound")
    call = calls.wait("bound", cursor)
    waiters.are(1)
    rewritten(tmp_path, "boss@corp.example", "dana@example.org")
    desk.gateway.reload()
    desk.dovecot.deliver(desk.user, [plain("Hidden by now")])
    assert subjects(call) == []


def test_a_call_that_waits_is_answered_when_the_gateway_stops(
    tmp_path: Path, dovecot: Dovecot, waiters: Waiters
) -> None:
    with post(tmp_path, dovecot, Wanted(POLICIES, TOKENS)) as desk:
        calls = Calls(desk)
        cursor = calls.checkpoint("all")
        call = calls.wait("all", cursor)
        waiters.are(1)
        stopped = time.monotonic()
    answer = call.result(1)
    assert answer.status_code == 200
    assert (answer.json()["messages"], answer.json()["cursor"]) == ([], cursor)
    assert time.monotonic() - stopped < 8
