"""A gateway before scripted servers, one mailbox each, asked on either surface with the same words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.gateway import Gateway, running_gateway
from tests.servers.player import ImapPlayer

Answer = dict[str, Any]
SURFACES = ("http", "mcp")
THREE = """MAILBOX "INBOX" uidvalidity=17 uidnext=8
MSG "INBOX" uid=3 subject="One"
MSG "INBOX" uid=5 subject="Two"
MSG "INBOX" uid=7 subject="Three"
"""
_PATHS = {
    "list_folders": "folders",
    "list_messages": "messages",
    "list_threads": "threads",
    "search": "search",
    "mailbox_stats": "stats",
}
_WHOLE = {"list_messages", "search", "inbox", "get_message", "list_threads"}


@dataclass(frozen=True)
class Box:
    """One mailbox on one surface, and the server behind it."""

    name: str
    surface: str
    gateway: Gateway
    player: ImapPlayer

    def __call__(self, tool: str, **arguments: Any) -> Answer:
        """The whole answer, whatever it is; rows have all their fields on both surfaces."""
        if self.surface == "mcp":
            fields = {"fields": "full"} if tool in _WHOLE else {}
            fields |= {"view": "messages"} if tool == "get_thread" else {}
            return self.gateway.call(tool, {"mailbox": self.name, **fields, **arguments})
        path = f"/mailboxes/{self.name}/{_PATHS.get(tool, '')}"
        if tool == "inbox":
            path, arguments = "/inbox", {"mailbox": self.name, **arguments}
        elif tool in ("get_message", "get_thread"):
            path = f"/mailboxes/{self.name}/messages/{arguments.pop('uid')}"
            path += "/thread" if tool == "get_thread" else ""
        query = {name: str(value).lower() if isinstance(value, bool) else value for name, value in arguments.items()}
        return dict(self.gateway.get(path, **query).json())

    # -- what other clients do meanwhile

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.player.script.boxes["INBOX"]["msgs"])

    def mark_seen(self, uid: int) -> None:
        for message in self.messages:
            if message["uid"] == uid:
                message["flags"].add("\\Seen")

    def add(self, *uids: int) -> None:
        box = self.player.script.boxes["INBOX"]
        for uid in uids:
            raw = b"Subject: New\r\nFrom: ana@example.org\r\n\r\nText\r\n"
            fixed = {"flags": set(), "raw": raw, "date": "03-Mar-2026 09:00:00 +0000", "subject": "New"}
            box["msgs"].append({"uid": uid, **fixed})
            box["uidnext"] = uid + 1

    def remove(self, *uids: int) -> None:
        self.player.script.boxes["INBOX"]["msgs"] = [one for one in self.messages if one["uid"] not in uids]

    def number_anew(self, uid_validity: int) -> None:
        self.player.script.boxes["INBOX"]["uidvalidity"] = uid_validity

    @contextlib.contextmanager
    def telling(self, line: bytes, before: str = r"NOOP\Z", times: int = 0) -> Iterator[None]:
        """The server says this before its answer to such a command, each time or only the first."""
        self.player.script.before.append([re.compile(before, re.S), times, line, 0])
        yield
        self.player.script.before.clear()


@contextlib.contextmanager
def staged(scripts: Mapping[str, str], folder: Path) -> Iterator[Mapping[tuple[str, str], Box]]:
    """A box for each script and surface, by both; a script that has no MAILBOX serves `THREE`."""
    with contextlib.ExitStack() as stack:
        players = {}
        for name, script in scripts.items():
            for surface in SURFACES:
                case = folder / f"{name}-{surface}"
                case.mkdir()
                (case / "imap.txt").write_text((script if 'MAILBOX "' in script else THREE + script) + "\n", "utf-8")
                players[name, surface] = stack.enter_context(ImapPlayer(str(case)))
        mailboxes = "\n".join(
            f"  - {{name: {name}-{surface}, imap: {{host: 127.0.0.1, port: {player.port}, tls: none, "
            f"username: ana, password: correct-horse}}}}"
            for (name, surface), player in players.items()
        )
        names = ", ".join(f"{name}-{surface}" for name, surface in players)
        limits = "limits: {connect_seconds: 5, command_seconds: 10}"
        gateway = stack.enter_context(running_gateway(folder, mailboxes, {"all": ("read", names)}, limits))
        yield {
            (name, surface): Box(f"{name}-{surface}", surface, gateway, player)
            for (name, surface), player in players.items()
        }


def subjects(answer: Answer) -> list[str]:
    assert "messages" in answer, answer
    return [row["subject"] for row in answer["messages"]]


def uids(answer: Answer) -> list[int]:
    assert "messages" in answer, answer
    return [int(row["uid"].partition("-")[0]) for row in answer["messages"]]


def seen(answer: Answer) -> dict[int, bool]:
    return dict(zip(uids(answer), (row["seen"] for row in answer["messages"]), strict=True))
