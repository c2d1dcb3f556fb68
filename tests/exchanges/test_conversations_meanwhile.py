"""Conversations on servers that refuse, forget and change: what is missing is said, and what is told is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from postroom.mailbox import conversations
from tests.exchanges.stage import SURFACES, Answer, Box, seen, staged, uids

TWO_FOLDERS = """MAILBOX "INBOX" uidvalidity=17 uidnext=1
MAILBOX "Sent" uidvalidity=18 uidnext=1 attrs="\\Sent"
"""
ONE_FOLDER = 'MAILBOX "INBOX" uidvalidity=17 uidnext=1\n'
SCRIPTS = {
    "whole": TWO_FOLDERS,
    "no-sent": TWO_FOLDERS + 'ON EXAMINE "Sent"\nS> {tag} NO [NOPERM] not for you\n',
    "no-search": ONE_FOLDER + "ON UID SEARCH *HEADER*\nS> {tag} NO search is switched off\n",
    "not-sticky": ONE_FOLDER + "BEFORE EXAMINE* | * NO [UIDNOTSTICKY] numbers change\n",
    "known": "CAPS-AUTH IMAP4rev1 IDLE\n" + ONE_FOLDER,
    "changing": ONE_FOLDER,
    "renumbered": ONE_FOLDER,
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[tuple[str, str], Box]]:
    with staged(SCRIPTS, tmp_path_factory.mktemp("stage")) as boxes:
        yield boxes


@pytest.fixture(params=SURFACES)
def surface(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def put(box: Box, uid: int, references: str = "", folder: str = "INBOX") -> None:
    """A message with the id `<uid@folder>`."""
    raw = f"From: ana@example.org\r\nSubject: Roof\r\nMessage-ID: <{uid}@{folder}>\r\n"
    raw += f"References: {references}\r\n\r\nWords {uid}.\r\n"
    fixed = {"flags": set(), "raw": raw.encode(), "date": f"03-Mar-2026 09:{uid:02}:00 +0000", "subject": "Roof"}
    script = box.player.script.boxes[folder]
    script["msgs"].append({"uid": uid, **fixed})
    script["uidnext"] = uid + 1


def thread(box: Box, uid: int) -> list[int]:
    return uids(box("get_thread", uid=uid))


def counts(answer: Answer) -> list[int]:
    return [entry["count"] for entry in answer["threads"]]


def test_answers_in_sent_belong_to_it(stage: Mapping[tuple[str, str], Box], surface: str) -> None:
    box = stage["whole", surface]
    put(box, 1)
    put(box, 2, "<1@INBOX>", "Sent")
    put(box, 3, "<1@INBOX> <2@Sent>")
    assert thread(box, 1) == thread(box, 3) == [1, 2, 3]
    assert counts(box("list_threads")) == [3]


def test_a_folder_that_cannot_be_opened_makes_it_incomplete_and_is_named(
    stage: Mapping[tuple[str, str], Box], surface: str
) -> None:
    box = stage["no-sent", surface]
    put(box, 1)
    for answer in (box("get_thread", uid=1), box("list_threads")):
        assert answer["complete"] is False
        assert "the folder Sent could not be read: " in answer["incomplete_reason"]
        assert len(answer.get("messages", answer.get("threads"))) == 1
    refused = box("get_thread", uid=1, folder="Sent")
    assert refused["error"]["code"] == box("get_message", uid=1, folder="Sent")["error"]["code"]


def test_older_mail_that_the_server_does_not_search_makes_it_incomplete(
    stage: Mapping[tuple[str, str], Box], surface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "NEWEST", 2)
    box = stage["no-search", surface]
    for uid in range(1, 5):
        put(box, uid)
    put(box, 5, "<1@INBOX>")
    answer = box("get_thread", uid=5)
    assert (uids(answer), answer["complete"]) == ([5], False)
    assert answer["incomplete_reason"] == "the server cannot search for older messages"
    assert box("get_thread", uid=4)["complete"] is True


def test_numbers_that_change_from_session_to_session_are_not_remembered(
    stage: Mapping[tuple[str, str], Box], surface: str
) -> None:
    box = stage["not-sticky", surface]
    put(box, 1)
    put(box, 2, "<1@INBOX>")
    assert thread(box, 1) == [1, 2]
    first, second = box.messages
    first["raw"], second["raw"] = second["raw"], first["raw"].replace(b"1@INBOX", b"9@INBOX")
    assert thread(box, 2) == [2]


def test_what_is_gone_does_not_come_back_and_ties_nothing(stage: Mapping[tuple[str, str], Box], surface: str) -> None:
    box = stage["changing", surface]
    put(box, 1)
    put(box, 2, "<1@INBOX>")
    put(box, 3, "<2@INBOX>")
    assert thread(box, 3) == [1, 2, 3]
    with box.telling(b"* 2 EXPUNGE", times=1):
        box.remove(2)
        assert thread(box, 3) == [3]
    assert box("get_thread", uid=2)["error"]["code"] == "not_found"
    assert counts(box("list_threads")) == [1, 1]
    with box.telling(b"* 3 EXISTS", times=1):
        put(box, 4, "<3@INBOX>")
        assert thread(box, 3) == [3, 4]


def test_a_conversation_that_is_known_costs_one_noop_and_its_flags_are_those_of_now(
    stage: Mapping[tuple[str, str], Box], surface: str
) -> None:
    box = stage["known", surface]
    put(box, 1)
    put(box, 2, "<1@INBOX>")
    box("get_thread", uid=1)
    box("get_thread", uid=1)
    asked = len(box.player.commands)
    assert seen(box("get_thread", uid=1)) == {1: False, 2: False}
    # Where no folder is known to be Sent, one is looked for before.
    assert box.player.commands[asked:] == ["NOOP", 'LIST "" "*"', "NOOP"]
    with box.telling(b"* 2 FETCH (UID 2 FLAGS (\\Seen))", times=1):
        box.mark_seen(2)
        assert seen(box("get_thread", uid=1)) == {1: False, 2: True}


def test_a_folder_numbered_anew_is_read_anew(stage: Mapping[tuple[str, str], Box], surface: str) -> None:
    box = stage["renumbered", surface]
    put(box, 1)
    put(box, 2, "<1@INBOX>")
    first = box("list_threads", limit=1)
    old = first["threads"][0]["last_message"]["uid"]
    assert thread(box, 1) == [1, 2]
    with box.telling(b"* OK [UIDVALIDITY 99] numbered anew", times=1):
        box.number_anew(99)
        told = box("get_thread", uid=old)
    assert told["error"]["details"]["reason"] == "uidvalidity_changed"
    assert [message["uid"] for message in box("get_thread", uid=1)["messages"]] == ["1-99", "2-99"]
