"""A day's order in a mailbox on a real server: read, mark, label, move, move back, delete, erase; on both surfaces."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.mail import plain

Answer = dict[str, Any]
_USERS = itertools.count()
_TOKENS = {
    "all": ("read, organize, delete", "work"),
    "triage": ("read, organize", "work"),
    "read": ("read", "work"),
}
_PATHS = {"mark_seen": "seen", "set_labels": "labels", "move_messages": "move", "delete_message": "delete"}


@dataclass(frozen=True)
class Desk:
    """One user's mailbox behind a gateway, asked on one surface; answers are told alike, as results by uid."""

    gateway: Gateway
    surface: str
    user: str

    def change(self, tool: str, token: str = "all", **arguments: Any) -> dict[str, Answer]:
        """What became of each uid: `error` its code or None, `new_uid`."""
        answer = self.ask(tool, token, **arguments)
        assert "error" not in answer, answer
        if self.surface == "http":
            return {
                one["uid"]: {"error": one["error"] and one["error"]["code"], "new_uid": one["new_uid"]}
                for one in answer["results"]
            }
        failed = {uid: one["error"]["code"] for one in answer["failed"] for uid in one["uids"]}
        asked = list(dict.fromkeys(arguments.get("uids", [arguments.get("uid")])))
        assert answer["done"] == len(asked) - len(failed)
        new = answer.get("new_uids", {})
        return {uid: {"error": failed.get(uid), "new_uid": new.get(uid)} for uid in asked}

    def ask(self, tool: str, token: str = "all", **arguments: Any) -> Answer:
        """The whole answer, or the error's body."""
        if self.surface == "mcp":
            return self.gateway.call(tool, arguments, token)
        with self.gateway.http(token) as client:
            if tool == "create_folder":
                return dict(client.post("/mailboxes/work/folders", json=arguments).json())
            if tool == "delete_message" and "uid" in arguments:
                path = f"/mailboxes/work/messages/{arguments.pop('uid')}"
                return dict(client.delete(path, params=arguments).json())
            if "uid" in arguments:
                path = f"/mailboxes/work/messages/{arguments.pop('uid')}/{_PATHS[tool]}"
            else:
                path = f"/mailboxes/work/messages/{_PATHS[tool]}"
            return dict(client.post(path, json=arguments).json())

    def rows(self, folder: str = "INBOX") -> dict[str, Answer]:
        """Rows by subject."""
        listed = self.gateway.get("/mailboxes/work/messages", folder=folder, limit=500).json()
        return {row["subject"]: row for row in listed["messages"]}

    def uids(self, folder: str = "INBOX") -> dict[str, str]:
        return {subject: row["uid"] for subject, row in self.rows(folder).items()}


