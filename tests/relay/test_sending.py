"""What a bound token sends is what its policy lets out, whole or not at all; the rest ends as a draft, or is denied."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain

POLICY = """
  desk:
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
    folders:
      default: hidden
      rules:
        - {match: INBOX, access: writable}
        - {match: "special:drafts", access: readable}
    messages:
      rules:
        - {id: clinic, match: {from: ["*@clinic.example"]}, action: hide}
    outbound:
      mode: send
      require_draft: false
      recipients: {allow: ["*@corp.example", "*@partner.example", "*@clinic.example"]}
      reply_only: correspondent
      rate: {messages: {per_minute: 100, per_hour: 100, per_day: 100}}
      after_untrusted_read: {window: 24h, action: hold, except_to: [thread, internal]}
"""
TOKENS = {"helper": "user: ana, profile: desk, mailboxes: [work], scopes: [read, draft, send]"}


@pytest.fixture
def desk(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    with post(tmp_path_factory.mktemp("sending"), dovecot, Wanted(POLICY, TOKENS)) as standing:
        mail = [
            plain("Offer", "Shall we?", sender="Bob <bob@partner.example>"),
            plain("Results", sender="Dr. Moss <moss@clinic.example>"),
        ]
        dovecot.deliver(standing.user, mail)
        yield standing


def message(*to: str, **more: Any) -> dict[str, Any]:
    return {"from": "ana@corp.example", "to": list(to), "subject": "Plan", "body": "Here it is."} | more


def test_a_colleague_is_written_to_and_a_repeat_sends_nothing(desk: Post) -> None:
    sent = desk.ask("send_message", **message("cy@corp.example"))
    assert (sent["outcome"], sent["to"], sent["repeated"]) == ("accepted", ["cy@corp.example"], False)
    again = desk.ask("send_message", **message("cy@corp.example"))
    assert (again["repeated"], again["message_id"]) == (True, sent["message_id"])
    assert [letter.rcpt_tos for letter in desk.letterbox.envelopes] == [["cy@corp.example"]]


def test_who_never_wrote_is_refused_in_the_words_for_who_wrote_in_hidden_mail(desk: Post) -> None:
    never, hidden = (desk.ask("send_message", **message(f"{one}.example")) for one in ("eve@clinic", "moss@clinic"))
    assert never["error"]["code"] == hidden["error"]["code"] == "policy_denied"
    assert str(never).replace("eve@", "moss@") == str(hidden)
    assert desk.letterbox.envelopes == []


def test_one_refused_recipient_refuses_the_message(desk: Post) -> None:
    refused = desk.ask("send_message", **message("cy@corp.example", "x@evil.example"))
    assert refused["error"]["code"] == "policy_denied"
    assert refused["error"]["details"]["outcome"] == "deny"
    assert "x@evil.example" in refused["error"]["message"]
    assert desk.letterbox.envelopes == []


def test_the_sender_is_the_mailbox_alone(desk: Post) -> None:
    for author in ("bo@corp.example", "ana@corp.example, bo@corp.example", "ana@corp.example\r\nBcc: x@evil.example"):
        refused = desk.ask("send_message", **message("cy@corp.example", **{"from": author}))
        assert refused["error"]["code"] == "invalid_identity"
    assert desk.letterbox.envelopes == []


def test_after_reading_a_stranger_s_mail_nothing_goes_to_third_parties(desk: Post) -> None:
    assert desk.ask("send_message", **message("bob@partner.example"))["outcome"] == "accepted"
    uid = next(row["uid"] for row in desk.ask("list_messages", folder="INBOX")["messages"])
    desk.ask("read_message", folder="INBOX", uid=uid)
    held = desk.ask("send_message", **message("bob@partner.example", subject="Later"))
    assert (held["error"]["code"], held["error"]["details"]["outcome"]) == ("policy_denied", "hold")
    assert desk.ask("send_message", **message("cy@corp.example", subject="Inside"))["outcome"] == "accepted"
    assert len(desk.letterbox.envelopes) == 2


def test_in_the_mailbox_toolset_what_is_held_lies_in_drafts_and_an_answer_goes_out(desk: Post) -> None:
    uid = next(row["uid"] for row in desk.ask("list_messages", "helper")["messages"])
    desk.ask("get_message", "helper", uid=uid)
    told = desk.ask("send", "helper", to=["bob@partner.example"], subject="Terms", body_text="As said.")
    assert told["outcome"] == "drafted"
    assert told["reasons"]
    drafts = desk.ask("list_drafts", "helper")["drafts"]
    assert [(one["uid"], one["subject"]) for one in drafts] == [(told["uid"], "Terms")]
    assert desk.letterbox.envelopes == []
    answer = desk.ask("reply", "helper", uid=uid, body_text="Yes.")
    assert (answer["outcome"], answer["to"]) == ("accepted", ["Bob <bob@partner.example>"])
    (letter,) = desk.letterbox.envelopes
    assert letter.rcpt_tos == ["bob@partner.example"]
    parent = f"<{abs(hash('Offer'))}@mail.example.org>"
    assert isinstance(letter.content, bytes)
    assert f"\r\nIn-Reply-To: {parent}\r\nReferences: {parent}\r\n".encode() in letter.content


def test_drafts_of_others_are_none_of_a_bound_token_s(desk: Post) -> None:
    made = desk.ask("create_draft", "helper", to=["cy@corp.example"], subject="Mine", body_text="x")
    with desk.dovecot.login(desk.user) as client:
        client.append("Drafts", "\\Draft", None, plain("Owner's"))
    drafts = desk.ask("list_drafts", "helper")["drafts"]
    assert [one["subject"] for one in drafts] == ["Mine"]
    assert drafts[0]["uid"] == made["uid"]
    rows = desk.ask("list_messages", "helper", folder="Drafts")["messages"]
    theirs = next(row["uid"] for row in rows if row["subject"] == "Owner's")
    assert desk.ask("update_draft", "helper", uid=theirs, subject="Changed")["error"]["code"] == "not_found"
    assert desk.ask("send_draft", "helper", uid=theirs)["error"]["code"] == "not_found"
    assert desk.ask("delete_draft", "helper", uid=theirs)["error"]["code"] == "not_found"
    changed = desk.ask("update_draft", "helper", uid=made["uid"], subject="Mine too")
    assert desk.ask("send_draft", "helper", uid=changed["uid"])["outcome"] == "accepted"
    assert len(desk.letterbox.envelopes) == 1


def test_codes_and_keys_do_not_leave(desk: Post) -> None:
    for body in ("Your verification code is 482913", f"token {desk.gateway.tokens['relay']}"):
        refused = desk.ask("send_message", **message("cy@corp.example", body=body))
        assert refused["error"]["code"] == "policy_denied"
    assert desk.letterbox.envelopes == []


def test_searching_in_the_text_of_strangers_mail_is_reading_it(desk: Post) -> None:
    desk.ask("search_messages", folder="INBOX", query="subject Offer")
    assert desk.ask("send_message", **message("bob@partner.example", subject="A"))["outcome"] == "accepted"
    desk.ask("search_messages", folder="INBOX", query="body zebra")
    refused = desk.ask("send_message", **message("bob@partner.example", subject="B"))
    assert refused["error"]["code"] == "policy_denied"


HELD = """
  desk:
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
    folders: {rules: [{match: INBOX, access: readable}]}
    outbound:
      mode: send
      require_draft: false
      reply_only: off
      recipients: {allow: [anyone]}
      rate: {messages: {per_minute: 2, per_hour: 100, per_day: 100}}
      hold_when: [{new_recipient: true}]
