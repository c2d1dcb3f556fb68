"""The unified inbox over HTTP and MCP, in front of servers that work, servers that do not, and mail that comes."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cases.case import CORPUS
from tests.cases.minting import since_cursor
from tests.journeys.test_hostile_servers import ordinary, peer_thread
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.mail import plain
from tests.servers.peer import Peer
from tests.servers.player import ImapPlayer
from tests.servers.ports import refusing_port

INBOX_SECONDS = 1.5
LIMITS = f"limits: {{inbox_seconds: {INBOX_SECONDS}}}"


def mailbox(name: str, port: int, user: str | None = None) -> str:
    login = f"username: {user or name}, password: {PASSWORD}"
    return f"  - name: {name}\n    imap: {{host: 127.0.0.1, port: {port}, tls: none, {login}}}\n"


@contextmanager
def before(dovecot: Dovecot, folder: Path, *names: str) -> Iterator[Gateway]:
    """A gateway before mailboxes of the test's own."""
    boxes = "".join(mailbox(name, dovecot.port, f"{folder.name}-{name}") for name in names)
    with running_gateway(folder, boxes, {"all": ("read", ", ".join(names))}) as gateway:
        yield gateway


def inbox(gateway: Gateway, **query: Any) -> dict[str, Any]:
    response = gateway.get("/inbox", **query)
    assert response.status_code == 200, response.text
    return dict(response.json())


def subjects(page: dict[str, Any]) -> list[str]:
    return [row["subject"] for row in page["messages"]]


