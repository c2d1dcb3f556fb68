"""What a bound token did itself, and who wrote in mail that it sees, counts in its policy; hidden mail does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.base.clock import HandClock
from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain

POLICY = """
  desk:
    limits: {{requests_per_minute: 6000, burst: 500, concurrent: 32}}
    folders: {{default: hidden, rules: [{{match: [INBOX, "special:trash"], access: writable}}]}}
    actions: {{trash: true, erase: true, erase_after: 24h}}
    outbound: {{mode: send, recipients: {{allow: ["*@corp.example"]}}, reply_only: "off"}}
    messages:
      default: {default}
      rules:
        - {{id: clinic, match: {{from: ["*@clinic.example"]}}, action: hide}}
        - {rule}
"""
KNOWN = "{id: known, match: {not: {known_correspondent: {sources: [visible, own]}}}, action: withhold}"
HELPER = {"helper": "user: ana, profile: desk, mailboxes: [work], scopes: [read, organize, delete, send]"}


def policy(rule: str, default: str = "allow") -> Wanted:
    return Wanted(POLICY.format(rule=rule, default=default), HELPER)


def withheld(desk: Post) -> dict[str, bool]:
    rows = desk.ask("list_messages", folder="INBOX")["messages"]
    return {row["from"]: row.get("withheld", False) for row in rows}


def test_who_wrote_twice_is_known_and_who_wrote_once_is_not(dovecot: Dovecot, tmp_path: Path) -> None:
    with post(tmp_path, dovecot, policy(KNOWN)) as desk:
        bob, eve = "Bob <bob@x.example>", "Eve <eve@x.example>"
        dovecot.deliver(desk.user, [plain("One", sender=bob), plain("Two", sender=bob), plain("Three", sender=eve)])
        assert withheld(desk) == {"eve@x.example": True, "Bob <bob@x.example>": False}


def test_whom_the_token_wrote_to_is_known(dovecot: Dovecot, tmp_path: Path) -> None:
    with post(tmp_path, dovecot, policy(KNOWN)) as desk:
        dovecot.deliver(desk.user, [plain("One", sender="Cy <cy@corp.example>")])
        assert withheld(desk) == {"cy@corp.example": True}
        letter = {"from": "ana@corp.example", "to": ["cy@corp.example"], "subject": "Hello", "body": "Hello."}
        assert desk.ask("send_message", **letter)["outcome"] == "accepted"
        assert withheld(desk) == {"Cy <cy@corp.example>": False}


def test_an_answer_to_what_the_token_sent_is_told_from_others(dovecot: Dovecot, tmp_path: Path) -> None:
    rule = "{id: own, match: {in_reply_to_own: true}, action: allow}"
    with post(tmp_path, dovecot, policy(rule, default="hide")) as desk:
        letter = {"from": "ana@corp.example", "to": ["cy@corp.example"], "subject": "Plan", "body": "Yes?"}
        sent = desk.ask("send_message", **letter)["message_id"]
        head = "From: Cy <cy@corp.example>\r\nSubject: {}\r\nIn-Reply-To: {}\r\n\r\nYes.\r\n"
        mail = [head.format("Answer", sent), head.format("Feigned", "<made-up@corp.example>")]
        dovecot.deliver(desk.user, [one.encode() for one in mail])
        assert desk.subjects() == ["Answer"]


@pytest.mark.parametrize(("hours", "erased"), [(23, False), (25, True)])
def test_only_what_the_token_put_into_trash_is_erased_and_not_before_its_time(
    dovecot: Dovecot, tmp_path: Path, hours: int, erased: bool
) -> None:
    clock = HandClock()
    with post(tmp_path, dovecot, policy("{id: none, match: {subject: zzz}, action: hide}"), clock) as desk:
        dovecot.deliver(desk.user, [plain("Mine")])
        dovecot.deliver(desk.user, [plain("The owner's")], "Trash")
        uid = desk.ask("list_messages", "helper")["messages"][0]["uid"]
        desk.ask("delete_message", "helper", uid=uid)
        rows = {row["subject"]: row["uid"] for row in desk.ask("list_messages", "helper", folder="Trash")["messages"]}
        assert set(rows) == {"Mine", "The owner's"}
        clock.wind(hours * 3600)
        told = {
            subject: desk.ask("delete_message", "helper", folder="Trash", uid=one, permanent=True)
            for subject, one in rows.items()
        }
        assert told["The owner's"]["error"]["code"] == "not_found"
        assert (told["Mine"].get("done") == 1) is erased
