"""Sending and drafts, cut off at every step: nothing leaves twice, nothing is told that was not, no text is lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.crashes.dying import die_at_every_step
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway
from tests.servers.smtp import Letterbox, running_smtp

_USERS = itertools.count()
_TOKENS = {"all": ("read, draft, organize, send, admin", "work")}
_DRAFTS = "/mailboxes/work/drafts"


@dataclass
class Desk:
    """A mailbox of its own and the submission server that it sends by."""

    mailboxes: str
    letterbox: Letterbox
    folder: Path
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    subject: str = ""

    def next_subject(self) -> str:
        self.subject = f"Message {next(self.numbers)}"
        return self.subject

    @property
    def letters(self) -> int:
        """How often the message of now was delivered."""
        return sum(f"Subject: {self.subject}\r\n".encode() in (one.content or b"") for one in self.letterbox.envelopes)

    def drafts(self, gateway: Gateway) -> list[str]:
        """The ids of the drafts of now, newest first."""
        rows = gateway.get(_DRAFTS, limit=500).json()["drafts"]
        return [row["uid"] for row in rows if row["subject"] == self.subject]

    def kept(self, gateway: Gateway) -> int:
        """How often the owner of the mailbox has the message of now, in Drafts or in Sent."""
        rows = gateway.get("/mailboxes/work/messages", folder="Sent", limit=500).json()["messages"]
        return len(self.drafts(gateway)) + sum(row["subject"] == self.subject for row in rows)

    def create(self, gateway: Gateway) -> str:
        draft = {"to": ["bo@example.com"], "subject": self.next_subject(), "body_text": "First."}
        with gateway.http() as client:
            return str(client.post(_DRAFTS, json=draft).json()["uid"])

    def check_told(self, gateway: Gateway, told: dict[str, Any]) -> None:
        """After a repeat: once, or at most once if nobody knows; and the audit says of no call that it sent in vain."""
        facts = told["error"]["details"] if "error" in told else told
        if "error" in told:
            assert facts["outcome"] == "unknown", told
            assert self.letters <= 1
        else:
            assert (facts["outcome"], self.letters) == ("accepted", 1)
        records = gateway.get("/audit", limit=10).json()["records"]
        told_of = [record for record in records if record["facts"].get("message_id") == facts["message_id"]]
        assert told_of
        if "ok" in {record["outcome"] for record in told_of}:
            assert self.letters == 1

    def die_at_every_step(self, trial: Any) -> int:
        return die_at_every_step(trial, self.folder, self.mailboxes, _TOKENS)


@pytest.fixture
def desk(dovecot: Dovecot, tmp_path: Path) -> Iterator[Desk]:
    user = f"dying-{next(_USERS)}"
    dovecot.deliver(user, [])
    letterbox = Letterbox()
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as port:
        ca = dovecot.certificate
        login = f"username: {user}, password: {PASSWORD}"
        yield Desk(
            f"  - name: work\n    address: ana@example.org\n"
            f"    imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, {login}}}\n"
            f"    smtp: {{host: 127.0.0.1, port: {port}, tls: starttls, {login}, ca_file: {ca}}}\n",
            letterbox,
            tmp_path,
        )


@dataclass
class Sending:
    """A message with a key: repeated after each death."""

    desk: Desk

    def prepare(self, gateway: Gateway) -> None:
        self.desk.next_subject()
        gateway.get("/mailboxes/work/messages")

    def call(self, gateway: Gateway) -> Any:
        subject = self.desk.subject
        arguments = {"to": ["bo@example.com"], "subject": subject, "body_text": "Hello.", "idempotency_key": subject}
        return gateway.call("send", arguments)

    def check(self, gateway: Gateway, answer: Any | None) -> None:
        before = self.desk.letters
        assert before <= 1
        told = self.call(gateway)
        self.desk.check_told(gateway, told)
        if answer is not None:
            assert told == answer | {"repeated": True}


@dataclass
class SendingADraft:
    """A draft: after each death it is there, or it was sent, and whoever sends it again sends no second one."""

    desk: Desk
    uid: str = ""

    def prepare(self, gateway: Gateway) -> None:
        self.uid = self.desk.create(gateway)

    def call(self, gateway: Gateway) -> Any:
        with gateway.http() as client:
            return client.post(f"{_DRAFTS}/{self.uid}/send", json={}).json()

    def check(self, gateway: Gateway, answer: Any | None) -> None:
        assert self.desk.letters + len(self.desk.drafts(gateway)) >= 1
        assert self.desk.kept(gateway) >= 1
        self.desk.check_told(gateway, self.call(gateway))
        assert self.desk.letters + len(self.desk.drafts(gateway)) >= 1
        assert self.desk.kept(gateway) >= 1, "a draft is not discarded before Sent has it"


@dataclass
class ChangingADraft:
    """A draft that is replaced: after each death the old one is there, or the new one, or both."""

    desk: Desk
    uid: str = ""

    def prepare(self, gateway: Gateway) -> None:
        self.uid = self.desk.create(gateway)

    def call(self, gateway: Gateway) -> Any:
        with gateway.http() as client:
            return client.patch(f"{_DRAFTS}/{self.uid}", json={"body_text": "Second."}).json()

    def check(self, gateway: Gateway, answer: Any | None) -> None:
        drafts = self.desk.drafts(gateway)
        assert drafts
        assert self.uid in drafts or len(drafts) == 1
        if answer is not None:
            assert drafts == [answer["uid"]] != [self.uid]


@pytest.mark.parametrize("trial", [Sending, SendingADraft, ChangingADraft])
def test_whatever_step_is_the_last_nothing_leaves_twice_and_nothing_is_lost(desk: Desk, trial: type) -> None:
    assert desk.die_at_every_step(trial(desk)) > 20