"""


def test_what_is_held_for_a_person_counts_as_let_through_and_as_said_to_nobody(
    dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with post(tmp_path_factory.mktemp("held"), dovecot, Wanted(HELD, TOKENS)) as standing:
        say = {"mailbox": "work", "to": ["eve@far.example"], "subject": "Plan"}
        first, second, third = (standing.ask("send", "helper", **say, body_text=word) for word in ("a", "b", "c"))
        assert (first["outcome"], second["outcome"]) == ("drafted", "drafted")
        assert (third["error"]["code"], third["error"]["details"]["outcome"]) == ("policy_denied", "deny")
        assert third["error"]["message"].startswith("At most 2 messages a minute")
        assert standing.letterbox.envelopes == []
        assert len(standing.ask("list_drafts", "helper", mailbox="work")["drafts"]) == 2


FILES = """
  desk:
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
    folders: {rules: [{match: INBOX, access: readable}]}
    content: {detectors: {otp: "off"}}
    attachments: {mode: download, unscanned: allow}
    outbound:
      mode: send
      require_draft: false
      reply_only: off
      recipients: {allow: [anyone]}
      after_untrusted_read: {window: 1h, action: send}
      attachments: {mode: allow}
      content: {patterns: [{name: zebra, re2: 'project\\s+zebra', action: deny}]}