def test_mailboxes_that_are_refused_or_hang_delay_no_other_and_are_named(dovecot: Dovecot, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        boxes = (
            mailbox("hanging", silent.getsockname()[1])
            + mailbox("fine", dovecot.port, "inbox-fine")
            + mailbox("refused", refusing_port())
            + mailbox("well", dovecot.port, "inbox-well")
        )
        dovecot.deliver("inbox-fine", [plain("Fine")], dates=["03-Mar-2026 09:00:00 +0000"])
        dovecot.deliver("inbox-well", [plain("Well")], dates=["03-Mar-2026 08:00:00 +0000"])
        names = ["hanging", "fine", "refused", "well"]
        with running_gateway(tmp_path, boxes, {"all": ("read", ", ".join(names))}, LIMITS) as gateway:
            for _ in range(2):
                started = time.monotonic()
                page = inbox(gateway)
                assert INBOX_SECONDS <= time.monotonic() - started < INBOX_SECONDS + 1.5
                assert subjects(page) == ["Fine", "Well"]
                assert [(fault["mailbox"], fault["code"]) for fault in page["errors"]] == [
                    ("hanging", "imap_error"),
                    ("refused", "imap_error"),
                ]
                assert "did not answer in the time" in page["errors"][0]["message"]
                assert (page["complete"], page["more"], page["reset"]) == (False, False, [])
                assert "cursor" not in page


def test_a_call_given_up_costs_the_mailbox_neither_its_place_in_the_pool_nor_its_next_call(tmp_path: Path) -> None:
    async def silent(peer: Peer) -> None:
        await peer.hangs()

    async def silent_later(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        await peer.hangs()

    with peer_thread(silent, silent_later, ordinary) as peer:
        box = mailbox("work", peer.port).replace("imap: {", "imap: {connections: 1, ")
        with running_gateway(tmp_path, box, {"all": ("read", "work")}, "limits: {inbox_seconds: 0.3}") as gateway:
            assert [len(inbox(gateway)["errors"]) for _ in range(4)] == [1, 1, 0, 0]
            assert subjects(inbox(gateway)) == ["Ordinary"]
            assert peer.connections == 3


def test_all_mailboxes_are_one_list_in_which_each_row_tells_its_own(dovecot: Dovecot, tmp_path: Path) -> None:
    with before(dovecot, tmp_path, "one", "two") as gateway:
        dates = [f"0{day}-Mar-2026 09:00:00 +0000" for day in (1, 3, 2, 4)]
        dovecot.deliver(f"{tmp_path.name}-one", [plain("First"), plain("Third")], dates=dates[:2])
        dovecot.deliver(f"{tmp_path.name}-two", [plain("Second"), plain("Fourth")], dates=dates[2:])
        page = inbox(gateway, limit=3)
        assert subjects(page) == ["Fourth", "Third", "Second"]
        assert [(row["mailbox"], row["folder"]) for row in page["messages"]] == [
            ("two", "INBOX"),
            ("one", "INBOX"),
            ("two", "INBOX"),
        ]
        assert (page["complete"], page["more"], page["errors"]) == (True, True, [])
        brief = gateway.call("inbox", {"limit": 3})
        assert [row["mailbox"] for row in brief["messages"]] == ["two", "one", "two"]
        assert brief["messages"][0]["from"] == "Dana Quill <dana@example.org>"
        assert subjects(inbox(gateway, mailbox="one")) == ["Third", "First"]
        assert subjects(inbox(gateway, mailbox=f"two, one,{tmp_path.name}-one", since="2026-03-03")) == [
            "Fourth",
            "Third",
        ]


def test_new_mail_is_told_once_by_either_surface(dovecot: Dovecot, tmp_path: Path) -> None:
    with before(dovecot, tmp_path, "one", "two") as gateway:
        dovecot.deliver(f"{tmp_path.name}-one", [plain("Old")])
        page = inbox(gateway, checkpoint="true")
        assert subjects(page) == ["Old"]
        first = page["cursor"]
        dates = [f"0{day}-Mar-2026 09:00:00 +0000" for day in (1, 3, 2, 4)]
        dovecot.deliver(f"{tmp_path.name}-one", [plain("First"), plain("Third")], dates=dates[:2])
        dovecot.deliver(f"{tmp_path.name}-two", [plain("Second"), plain("Fourth")], dates=dates[2:])
        page = inbox(gateway, since_cursor=first, limit=3)
        assert (subjects(page), page["more"]) == (["First", "Second", "Third"], True)
        page = gateway.call("inbox", {"since_cursor": page["cursor"], "limit": 3})
        assert (subjects(page), page["more"]) == (["Fourth"], False)
        assert gateway.call("inbox", {"since_cursor": page["cursor"]})["messages"] == []
        assert len(inbox(gateway, since_cursor=first)["messages"]) == 4


def test_rows_that_a_model_has_no_room_for_come_with_the_next_call(
    dovecot: Dovecot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with before(dovecot, tmp_path, "one", "two") as gateway:
        cursor = gateway.call("inbox", {"checkpoint": True})["cursor"]
        for box in ("one", "two"):
            dovecot.deliver(f"{tmp_path.name}-{box}", [plain(f"{box} {number}") for number in range(5)])
        monkeypatch.setattr("postroom.operations.operation.MODEL_BUDGET", 1_100)
        met: list[str] = []
        for _ in range(9):
            page = gateway.call("inbox", {"since_cursor": cursor})
            cursor = page["cursor"]
            met += subjects(page)
            assert page["more"] is (len(met) < 10)
            assert len(page["messages"]) < 5
        assert sorted(met) == sorted(f"{box} {number}" for box in ("one", "two") for number in range(5))


def test_a_call_waits_for_the_next_mail(dovecot: Dovecot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.mailbox.waiting.PAUSE", 0.1)
    with before(dovecot, tmp_path, "one") as gateway:
        cursor = inbox(gateway, checkpoint="true")["cursor"]
        assert inbox(gateway, since_cursor=cursor, wait_seconds=1)["messages"] == []
        later = threading.Timer(0.3, dovecot.deliver, (f"{tmp_path.name}-one", [plain("At last")]))
        later.start()
        started = time.monotonic()
        assert subjects(inbox(gateway, since_cursor=cursor, wait_seconds=30)) == ["At last"]
        assert time.monotonic() - started < 10
        later.join()


@pytest.mark.parametrize(
    ("arguments", "argument", "reason"),
    [
        ({"since_cursor": "s1_AAAA"}, "since_cursor", "is not a cursor of this feed"),
        ({"since_cursor": ""}, "since_cursor", "is not a cursor of this feed"),
        ({"since_cursor": "CURSOR", "folder": "Sent"}, "since_cursor", "is not a cursor of this feed"),
        ({"since_cursor": "CURSOR", "mailbox": "work"}, "since_cursor", "is not a cursor of this feed"),
        ({"since_cursor": "CURSOR", "unseen": True}, "since_cursor", "is not a cursor of this feed"),
        ({"wait_seconds": 5}, "wait_seconds", "waits for mail after since_cursor"),
        ({"since_cursor": "CURSOR", "wait_seconds": 61}, "wait_seconds", "must be at most 60"),
        ({"limit": 501}, "limit", "must be at most 500"),
        ({"subject": ""}, "subject", "must not be empty"),
    ],
)
def test_what_is_wrong_with_the_arguments_is_told(
    gateway: Gateway, arguments: dict[str, Any], argument: str, reason: str
) -> None:
    arguments = {
        name: gateway.call("inbox", {"checkpoint": True})["cursor"] if value == "CURSOR" else value
        for name, value in arguments.items()
    }
    error = gateway.call("inbox", arguments)["error"]
    assert (error["code"], error["details"]["argument"]) == ("validation_error", argument)
    assert error["details"]["reason"].startswith(reason)


def test_a_mailbox_that_can_only_send_is_left_out_of_all_and_a_conflict_by_name(gateway: Gateway) -> None:
    page = gateway.call("inbox", {"limit": 1})
    assert [fault["mailbox"] for fault in page["errors"]] == ["down"]
    assert gateway.call("inbox", {"mailbox": "work,sending"})["error"]["code"] == "conflict"
    for name in ("private", "", "work,private"):
        error = gateway.call("inbox", {"mailbox": name})["error"]
        assert (error["code"], error["details"]["argument"]) == ("not_found", "mailbox")
    assert gateway.call("inbox", {}, "nowhere")["error"]["code"] == "not_found"


def test_a_folder_that_one_mailbox_lacks_is_its_fault_alone(gateway: Gateway) -> None:
    page = inbox(gateway, mailbox="work,strict", folder="R&D")
    assert subjects(page) == ["In a folder with an ampersand"]
    assert [(fault["mailbox"], fault["code"]) for fault in page["errors"]] == [("strict", "not_found")]


@pytest.mark.parametrize(
    ("case", "told", "reset"),
    [("chk-star-returns-last", [], []), ("chk-uidvalidity-changed", ["Renumbered", "Other"], ["box"])],
)
def test_a_feed_that_goes_on_over_an_odd_server(case: str, told: list[str], reset: list[str], tmp_path: Path) -> None:
    state = {"chk-star-returns-last": (17, 7), "chk-uidvalidity-changed": (17, 500)}[case]
    with (
        ImapPlayer(str(CORPUS / case)) as player,
        running_gateway(tmp_path, mailbox("box", player.port), {"all": ("read", "box")}) as gateway,
    ):
        cursor = since_cursor(tmp_path / "state", "all", "box", *state)
        page = inbox(gateway, mailbox="box", since_cursor=cursor)
        assert (subjects(page), page["reset"], page["more"]) == (told, reset, False)
        again = inbox(gateway, mailbox="box", since_cursor=page["cursor"])
        assert (again["messages"], again["reset"]) == ([], [])


def test_over_http_too_nothing_is_lost_and_nothing_repeated(dovecot: Dovecot, tmp_path: Path) -> None:
    chance = random.Random(20260303)
    names = ("one", "two", "three")
    with before(dovecot, tmp_path, *names) as gateway:
        cursor = inbox(gateway, checkpoint="true")["cursor"]
        sent: list[str] = []
        told: list[str] = []
        for step in range(80):
            user = f"{tmp_path.name}-{chance.choice(names)}"
            match chance.randrange(3):
                case 0:
                    some = [f"{user} {step} {number}" for number in range(chance.randint(1, 3))]
                    dovecot.deliver(user, [plain(subject) for subject in some])
                    sent += some
                case 1 if set(told) == set(sent):
                    with dovecot.login(user) as client:
                        client.select("INBOX")
                        client.uid("STORE", "1:*", "+FLAGS", r"(\Deleted)")
                        client.expunge()
                case _:
                    page = inbox(gateway, since_cursor=cursor, limit=chance.randint(1, 4))
                    cursor = page["cursor"]
                    told += subjects(page)
                    assert page["more"] or set(told) == set(sent)
        told += subjects(inbox(gateway, since_cursor=cursor, limit=500))
        assert sorted(told) == sorted(sent)
