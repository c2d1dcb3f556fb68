"""A bound token of the mailbox toolset has the large toolset under the relay's protection, over both surfaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain, with_file

POLICY = """
  desk:
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
    folders:
      default: hidden
      rules:
        - {match: INBOX, access: writable}
        - {match: "special:sent", access: readable}
        - {match: Archive, access: writable}
    messages:
      rules:
        - {id: clinic, match: {from: ["*@clinic.example"]}, action: hide}
    actions: {flags: [seen], labels: ["agent/*"], move_to: [Archive], create_under: ["Agent/**"], trash: true}
    attachments: {mode: download, unscanned: allow}
"""
ALL = "read, draft, organize, delete, send"
TOKENS = {"helper": f"user: ana, profile: desk, mailboxes: [work], scopes: [{ALL}]"}


def answer(number: int, parent: str, sender: str) -> bytes:
    head = f"From: {sender}\r\nSubject: Re: Plan\r\nDate: Mon, 2 Mar 2026 10:{number:02}:00 +0000\r\n"
    ids = f"Message-ID: <{number}@x.example>\r\nReferences: <{parent}@x.example>\r\n"
    return f"{head}{ids}\r\nAnswer {number}.\r\n".encode()


@pytest.fixture(scope="module")
def desk(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    with post(tmp_path_factory.mktemp("bound"), dovecot, Wanted(POLICY, TOKENS)) as standing:
        dovecot.create(standing.user, "Archive", "Legal")
        mail = [
            plain("Lunch", "At one, by the river. Your verification code is 482913."),
            plain("Results", sender="Dr. Moss <moss@clinic.example>"),
            with_file("Minutes"),
            answer(1, "0", "Bo <bo@example.org>"),
            answer(2, "1", "Dr. Moss <moss@clinic.example>"),
            answer(3, "2", "Cy <cy@example.org>"),
            answer(4, "1", "Di <di@example.org>"),
        ]
        dovecot.deliver(standing.user, mail)
        yield standing


def helper(desk: Post, tool: str, **arguments: Any) -> dict[str, Any]:
    return desk.ask(tool, "helper", **arguments)


def uid_of(desk: Post, subject: str) -> str:
    rows = helper(desk, "list_messages", limit=50)["messages"]
    return str(next(row["uid"] for row in rows if row.get("subject") == subject))


def test_lists_searches_and_the_inbox_hold_what_may_be_seen(desk: Post) -> None:
    subjects = [row["subject"] for row in helper(desk, "list_messages")["messages"]]
    assert subjects == ["Re: Plan", "Re: Plan", "Re: Plan", "Minutes", "Lunch"]
    assert [row["subject"] for row in helper(desk, "inbox")["messages"]] == subjects
    assert helper(desk, "search", **{"from": "moss"})["messages"] == []
    assert len(helper(desk, "list_messages", search="NOT FROM moss")["messages"]) == 5
    assert helper(desk, "list_messages", search="UID 1:*")["error"]["code"] == "validation_error"
    assert [folder["name"] for folder in helper(desk, "list_folders")["folders"]] == ["INBOX", "Archive", "Sent"]


def test_what_is_redacted_cannot_be_searched_for(desk: Post) -> None:
    told = helper(desk, "get_message", uid=uid_of(desk, "Lunch"))
    assert "[redacted:otp]" in told["reader"]
    right, wrong = (helper(desk, "search", text=code) for code in ("482913", "482914"))
    assert right == wrong
    assert right["messages"] == []


def test_a_conversation_is_what_visible_messages_say(desk: Post) -> None:
    whole = helper(desk, "get_thread", uid=uid_of(desk, "Re: Plan"))
    assert whole["count"] in (1, 2)
    assert "Moss" not in whole["transcript"]
    threads = helper(desk, "list_threads")["threads"]
    assert sum(thread["count"] for thread in threads) == 5


def test_nothing_tells_how_much_there_is_that_is_not_seen(desk: Post) -> None:
    stats = helper(desk, "mailbox_stats")
    assert stats["quota"] is None
    assert {(one["messages"], one["unseen"]) for one in stats["folders"]} == {(None, None)}
    with desk.gateway.http("helper") as client:
        rows = client.get("/mailboxes/work/messages").json()["messages"]
    assert {row["size"] for row in rows} == {None}
    assert {row["message_id"] for row in rows} == {None}


def test_actions_are_those_that_the_policy_allows(desk: Post) -> None:
    uid = uid_of(desk, "Minutes")
    assert helper(desk, "mark_seen", uid=uid)["done"] == 1
    assert helper(desk, "set_labels", uids=[uid], add=["agent/done"])["done"] == 1
    assert helper(desk, "set_labels", uids=[uid], add=["other"])["error"]["code"] == "policy_denied"
    assert helper(desk, "create_folder", name="Legal")["error"]["code"] == "policy_denied"
    assert helper(desk, "create_folder", name="Elsewhere")["error"]["code"] == "policy_denied"
    assert helper(desk, "get_raw_message", uid=uid)["error"]["code"] == "policy_denied"
    assert helper(desk, "move_messages", uids=[uid], destination="Legal")["error"]["code"] == "not_found"
    moved = helper(desk, "move_messages", uids=[uid], destination="Archive")
    assert moved["done"] == 1
    back = helper(desk, "move_messages", uids=[moved["new_uids"][uid]], folder="Archive", destination="INBOX")
    assert back["error"]["code"] == "policy_denied"


def test_files_are_had_by_sealed_ids(desk: Post) -> None:
    rows = helper(desk, "list_messages", folder="Archive")["messages"] + helper(desk, "list_messages")["messages"]
    uid = next(row["uid"] for row in rows if row["subject"] == "Minutes")
    folder = "Archive" if helper(desk, "get_message", uid=uid).get("error") else "INBOX"
    (file,) = helper(desk, "get_message", uid=uid, folder=folder)["attachments"]
    assert file["id"].startswith("a1_")
    got = helper(desk, "get_attachment", uid=uid, folder=folder, attachment_id=file["id"])
    assert got["filename"] == file["filename"]
    assert "data_base64" in got
    refused = [helper(desk, "get_attachment", uid=uid, folder=folder, attachment_id=one) for one in ("2", "a1_AAAA")]
    assert refused[0] == refused[1]
    assert refused[0]["error"]["code"] == "not_found"
