"""Drafts and copies on servers that are full, refuse, or hang up: what may be done again is said, and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers.gateway import Gateway, running_gateway
from tests.servers.player import ImapPlayer, SmtpPlayer

_MAIL = 'MAILBOX "INBOX" uidvalidity=3 uidnext=2\nMSG "INBOX" uid=1 subject="Question"\n'
_DRAFTS = 'MAILBOX "Drafts" uidvalidity=4 uidnext=1 attrs="\\Drafts"\n'
_ANSWER = {"uid": "1-3", "body_text": "Yes.", "draft": True, "idempotency_key": "one"}
_TOKENS = {"drafter": ("read, draft", "work"), "all": ("read, draft, send", "work")}


class Vanishing(ImapPlayer):  # type: ignore[misc]  # the player has no types
    """Files what it is given, says nothing, and is away from then on until it is told not to be."""

    away = False

    def session(self, *connection: Any) -> None:
        if not self.away:
            super().session(*connection)

    def append(self, *command: Any) -> None:
        super().append(*command)
        self.away = True
        raise EOFError


@contextlib.contextmanager
def playing(
    folder: Path,
    script: str = "",
    capabilities: str = "IMAP4rev1 UIDPLUS",
    player_type: type[Any] = ImapPlayer,
    drafts: str = _DRAFTS,
) -> Iterator[tuple[Gateway, Any]]:
    case = folder / "case"
    case.mkdir()
    (case / "imap.txt").write_text(f"CAPS-AUTH {capabilities}\n{_MAIL}{drafts}{script}\n")
    with player_type(str(case)) as player:
        (case / "smtp.txt").write_text("EHLO SIZE 1000000\n")
        with SmtpPlayer(str(case)) as smtp:
            mailboxes = (
                "  - name: work\n    address: ana@example.net\n    identities: [ana@example.net]\n"
                f"    imap: {{host: 127.0.0.1, port: {player.port}, tls: none, username: u, password: p}}\n"
                f"    smtp: {{host: 127.0.0.1, port: {smtp.port}, tls: none}}\n"
            )
            with running_gateway(folder, mailboxes, _TOKENS, "limits: {command_seconds: 2}") as gateway:
                yield gateway, player


def test_a_draft_that_was_refused_may_be_saved_with_the_same_key(tmp_path: Path) -> None:
    with playing(tmp_path, "ON APPEND * #1\nS> {tag} NO [OVERQUOTA] full\n") as (gateway, player):
        refused = gateway.call("reply", _ANSWER, "drafter")["error"]
        assert (refused["code"], "it is full" in refused["message"]) == ("conflict", True)
        saved = gateway.call("reply", _ANSWER, "drafter")
        assert (saved["uid"], saved["to"]) == ("1-4", ["Sender 1 <s1@example.org>"])
        assert gateway.call("reply", _ANSWER, "drafter") == saved
        assert len(player.appends) == 1


def test_of_a_draft_that_may_have_been_saved_a_repeat_tells_whether_it_is_there(tmp_path: Path) -> None:
    with playing(tmp_path, "ON APPEND * #1\nCLOSE\n") as (gateway, player):
        for _ in range(2):
            error = gateway.call("reply", _ANSWER, "drafter")["error"]
            assert (error["code"], error["details"]["outcome"]) == ("imap_error", "unknown")
            assert "List the drafts" in error["message"]
            assert "sent" not in error["message"]
        assert player.appends == []


def test_a_draft_that_was_saved_while_the_connection_was_lost_is_found_by_a_repeat(tmp_path: Path) -> None:
    with playing(tmp_path, player_type=Vanishing) as (gateway, player):
        assert gateway.call("reply", _ANSWER, "drafter")["error"]["details"]["outcome"] == "unknown"
        player.away = False
        found = gateway.call("reply", _ANSWER, "drafter")
        assert (found["uid"], found["folder"], found["subject"]) == ("1-4", "Drafts", "Re: Question")
        assert gateway.call("reply", _ANSWER, "drafter") == found
        assert len(player.appends) == 1


def test_a_draft_that_was_saved_is_told_so_though_its_uid_cannot_be_found_out(tmp_path: Path) -> None:
    with playing(tmp_path, 'ON EXAMINE "Drafts"\nS> {tag} NO [UNAVAILABLE] later\n', "IMAP4rev1") as (gateway, player):
        saved = gateway.call("create_draft", {"subject": "x"}, "drafter")
        assert (saved["uid"], saved["folder"]) == (None, "Drafts")
        assert "list_drafts" in saved["warnings"][0]
        assert len(player.appends) == 1


def test_what_fails_after_a_message_was_sent_is_never_told_as_something_to_try_again(tmp_path: Path) -> None:
    script = "ON APPEND *\nCLOSE\n\nON UID STORE *\nS> {tag} NO [INUSE] later\n"
    with playing(tmp_path, script) as (gateway, _):
        told = gateway.call("reply", {"uid": "1-3", "body_text": "Yes."})
        assert (told["outcome"], told["sent_copy"]) == ("accepted", "failed")
        unfiled, unmarked = told["warnings"]
        assert unfiled == (
            "The message was sent: do not send it again. "
            "But Sent has no copy of it: its IMAP server cannot be reached now."
        )
        assert unmarked.startswith("The answer was sent: do not send it again.")
        assert "ry again" not in unmarked


def test_where_the_server_tells_no_numbering_another_draft_of_the_same_uid_is_another_message(tmp_path: Path) -> None:
    with playing(tmp_path, drafts=_DRAFTS.replace("uidvalidity=4", "uidvalidity=0")) as (gateway, player):
        ids = set()
        for subject in ("First", "Second"):
            box = player.script.boxes["Drafts"]
            box["uidnext"] = 1
            box["msgs"].clear()
            assert gateway.call("create_draft", {"to": ["bo@example.com"], "subject": subject})["uid"] == "1-0"
            told = gateway.call("send_draft", {"uid": "1-0"})
            assert not told["repeated"], told
            ids.add(told["message_id"])
        assert len(ids) == 2
