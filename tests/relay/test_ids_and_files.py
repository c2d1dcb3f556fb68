"""Ids outlive restarts, tokens and keys; cursors and files do not outlive the policy that they were given under."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from postroom.base.clock import HandClock
from postroom.store import keys
from tests.relay.standing import Answer, Post, Wanted, post
from tests.servers import stores
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain, with_file

POLICY = """
  desk:
    limits: {{requests_per_minute: 6000, burst: 500, concurrent: 32}}
    folders: {{default: hidden, rules: [{{match: [INBOX, Archive], access: readable}}]}}
    attachments: {{mode: {mode}, unscanned: allow}}
"""
TOKENS = {
    "second": "toolset: relay, user: ana, mailbox: work, profile: desk",
    "stranger": "toolset: relay, user: bo, mailbox: work, profile: desk",
    "whole": "scopes: [read], mailboxes: [work]",
}


def wanted(mode: str = "download", tokens: Mapping[str, str] = TOKENS) -> Wanted:
    return Wanted(POLICY.format(mode=mode), tokens)


def first(desk: Post, token: str = "relay") -> Answer:
    return dict(desk.ask("list_messages", token, folder="INBOX")["messages"][0])


async def rotate(state: Path, keep_days: int) -> None:
    database = await stores.opened(state)
    try:
        await keys.rotate(database, datetime.now(UTC), keep_days)
    finally:
        await database.close()


def test_a_message_keeps_its_id_over_restart_token_and_key(dovecot: Dovecot, tmp_path: Path) -> None:
    with post(tmp_path, dovecot, wanted()) as desk:
        dovecot.create(desk.user, "Archive")
        dovecot.deliver(desk.user, [plain("Lunch")])
        uid = first(desk)["uid"]
        assert first(desk, "second")["uid"] == uid
        assert first(desk, "stranger")["uid"] != uid
        assert desk.ask("read_message", "stranger", folder="INBOX", uid=uid)["error"]["code"] == "not_found"
    with post(tmp_path, dovecot, wanted("metadata"), before=desk) as desk:
        assert first(desk)["uid"] == uid
    asyncio.run(rotate(tmp_path / "state", 30))
    with post(tmp_path, dovecot, wanted(), before=desk) as desk:
        assert first(desk)["uid"] != uid
        assert desk.ask("read_message", folder="INBOX", uid=uid)["subject"] == "Lunch"
    asyncio.run(rotate(tmp_path / "state", 0))
    with post(tmp_path, dovecot, wanted(), before=desk) as desk:
        assert desk.ask("read_message", folder="INBOX", uid=uid)["error"]["code"] == "not_found"


def test_a_cursor_is_of_one_list_one_identity_and_one_policy(dovecot: Dovecot, tmp_path: Path) -> None:
    with post(tmp_path, dovecot, wanted()) as desk:
        dovecot.create(desk.user, "Archive")
        for folder in ("INBOX", "Archive"):
            dovecot.deliver(desk.user, [plain(f"No {number}") for number in range(30)], folder)
        cursor = desk.ask("list_messages", folder="INBOX")["next_cursor"]
        told = [
            desk.ask("list_messages", "stranger", folder="INBOX", cursor=cursor),
            desk.ask("list_messages", folder="Archive", cursor=cursor),
            desk.ask("list_messages", folder="INBOX", query="subject no", cursor=cursor),
            desk.ask("list_messages", folder="INBOX", query="order by date", cursor=cursor),
            desk.ask("search_messages", folder="INBOX", query="not flag seen", cursor=cursor),
            desk.ask("list_messages", folder="INBOX", cursor=first(desk)["uid"]),
            desk.ask("list_messages", folder="INBOX", cursor="c1_AAAA"),
            desk.ask("list_messages", folder="INBOX", cursor=""),
        ]
        assert len(desk.ask("list_messages", "second", folder="INBOX", cursor=cursor)["messages"]) == 10
    with post(tmp_path, dovecot, wanted("metadata"), before=desk) as desk:
        told.append(desk.ask("list_messages", folder="INBOX", cursor=cursor))
    assert {str(one) for one in told} == {str(told[0])}
    assert told[0]["error"]["code"] == "invalid_cursor"


def test_a_file_is_had_by_its_own_identity_and_is_otherwise_what_never_existed(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    clock = HandClock()
    with post(tmp_path, dovecot, wanted(), clock) as desk:
        dovecot.deliver(desk.user, [with_file("Minutes")])
        (file,) = desk.ask("read_message", folder="INBOX", uid=first(desk)["uid"])["attachments"]
        path = "/attachments/" + file["download_url"].rpartition("/")[2]
        assert file["download_url"].startswith("http://localhost:8000/attachments/a1_")
        good = {name: desk.gateway.get(path, name) for name in ("relay", "second")}
        assert {one.status_code for one in good.values()} == {200}
        assert len(good["relay"].content) == file["size"]
        assert good["relay"].headers["content-disposition"].startswith("attachment")
        never = desk.gateway.get("/attachments/a1_AAAA", "relay")
        told = [desk.gateway.get(path, "stranger"), desk.gateway.get(path[:-1] + "_", "relay")]
        assert desk.gateway.get(path, "whole").status_code == 404
        assert desk.gateway.get(path, None).status_code == 401
        clock.wind(1300)
        told.append(desk.gateway.get(path, "relay"))
    clock = HandClock()
    with post(tmp_path, dovecot, wanted("metadata"), clock, before=desk) as desk:
        told.append(desk.gateway.get(path, "relay"))
        assert "download_url" not in desk.ask("read_message", folder="INBOX", uid=first(desk)["uid"])["attachments"][0]
    assert {(one.status_code, one.content) for one in told} == {(404, never.content)}


@pytest.mark.parametrize("mode", ["none", "metadata"])
def test_without_leave_nothing_is_said_of_where_files_are(dovecot: Dovecot, tmp_path: Path, mode: str) -> None:
    with post(tmp_path, dovecot, wanted(mode)) as desk:
        dovecot.deliver(desk.user, [with_file("Minutes")])
        told = desk.ask("read_message", folder="INBOX", uid=first(desk)["uid"])
        assert [set(one) for one in told.get("attachments", [])] == (
            [{"filename", "content_type", "size"}] if mode != "none" else []
        )
        assert ("has_attachments" in first(desk)) is (mode != "none")
