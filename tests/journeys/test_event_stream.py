"""The event stream over HTTP: told at once, gone on with exactly, ended with the caller's leave."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from postroom.cli import main
from tests.journeys.test_reloading import rewritten
from tests.journeys.test_tokens import command
from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.servers.ports import refusing_port

POLICIES = """\
  desk:
    folders: {rules: [{match: INBOX, access: readable}]}
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
    messages: {rules: [{id: boss, match: {from: boss@corp.example}, action: hide}]}
"""
TOKENS = {
    "all": "scopes: [read, admin], mailboxes: [work]",
    "both": "scopes: [read], mailboxes: [work, down]",
    "bound": "scopes: [read], mailboxes: [work], user: ana, profile: desk",
    "admin": "scopes: [admin], mailboxes: [work]",
}
HIDDEN = plain("Tender", sender="boss@corp.example")


@dataclass
class Reading:
    """One open stream, read event by event."""

    lines: Iterator[str]

    def event(self) -> dict[str, Any]:
        """The next event past signs of life: `id`, `event`, and `data` without what frames it."""
        while True:
            fields = dict(line.split(": ", 1) for line in self._block() if not line.startswith(":"))
            if "data" in fields:
                data = json.loads(fields["data"])
                assert data["type"] == fields["event"]
                return {**fields, "data": data["data"]}

    def uids(self, count: int) -> list[str]:
        return [self.event()["data"]["uid"].partition("-")[0] for _ in range(count)]

    def rest(self) -> list[str]:
        """Lines up to the end, but for signs of life."""
        return [line for line in self.lines if line and not line.startswith(":")]

    def _block(self) -> Iterator[str]:
        for line in self.lines:
            if not line:
                return
            yield line
        raise AssertionError("the stream has ended")


@contextlib.contextmanager
def stream(desk: Post, token: str = "all", last: str | None = None, **query: str) -> Iterator[Reading]:
    headers = {"Last-Event-ID": last} if last else {}
    with desk.gateway.http(token) as client, client.stream("GET", "/events", params=query, headers=headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"] == "text/event-stream"
        yield Reading(response.iter_lines())


def asked(desk: Post, token: str = "all", path: str = "/events", **query: str) -> httpx2.Response:
    """An answer that is no stream."""
    return desk.gateway.get(path, token, **query)


@pytest.fixture
def desk(tmp_path: Path, dovecot: Dovecot) -> Iterator[Post]:
    down = (
        f"\n  - {{name: down, imap: {{host: 127.0.0.1, port: {refusing_port()}, tls: none, username: x, password: x}}}}"
    )
    with post(tmp_path, dovecot, Wanted(POLICIES, TOKENS, mailbox=down)) as standing:
        dovecot.deliver(standing.user, [plain("Old")])
        yield standing


def test_new_mail_is_told_as_it_comes_and_a_stream_goes_on_after_any_event(desk: Post) -> None:
    with stream(desk) as reading:
        ready = reading.event()
        assert (ready["event"], ready["data"]) == ("ready", {})
        desk.dovecot.deliver(desk.user, [plain(f"New {number}") for number in range(3)])
        told = [reading.event() for _ in range(3)]
    assert [one["event"] for one in told] == ["message.received"] * 3
    assert [one["data"]["uid"].partition("-")[0] for one in told] == ["2", "3", "4"]
    assert {(one["data"]["mailbox"], one["data"]["folder"]) for one in told} == {("work", "INBOX")}
    desk.dovecot.deliver(desk.user, [plain("While away")])
    for last, expected in (
        (ready["id"], ["2", "3", "4", "5"]),
        (told[0]["id"], ["3", "4", "5"]),
        (told[2]["id"], ["5"]),
    ):
        with stream(desk, last=last) as reading:
            assert reading.event()["id"] == last
            assert reading.uids(len(expected)) == expected
    # One cursor is good for both, and what a browser says of itself is later than its address.
    rows = asked(desk, path="/inbox", since_cursor=told[1]["id"]).json()["messages"]
    assert [row["subject"] for row in rows] == ["New 2", "While away"]
    with stream(desk, last=told[2]["id"], since_cursor=ready["id"]) as reading:
        reading.event()
        assert reading.uids(1) == ["5"]


def test_a_filter_and_a_folder_are_obeyed(desk: Post) -> None:
    desk.dovecot.create(desk.user, "Work")
    with stream(desk, folder="Work", subject="bill") as reading:
        reading.event()
        desk.dovecot.deliver(desk.user, [plain("A bill")])
        desk.dovecot.deliver(desk.user, [plain("Hello"), plain("Another bill")], "Work")
        told = reading.event()
        assert (told["data"]["folder"], told["data"]["uid"].partition("-")[0]) == ("Work", "2")


def test_hidden_mail_is_told_to_nobody_whom_it_is_hidden_from(desk: Post) -> None:
    with stream(desk, "bound") as bound, stream(desk) as whole:
        ready = bound.event()
        whole.event()
        desk.dovecot.deliver(desk.user, [HIDDEN])
        assert whole.uids(1) == ["2"]
        desk.dovecot.deliver(desk.user, [plain("For all")])
        told = bound.event()
        assert desk.ask("get_message", "bound", uid=told["data"]["uid"])["subject"] == "For all"
    with stream(desk, "bound", last=ready["id"]) as again:
        again.event()
        assert again.event()["data"] == told["data"]


def test_a_mailbox_that_is_down_is_named_and_takes_no_other_with_it(desk: Post) -> None:
    with stream(desk, "both") as reading:
        reading.event()
        fault = reading.event()
        assert (fault["event"], fault["data"]) == ("mailbox.unreachable", {"mailbox": "down", "reason": "refused"})
        desk.dovecot.deliver(desk.user, [plain("New")])
        assert reading.event()["data"]["mailbox"] == "work"


def test_a_token_that_is_revoked_hears_no_more(desk: Post, tmp_path: Path) -> None:
    config = tmp_path / "postroom.yaml"
    issued = command(config, "create", "reader", "--scopes", "read", "--mailboxes", "work", "--print")
    desk.gateway.tokens["reader"] = issued  # type: ignore[index]
    with stream(desk, "reader") as reading:
        reading.event()
        command(config, "revoke", "reader")
        desk.dovecot.deliver(desk.user, [plain("Not for it")])
        assert reading.rest() == []


def test_the_operator_s_switch_ends_a_stream(desk: Post, tmp_path: Path) -> None:
    with stream(desk) as reading:
        reading.event()
        done = CliRunner().invoke(main, ["stop", "--all", "--config", str(tmp_path / "postroom.yaml")])
        assert done.exit_code == 0, done.output
        desk.dovecot.deliver(desk.user, [plain("Not now")])
        assert reading.rest() == []


def test_a_policy_that_was_narrowed_ends_the_stream_before_it_tells_more(desk: Post, tmp_path: Path) -> None:
    with stream(desk, "bound") as reading:
        ready = reading.event()
        rewritten(tmp_path, "boss@corp.example", "dana@example.org")
        desk.gateway.reload()
        desk.dovecot.deliver(desk.user, [plain("Hidden by now")])
        assert reading.rest() == []
    refused = asked(desk, "bound", since_cursor=ready["id"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_cursor")


def test_what_cannot_be_asked_is_refused_before_anything_is_told(desk: Post) -> None:
    assert asked(desk, since_cursor="s1_AAAA").status_code == 422
    assert asked(desk, subject="").status_code == 422
    assert asked(desk, wait="5").status_code == 422
    assert asked(desk, "admin").json()["error"]["code"] == "permission_denied"
    assert asked(desk, "relay").status_code == 404
    assert asked(desk, mailbox="none").status_code == 404
    with desk.gateway.http() as client:
        head = client.head("/events")
        assert (head.status_code, head.headers["content-type"], head.content) == (200, "text/event-stream", b"")
        assert client.post("/events").status_code == 405


def test_a_token_holds_so_many_streams_and_no_more(desk: Post) -> None:
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(stream(desk)) for _ in range(8)]
        for reading in held:
            reading.event()
        refused = asked(desk)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
        other = stack.enter_context(stream(desk, "bound"))
        other.event()
    # That they are closed the gateway learns in its own time.
    for _ in range(200):
        with desk.gateway.http() as client, client.stream("GET", "/events") as response:
            if response.status_code == 200:
                return
    raise AssertionError("closed streams still count")
