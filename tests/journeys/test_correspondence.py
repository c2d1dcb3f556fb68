"""Writing mail on real servers, on both surfaces: drafts, answers, sending, and the copy in Sent."""

from __future__ import annotations

import base64
import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import cast

import pytest

from tests.journeys.correspondence import SURFACES, Writer, writing
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain, with_file

FILE = bytes(range(256)) * 20


@pytest.fixture(params=SURFACES)
def writer(dovecot: Dovecot, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Writer]:
    with writing(dovecot, tmp_path, request.param) as one:
        yield one


def parsed(octets: bytes) -> EmailMessage:
    return cast("EmailMessage", email.message_from_bytes(octets, policy=email.policy.default))


def text_of(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    assert body is not None
    return "\n".join(str(body.get_content()).split("\r\n")).rstrip("\n")


def test_a_message_is_sent_once_with_its_copy_in_sent(writer: Writer) -> None:
    told = writer.ask(
        "send",
        to=["Bo Böhm <bo@example.com>"],
        cc=[{"name": None, "address": "cy@example.com"}],
        bcc="secret@example.com",
        subject="Grüße",
        body_text="Hello €.\n.\n",
        body_html="<p>Hello €.</p>",
        attachments=[{"filename": "a.bin", "data_base64": base64.b64encode(FILE).decode()}],
    )
    message_id = told.pop("message_id")
    assert told == {
        "outcome": "accepted",
        "from": "Ana <ana@example.org>",
        "to": ["Bo Böhm <bo@example.com>"],
        "cc": ["cy@example.com"],
        "accepted": ["bo@example.com", "cy@example.com", "secret@example.com"],
        "refused": [],
        "sent_copy": "filed",
        "repeated": False,
    }
    (letter,) = writer.letters
    assert (letter.mail_from, letter.rcpt_tos) == ("ana@example.org", told["accepted"])
    sent = parsed(cast("bytes", letter.content))
    assert (sent["Message-ID"], sent["Subject"], sent["Bcc"]) == (message_id, "Grüße", None)
    assert text_of(sent) == "Hello €.\n."
    (file,) = sent.iter_attachments()
    assert (file.get_filename(), file.get_content()) == ("a.bin", FILE)
    (copy,) = map(parsed, writer.octets("Sent"))
    assert (copy["Message-ID"], copy["Bcc"]) == (message_id, "secret@example.com")


def test_a_draft_with_a_file_is_changed_three_times_and_sent(writer: Writer) -> None:
    file = {"filename": "a.bin", "data_base64": base64.b64encode(FILE).decode()}
    uid = writer.ask(
        "create_draft",
        to=["bo@example.com"],
        bcc=["boss@example.com"],
        subject="One",
        body_text="1",
        attachments=[file],
    )["uid"]
    for changes in ({"body_text": "2"}, {"subject": "Two"}, {"to": ["cy@example.com"], "cc": ["di@example.com"]}):
        before, uid = uid, writer.ask("update_draft", uid=uid, **changes)["uid"]
        (draft,) = writer.ask("list_drafts")["drafts"]
        assert draft["uid"] == uid != before
    (octets,) = writer.octets("Drafts")
    draft = parsed(octets)
    assert (draft["To"], draft["Cc"], draft["Bcc"]) == ("cy@example.com", "di@example.com", "boss@example.com")
    assert (draft["Subject"], text_of(draft)) == ("Two", "2")
    assert "\\Draft" in writer.flags("Drafts", uid)
    told = writer.ask("send_draft", uid=uid)
    assert (told["outcome"], told["accepted"]) == (
        "accepted",
        ["cy@example.com", "di@example.com", "boss@example.com"],
    )
    (letter,) = writer.letters
    sent = parsed(cast("bytes", letter.content))
    assert (sent["Bcc"], sent["Subject"], [one.get_content() for one in sent.iter_attachments()]) == (
        None,
        "Two",
        [FILE],
    )
    assert writer.octets("Drafts") == []
    assert len(writer.octets("Sent")) == 1
    assert writer.ask("send_draft", uid=uid)["repeated"]
    assert len(writer.letters) == 1


def test_an_answer_goes_to_the_thread_of_twenty_and_stays_in_it(writer: Writer) -> None:
    ids = [f"<m{number}@example.com>" for number in range(20)]
    for number, own in enumerate(ids):
        references = f"References: {' '.join(ids[:number])}\r\nIn-Reply-To: {ids[number - 1]}\r\n" if number else ""
        writer.dovecot.deliver(
            writer.user,
            [
                f"From: Bo <bo@example.com>\r\nTo: Ana <ana@example.org>, cy@example.com\r\nSubject: Re: Plan\r\n"
                f"Message-ID: {own}\r\n{references}\r\nStep {number}.\r\n".encode()
            ],
        )
    rows = writer.ask("list_messages")["messages"]
    told = writer.ask("reply", uid=rows[0]["uid"], body_text="Agreed.", reply_all=True)
    assert (told["to"], told["cc"], told["sent_copy"]) == (["Bo <bo@example.com>"], ["cy@example.com"], "filed")
    (letter,) = writer.letters
    sent = parsed(cast("bytes", letter.content))
    assert (sent["Subject"], sent["In-Reply-To"]) == ("Re: Plan", ids[-1])
    assert sent["References"].split() == [ids[0], *ids[1:]][:1] + ids[-19:]
    assert "\\Answered" in writer.flags("INBOX", rows[0]["uid"])


def test_an_answer_can_be_a_draft_that_knows_what_it_answers(writer: Writer) -> None:
    writer.dovecot.deliver(writer.user, [plain("Question")])
    (row,) = writer.ask("list_messages")["messages"]
    told = writer.ask("reply", "drafter", uid=row["uid"], body_text="Yes.", draft=True)
    assert (told["to"], told["subject"], told["folder"]) == (
        ["Dana Quill <dana@example.org>"],
        "Re: Question",
        "Drafts",
    )
    changed = writer.ask("update_draft", "drafter", uid=told["uid"], body_text="No.")
    draft = parsed(writer.octets("Drafts")[0])
    assert draft["In-Reply-To"] == draft["References"] == parsed(writer.octets("INBOX")[0])["Message-ID"]
    assert writer.ask("send_draft", uid=changed["uid"])["outcome"] == "accepted"
    assert text_of(parsed(cast("bytes", writer.letters[0].content))) == "No."


def test_a_file_of_a_message_and_a_message_itself_can_go_along_without_passing_the_caller(writer: Writer) -> None:
    writer.dovecot.deliver(writer.user, [with_file("Report")])
    (row,) = writer.ask("list_messages")["messages"]
    (file,) = writer.ask("get_message", uid=row["uid"])["attachments"]
    source = {"folder": "INBOX", "uid": row["uid"]}
    refused = writer.ask("send", "sender", to=["bo@example.com"], attachments=[{"from_message": source}])
    assert (refused["error"]["code"], refused["error"]["details"]["required_scope"]) == ("permission_denied", "read")
    writer.ask(
        "send",
        to=["bo@example.com"],
        attachments=[{"from_message": source | {"attachment_id": file["id"]}}, {"from_message": source}],
    )
    first, second = parsed(cast("bytes", writer.letters[0].content)).iter_attachments()
    assert (first.get_filename(), first.get_content_type()) == (file["filename"], file["content_type"])
    assert second.get_content_type() == "message/rfc822"
    assert second.get_content()["Subject"] == "Report"


def test_a_deleted_draft_lies_in_trash(writer: Writer) -> None:
    uid = writer.ask("create_draft", subject="Never", body_text="Mind.")["uid"]
    assert writer.ask("delete_draft", uid=uid) == {"deleted": True}
    assert (writer.octets("Drafts"), len(writer.octets("Trash"))) == ([], 1)


def test_a_changed_draft_keeps_its_marks_and_one_that_only_waits_to_be_erased_is_none(writer: Writer) -> None:
    uid = writer.ask("create_draft", to=["bo@example.com"], subject="Marked")["uid"]
    with writer.dovecot.login(writer.user) as client:
        client.select("Drafts")
        client.uid("STORE", uid.split("-")[0], "+FLAGS", "(\\Flagged later)")
    uid = writer.ask("update_draft", uid=uid, body_text="2")["uid"]
    assert {"Flagged", "later", "Draft"} <= set(re.findall(r"\w+", writer.flags("Drafts", uid)))
    with writer.dovecot.login(writer.user) as client:
        client.select("Drafts")
        client.uid("STORE", uid.split("-")[0], "+FLAGS", "(\\Deleted)")
    assert writer.ask("list_drafts")["drafts"] == []
    for tool in ("update_draft", "send_draft"):
        assert writer.ask(tool, uid=uid)["error"]["code"] == "not_found"
    assert writer.letters == []


def test_the_same_call_of_a_model_is_one_message_and_that_of_a_program_is_two(writer: Writer) -> None:
    asked = {"to": ["bo@example.com"], "subject": "Once", "body_text": "Hello."}
    first, second = writer.ask("send", **asked), writer.ask("send", **asked)
    assert (first["repeated"], second["repeated"]) == (False, writer.surface == "mcp")
    assert len(writer.letters) == len(writer.octets("Sent")) == (1 if writer.surface == "mcp" else 2)


def test_a_key_names_one_message_of_one_token(writer: Writer) -> None:
    asked = {"to": ["bo@example.com"], "subject": "Once", "idempotency_key": "k1"}
    first = writer.ask("send", **asked)
    assert writer.ask("send", **asked) == first | {"repeated": True}
    other = writer.ask("send", **asked | {"subject": "Twice"})
    assert (other["error"]["code"], other["error"]["details"]["argument"]) == ("conflict", "idempotency_key")
    assert not writer.ask("send", "other", **asked)["repeated"]
    assert len(writer.letters) == 2


def test_nobody_speaks_as_somebody_else(writer: Writer) -> None:
    for arguments in ({"from": "boss@example.org"}, {"from": "ana@example.org.evil.example"}):
        refused = writer.ask("send", to=["bo@example.com"], **arguments)
        assert refused["error"]["code"] == "invalid_identity"
        assert "ana@example.org" in str(refused["error"]["details"]["identities"])
    assert writer.ask("send", to=["bo@example.com"], **{"from": "desk@ana.example"})["from"] == "desk@ana.example"
    assert writer.ask("create_draft", **{"from": "boss@example.org"})["error"]["code"] == "invalid_identity"


@pytest.mark.parametrize("renamed", ["Sent", "Drafts", "INBOX.Other"])
def test_a_folder_that_another_client_renames_costs_no_copy_and_no_draft(writer: Writer, renamed: str) -> None:
    draft = {"to": ["bo@example.com"], "subject": "First", "body_text": "Hello."}
    writer.dovecot.create(writer.user, "INBOX.Other")
    assert writer.ask("send_draft", uid=writer.ask("create_draft", **draft)["uid"])["sent_copy"] == "filed"
    writer.ask("list_messages", folder=renamed)
    with writer.dovecot.login(writer.user) as client:
        client.rename(renamed, "Renamed")
    told = writer.ask("send", **draft | {"subject": "Second"})
    assert (told["sent_copy"], told.get("warnings")) == ("filed", None)
    with writer.dovecot.login(writer.user) as client:
        client.delete("Renamed")
    uid = writer.ask("create_draft", **draft | {"subject": "Third"})["uid"]
    assert writer.ask("send_draft", uid=uid)["sent_copy"] == "filed"


def test_the_audit_tells_whom_a_draft_is_for_though_the_caller_did_not(writer: Writer) -> None:
    writer.dovecot.deliver(writer.user, [plain("Question")])
    (row,) = writer.ask("list_messages")["messages"]
    writer.ask("create_draft", reply_to_uid=row["uid"], body_text="Yes.")
    uid = writer.ask("reply", uid=row["uid"], body_text="Yes.", draft=True)["uid"]
    writer.ask("update_draft", uid=uid, subject="Other", cc=["cy@example.com"])
    told = {}
    for tool in ("create_draft", "reply", "update_draft"):
        (record,) = writer.ask("audit_log", action=f"{writer.surface}.{tool}")["records"]
        told[tool] = record["facts"]["recipients"]
    assert told == {
        "create_draft": ["dana@example.org"],
        "reply": ["dana@example.org"],
        "update_draft": ["dana@example.org", "cy@example.com"],
    }


def test_a_folder_that_a_draft_cannot_go_to_is_not_ignored(writer: Writer) -> None:
    error = writer.ask("create_draft", subject="x", folder="Archive")["error"]
    assert (error["code"], error["details"]["argument"]) == ("validation_error", "folder")