"""
CODE = "Your verification code is 482913"


@pytest.fixture
def files(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    with post(tmp_path_factory.mktemp("files"), dovecot, Wanted(FILES, TOKENS)) as standing:
        yield standing


def with_file(desk: Post, name: str, kind: str, octets: bytes) -> dict[str, Any]:
    file = {"filename": name, "content_type": kind, "data_base64": base64.b64encode(octets).decode()}
    say = {"to": ["cy@corp.example"], "subject": f"File {name}", "body_text": "Here.", "attachments": [file]}
    return desk.ask("send", "helper", mailbox="work", **say)


def test_what_may_not_be_said_may_not_be_said_in_a_file(files: Post) -> None:
    own = files.gateway.tokens["relay"]
    for name, kind, octets in (
        ("a.txt", "text/plain", CODE.encode()),
        ("b.csv", "text/csv", f"what,why\r\n{CODE},x\r\n".encode()),
        (
            "c.ics",
            "text/calendar",
            b"BEGIN:VCALENDAR\r\nSUMMARY:Your verification code is 48\r\n 2913\r\nEND:VCALENDAR",
        ),
        ("d.html", "text/html", b"<html><p>Your verification co<b>de is 48</b>2913"),
        ("e.eml", "message/rfc822", f"From: a@b.example\r\nSubject: {CODE}\r\n\r\nx".encode()),
        ("f.txt", "text/plain; charset=utf-16", CODE.encode("utf-16")),
        ("g.txt", "text/plain", b"About project zebra."),
        ("h.txt", "text/plain", base64.b64encode(own.encode())),
        ("i.txt", "text/plain", b"x" * (1 << 20) + b"y"),
    ):
        refused = with_file(files, name, kind, octets)
        assert (name, refused.get("error", {}).get("code")) == (name, "policy_denied")
    assert files.letterbox.envelopes == []
    assert with_file(files, "z.txt", "text/plain", b"The minutes of Monday.")["outcome"] == "accepted"


@pytest.mark.parametrize(("said", "goes"), [(CODE, False), ("The minutes of Monday.", True)])
def test_a_file_that_is_passed_on_is_read_too(files: Post, said: str, goes: bool) -> None:
    mail = (
        "From: Bob <bob@partner.example>\r\nTo: ana@corp.example\r\nSubject: File\r\nMIME-Version: 1.0\r\n"
        "Message-ID: <f@partner.example>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
        "--b\r\nContent-Type: text/plain\r\n\r\nSee file.\r\n--b\r\nContent-Type: text/plain\r\n"
        f'Content-Disposition: attachment; filename="a.txt"\r\n\r\n{said}\r\n--b--\r\n'
    )
    files.dovecot.deliver(files.user, [mail.encode()])
    uid = files.ask("list_messages", "helper", mailbox="work")["messages"][0]["uid"]
    (file,) = files.ask("get_message", "helper", mailbox="work", uid=uid)["attachments"]
    given = [{"from_message": {"uid": uid, "attachment_id": file["id"]}}]
    say = {"to": ["cy@corp.example"], "subject": "On", "body_text": "Here.", "attachments": given}
    told = files.ask("send", "helper", mailbox="work", **say)
    assert told.get("outcome", told.get("error", {}).get("code")) == ("accepted" if goes else "policy_denied")
    assert len(files.letterbox.envelopes) == goes


WITHHELD = """
  desk:
    folders: {rules: [{match: INBOX, access: readable}, {match: "special:drafts", access: readable}]}
    messages: {rules: [{id: board, match: {from: "*@partner.example"}, action: withhold}]}
    content: {headers: [from, to, subject, date, message-id, in-reply-to, references]}
"""


def test_an_answer_to_what_is_withheld_does_not_tell_its_id(
    dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with post(tmp_path_factory.mktemp("withheld"), dovecot, Wanted(WITHHELD, TOKENS)) as standing:
        dovecot.deliver(standing.user, [plain("Open"), plain("Offer", sender="Bob <bob@partner.example>")])
        ids = []
        for row in standing.ask("list_messages", "helper", mailbox="work")["messages"]:
            drafted = standing.ask("reply", "helper", mailbox="work", uid=row["uid"], body_text="Yes.", draft=True)
            (draft,) = [one for one in standing.ask("list_drafts", "helper", fields="full")["drafts"]
                        if one["uid"] == drafted["uid"]]  # fmt: skip
            ids.append((row["subject"], draft["in_reply_to"]))
        assert dict(ids)["Open"].endswith("@mail.example.org>")
        assert [told for subject, told in ids if subject != "Open"] == [None]