@pytest.fixture(params=["http", "mcp"])
def desk(dovecot: Dovecot, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    user = f"organizing-{next(_USERS)}"
    dovecot.deliver(user, [plain(f"Message {number}") for number in range(1, 6)])
    dovecot.create(user, "Archive")
    mailbox = (
        f"  - name: work\n    imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: {user}, "
        f"password: {PASSWORD}}}"
    )
    with running_gateway(tmp_path, mailbox, _TOKENS) as gateway:
        yield Desk(gateway, request.param, user)


def ok(new_uid: str | None = None) -> Answer:
    return {"error": None, "new_uid": new_uid}


def failed(code: str) -> Answer:
    return {"error": code, "new_uid": None}


def test_a_day_of_triage(desk: Desk) -> None:
    first = desk.uids()["Message 1"]
    assert desk.change("mark_seen", uid=first) == {first: ok()}
    assert desk.rows()["Message 1"]["seen"] is True
    assert desk.change("set_labels", uids=[first], add=["todo", "$Later"]) == {first: ok()}
    assert desk.rows()["Message 1"]["labels"] == ["$Later", "todo"]
    assert desk.change("set_labels", uids=[first], remove=["todo"], add=["done"]) == {first: ok()}
    assert desk.rows()["Message 1"]["labels"] == ["$Later", "done"]
    (moved,) = desk.change("move_messages", uids=[first], destination="Archive").values()
    assert "Message 1" not in desk.rows()
    there = desk.rows("Archive")["Message 1"]
    assert moved == ok(there["uid"])
    assert (there["seen"], there["labels"]) == (True, ["$Later", "done"])
    (back,) = desk.change("move_messages", folder="Archive", uids=[there["uid"]], destination="INBOX").values()
    assert back == ok(desk.uids()["Message 1"])
    assert desk.change("mark_seen", uid=back["new_uid"], seen=False) == {back["new_uid"]: ok()}
    assert desk.rows()["Message 1"]["seen"] is False
    (deleted,) = desk.change("delete_message", uid=back["new_uid"]).values()
    assert deleted == ok(desk.uids("Trash")["Message 1"])
    (erased,) = desk.change("delete_message", folder="Trash", uid=deleted["new_uid"], permanent=True).values()
    assert erased == ok()
    assert desk.rows("Trash") == {}
    assert sorted(desk.rows()) == [f"Message {number}" for number in range(2, 6)]


def test_each_uid_of_a_list_has_its_fate_and_counts_once(desk: Desk) -> None:
    uids = desk.uids()
    one, two = uids["Message 1"], uids["Message 2"]
    gone, stale = f"99-{one.partition('-')[2]}", "1-7"
    fates = {two: ok(), gone: failed("not_found"), stale: failed("not_found"), one: ok()}
    assert desk.change("mark_seen", uids=[two, gone, stale, one, two]) == fates
    assert desk.change("set_labels", uids=[two, gone, stale, one, one], add=["x"]) == fates
    moved = desk.change("move_messages", uids=[two, gone, stale, one, two, one], destination="Archive")
    there = desk.uids("Archive")
    assert moved == fates | {two: ok(there["Message 2"]), one: ok(there["Message 1"])}
    assert sorted(desk.rows()) == ["Message 3", "Message 4", "Message 5"]
    assert sorted(desk.rows("Archive")) == ["Message 1", "Message 2"]


def test_a_stale_uid_says_so_and_nothing_changes(desk: Desk) -> None:
    for tool, more in (
        ("mark_seen", {}),
        ("delete_message", {}),
    ):
        error = desk.ask(tool, uid="1-7", **more)["error"]
        assert (error["code"], error["details"]["reason"]) == ("not_found", "uidvalidity_changed")
    assert all(not row["flags"] for row in desk.rows().values())
    assert len(desk.rows()) == 5


def test_a_bare_number_marks_and_labels_but_never_moves_or_deletes(desk: Desk) -> None:
    assert desk.change("mark_seen", uids=["1"]) == {"1": ok()}
    assert desk.change("set_labels", uids=["1"], add=["x"]) == {"1": ok()}
    for tool, more in (("move_messages", {"destination": "Archive"}), ("delete_message", {})):
        error = desk.ask(tool, uids=["1"], **more)["error"]
        assert (error["code"], error["details"]["argument"]) == ("validation_error", "uids[0]")
        assert "57-1712" in error["message"]
    assert len(desk.rows()) == 5


def test_where_a_move_may_go(desk: Desk) -> None:
    uid = desk.uids()["Message 1"]
    error = desk.ask("move_messages", uids=[uid], destination="Archiv")["error"]
    assert (error["code"], error["details"]["argument"]) == ("not_found", "destination")
    assert "nearest: Archive" in error["message"]
    for same in ("INBOX", "inbox"):
        error = desk.ask("move_messages", uids=[uid], destination=same)["error"]
        assert (error["code"], error["details"]["argument"]) == ("validation_error", "destination")
    assert len(desk.rows()) == 5


def test_deleting_goes_by_way_of_trash(desk: Desk) -> None:
    uid = desk.uids()["Message 1"]
    error = desk.ask("delete_message", uid=uid, permanent=True)["error"]
    assert (error["code"], error["details"]["reason"]) == ("conflict", "not_in_trash")
    assert "Message 1" in desk.rows()
    (deleted,) = desk.change("delete_message", uids=[uid]).values()
    error = desk.ask("delete_message", folder="Trash", uid=deleted["new_uid"])["error"]
    assert (error["code"], error["details"]["reason"]) == ("conflict", "in_trash")
    assert "permanent: true" in error["message"]
    assert "Message 1" in desk.rows("Trash")


def test_erasing_takes_no_message_with_it_that_others_marked(desk: Desk, dovecot: Dovecot) -> None:
    deleted = desk.change("delete_message", uids=[desk.uids()["Message 1"], desk.uids()["Message 2"]])
    with dovecot.login(desk.user) as other:
        other.select("Trash")
        other.uid("STORE", "1:*", "+FLAGS", "(\\Deleted)")
    one = desk.uids("Trash")["Message 1"]
    assert one in {fate["new_uid"] for fate in deleted.values()}
    assert desk.change("delete_message", folder="Trash", uids=[one], permanent=True) == {one: ok()}
    assert list(desk.rows("Trash")) == ["Message 2"]


def test_erasing_needs_its_scope_and_reading_changes_nothing(desk: Desk) -> None:
    uid = desk.uids()["Message 1"]
    error = desk.ask("delete_message", "triage", uid=uid, permanent=True)["error"]
    assert (error["code"], error["details"]["required_scope"]) == ("permission_denied", "delete")
    error = desk.ask("mark_seen", "read", uid=uid)["error"]
    assert (error["code"], error["details"]["required_scope"]) == ("permission_denied", "organize")
    assert len(desk.rows()) == 5


@pytest.mark.parametrize(
    ("add", "argument"),
    [
        (["\\Seen) X ("], "add[0]"), (["ok", "a b"], "add[1]"), (["x\r\nA9 LOGOUT"], "add[0]"), (['ab"cd'], "add[0]"),
        (["\\Deleted"], "add[0]"), (["k]"], "add[0]"), (["{3}"], "add[0]"), (["*"], "add[0]"), (["ä"], "add[0]"),
        (["x" * 201], "add[0]"), ([""], "add[0]"), (["\\*"], "add[0]"), (["%"], "add[0]"), ([" x"], "add[0]"),
    ],
)  # fmt: skip
def test_what_is_no_label_changes_nothing(desk: Desk, add: list[str], argument: str) -> None:
    error = desk.ask("set_labels", uids=[desk.uids()["Message 1"]], add=add)["error"]
    assert (error["code"], error["details"]["argument"]) == ("validation_error", argument)
    assert desk.rows()["Message 1"]["labels"] == []


def test_labels_must_say_what_to_do(desk: Desk) -> None:
    uid = desk.uids()["Message 1"]
    assert desk.ask("set_labels", uids=[uid])["error"]["code"] == "validation_error"
    both = desk.ask("set_labels", uids=[uid], add=["x"], remove=["X"])["error"]
    assert (both["code"], both["details"]["argument"]) == ("validation_error", "remove")


def test_what_lists_show_of_labels_can_be_taken_again(desk: Desk, dovecot: Dovecot) -> None:
    uid = desk.uids()["Message 1"]
    with dovecot.login(desk.user) as other:
        other.select("INBOX")
        other.uid("STORE", "1", "+FLAGS", "($Forwarded Junk a+b c,d e.f/g-h_i)")
    labels = desk.rows()["Message 1"]["labels"]
    assert len(labels) == 5
    assert desk.change("set_labels", uids=[uid], remove=labels) == {uid: ok()}
    assert desk.rows()["Message 1"]["labels"] == []


@pytest.mark.parametrize(
    "name", ["Projects", "Projects/2026/Q1", "Entwürfe & R&D", "日本語", 'quo"te', "a\\b", "INBOX/sub"]
)
def test_a_folder_is_made_once_and_can_be_used(desk: Desk, name: str) -> None:
    assert desk.ask("create_folder", name=name) == {"created": True, "name": name}
    assert desk.ask("create_folder", name=name) == {"created": False, "name": name}
    folders = {one["name"]: one for one in desk.gateway.get("/mailboxes/work/folders").json()["folders"]}
    assert folders[name]["selectable"] is True
    (moved,) = desk.change("move_messages", uids=[desk.uids()["Message 1"]], destination=name).values()
    assert moved == ok(desk.uids(name)["Message 1"])


def test_a_new_folder_is_subscribed(desk: Desk, dovecot: Dovecot) -> None:
    desk.ask("create_folder", name="Projects")
    with dovecot.login(desk.user) as other:
        _, subscribed = other.lsub()
    assert any(line and b"Projects" in bytes(line) for line in subscribed)


@pytest.mark.parametrize("name", ["INBOX", "inbox", "Trash", "Archive"])
def test_a_folder_that_is_there_is_no_failure(desk: Desk, name: str) -> None:
    assert desk.ask("create_folder", name=name)["created"] is False


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "a\r\nA1 NOOP", "a\x00", "a*", "50%", "a//b", "/a", "a/", "a/ b", " a", "..", "../x", "a/./b",
        "#shared/x", "~root", "x" * 251, "\u202ea",
    ],
)  # fmt: skip
def test_nonsense_is_no_folder(desk: Desk, name: str) -> None:
    error = desk.ask("create_folder", name=name)["error"]
    assert (error["code"], error["details"]["argument"]) == ("validation_error", "name")
