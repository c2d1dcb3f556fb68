"""No answer over MCP grows past its budget whatever the mail is like, and no message that was asked for is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from postroom.operations.operation import MODEL_BUDGET
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.player import ImapPlayer

COUNT = 25


def mail(sender: str = "ana@example.org", more: str = "", body: str = "Text", kind: str = "text/plain") -> bytes:
    head = f"From: {sender}\r\nTo: ben@example.org\r\nSubject: Hello\r\nDate: Tue, 03 Mar 2026 09:00:00 +0000\r\n"
    more += "" if "References" in more else "References: <root@example.org>\r\n"
    return f"{head}{more}Content-Type: {kind}; charset=utf-8; boundary=b\r\n\r\n{body}\r\n".encode()


def people(count: int, letters: int) -> str:
    return ",\r\n ".join(f'"{"N" * 200} {number}" <{"u" * letters}{number}@example.org>' for number in range(count))


FILE = 'Content-Type: application/x-{t}\r\nContent-ID: <{c}@x>\r\nContent-Disposition: attachment; filename="{f}.bin"'
FILES = f"--b\r\n{FILE.format(t='t' * 60, c='c' * 500, f='f' * 300)}\r\n\r\nx\r\n" * 60 + "--b--"
LINK = f'<p><a href="https://example.org/{"p" * 400}">link</a> word word word</p>'
HEADERS = "".join(f"X-H{number}: {'v' * 500}\r\n" for number in range(150))
REFERENCES = " ".join(f"<{'r' * 900}{number}@example.org>" for number in range(100))
MAILS = {
    "long-addresses": mail(sender=people(30, 3_000)),
    "many-people": mail(sender=people(30, 60), more=f"Cc: {people(200, 60)}\r\nReply-To: {people(50, 60)}\r\n"),
    "quotes": mail(body='"' * 60_000),
    "lines": mail(body="a\r\n" * 20_000),
    "backslashes": mail(body="\\" * 40_000),
    "references": mail(more=f"References: {REFERENCES}\r\n{HEADERS}"),
    "files": mail(kind="multipart/mixed", body=FILES),
    "links": mail(kind="text/html", body=LINK * 300),
}
ASKED: list[dict[str, Any]] = [
    {},
    {"fields": "full"},
    {"view": "text", "max_chars": 100},
    {"view": "full", "fields": "full", "reader": True, "safe_html": True, "headers": True, "links": True},
]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("budget")
    (folder / "folders").mkdir()
    script = "".join(f'MAILBOX "{"F" * 800}{number}" uidvalidity=1 uidnext=1\n' for number in range(60))
    (folder / "folders" / "imap.txt").write_text(script)
    for name, raw in MAILS.items():
        (folder / name).mkdir()
        (folder / name / "mail.eml").write_bytes(raw)
        lines = [f'MSG "INBOX" uid={uid} subject="x" file=mail.eml' for uid in range(1, COUNT + 1)]
        box = f'MAILBOX "INBOX" uidvalidity=17 uidnext={COUNT + 1}'
        (folder / name / "imap.txt").write_text("\n".join([box, *lines, ""]))
    with contextlib.ExitStack() as stack:
        players = {name: stack.enter_context(ImapPlayer(str(folder / name))) for name in ("folders", *MAILS)}
        boxes = "\n".join(
            f"  - {{name: {name}, description: '{'D' * 4_000}', identities: ['*@{'x' * 60}.example'], "
            f"imap: {{host: 127.0.0.1, port: {player.port}, tls: none, username: ana, password: correct-horse}}}}"
            for name, player in players.items()
        )
        tokens = {"all": ("read, admin", ", ".join(players))}
        yield stack.enter_context(running_gateway(folder, boxes, tokens))


def asked(gateway: Gateway, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer, which is within the budget."""
    result = gateway.mcp("tools/call", {"name": tool, "arguments": arguments})
    assert len(result["content"][0]["text"]) <= MODEL_BUDGET
    return dict(result["structuredContent"])


@pytest.mark.parametrize("tool", ["mailboxes", "health_check", "inbox"])
def test_an_overview_is_within_the_budget_and_names_everything(gateway: Gateway, tool: str) -> None:
    answer = asked(gateway, tool, {})
    assert len(answer.get("mailboxes", MAILS)) + answer.get("left_out", 0) >= len(MAILS)


@pytest.mark.parametrize("tool", ["list_folders", "mailbox_stats"])
def test_folders_that_there_is_no_room_for_are_counted(gateway: Gateway, tool: str) -> None:
    answer = asked(gateway, tool, {"mailbox": "folders"})
    assert len(answer["folders"]) + answer["left_out"] == 61


def test_an_error_names_folders_within_reason(gateway: Gateway) -> None:
    answer = asked(gateway, "list_messages", {"mailbox": "folders", "folder": "Nowhere"})
    assert answer["error"]["details"]["folders"]


@pytest.mark.parametrize("ask", [{}, {"fields": "full", "preview": 1000}, {"limit": 20}], ids=str)
@pytest.mark.parametrize("name", MAILS)
def test_a_folder_is_walked_in_answers_within_the_budget_each_message_once(
    gateway: Gateway, name: str, ask: dict[str, Any]
) -> None:
    met: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = asked(gateway, "list_messages", {"mailbox": name, **ask, **cursor})
        met += [row["uid"] for row in page["messages"]]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert met == [f"{uid}-17" for uid in range(COUNT, 0, -1)]


@pytest.mark.parametrize("ask", ASKED, ids=str)
@pytest.mark.parametrize("name", MAILS)
def test_each_of_twenty_messages_is_in_the_answer(gateway: Gateway, name: str, ask: dict[str, Any]) -> None:
    uids = [f"{uid}-17" for uid in range(1, 20)] + ["99-17"]
    answer = asked(gateway, "get_message", {"mailbox": name, "uids": uids, **ask})
    assert [one["uid"] for one in answer["messages"]] == uids
    assert asked(gateway, "get_message", {"mailbox": name, "uid": "1-17", **ask})["uid"] == "1-17"


@pytest.mark.parametrize("name", MAILS)
@pytest.mark.parametrize("view", ["transcript", "messages"])
def test_a_conversation_of_the_worst_messages_stays_in_the_budget_and_keeps_the_newest(
    gateway: Gateway, name: str, view: str
) -> None:
    answer = asked(gateway, "get_thread", {"mailbox": name, "uid": "1", "view": view})
    if view == "transcript":
        assert answer["count"] == COUNT
        assert f"## {COUNT}-17 [INBOX] " in answer["transcript"]
    else:
        assert answer["messages"][-1]["uid"] == f"{COUNT}-17"
        assert len(answer["messages"]) + answer.get("left_out", 0) == COUNT


@pytest.mark.parametrize("name", MAILS)
@pytest.mark.parametrize("fields", ["brief", "full"])
def test_a_list_of_conversations_stays_in_the_budget(gateway: Gateway, name: str, fields: str) -> None:
    (entry,) = asked(gateway, "list_threads", {"mailbox": name, "fields": fields})["threads"]
    assert entry["count"] == COUNT
