"""Wherever the gateway is killed while it moves messages, each is in at least one of the two folders afterwards."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.crashes.dying import die_at_every_step
from tests.servers.dovecot import PASSWORD, POORER, Dovecot
from tests.servers.gateway import Gateway
from tests.servers.mail import plain

_MOVED_AT_ONCE = 3
_TOKENS = {"all": ("read, organize, delete, admin", "work")}
_USERS = itertools.count()
_RICH, (_WITHOUT_MOVE, _WITHOUT_UIDPLUS) = "127.0.0.1", POORER


@dataclass
class Moving:
    """Each call moves the newest messages of the inbox; all that were ever delivered must still be there."""

    dovecot: Dovecot
    user: str
    tool: str
    there: str
    delivered: list[str] = field(default_factory=list)
    uids: list[str] = field(default_factory=list)
    left: set[tuple[bool, bool]] = field(default_factory=set)
    """Whether messages were found in the inbox, and in the other folder."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """What the audit says of all calls."""

    def prepare(self, gateway: Gateway) -> None:
        subjects = [f"Message {len(self.delivered) + number}" for number in range(_MOVED_AT_ONCE)]
        self.dovecot.deliver(self.user, map(plain, subjects))
        self.delivered += subjects
        listed = gateway.get("/mailboxes/work/messages", limit=_MOVED_AT_ONCE).json()["messages"]
        assert {row["subject"] for row in listed} == set(subjects)
        self.uids = [row["uid"] for row in listed]

    def call(self, gateway: Gateway) -> Any:
        arguments = {"uids": self.uids} | ({"destination": self.there} if self.tool == "move" else {})
        with gateway.http() as client:
            return client.post(f"/mailboxes/work/messages/{self.tool}", json=arguments).json()

    def check(self, gateway: Gateway, answer: Any | None) -> None:
        here, there = self.subjects("INBOX"), self.subjects(self.there)
        assert here.keys() | there.keys() == set(self.delivered)
        assert max(there.values(), default=1) == 1, "nothing is copied twice"
        self.left |= {(subject in here, subject in there) for subject in self.delivered[-_MOVED_AT_ONCE:]}
        records = gateway.get("/audit", limit=500, mailbox="work").json()["records"]
        self.outcomes = Counter(record["outcome"] for record in records)
        if answer is not None:
            assert [result["error"] for result in answer["results"]] == [None] * _MOVED_AT_ONCE

    def subjects(self, folder: str) -> Counter[str]:
        """What another client sees there."""
        with self.dovecot.login(self.user) as client:
            client.select(folder, readonly=True)
            _, told = client.uid("FETCH", "1:*", "(BODY.PEEK[HEADER.FIELDS (SUBJECT)])")
        octets = b"".join(one[1] for one in told if isinstance(one, tuple))
        return Counter(re.findall(r"Subject: (Message \d+)", octets.decode()))


HERE, BOTH, THERE = (True, False), (True, True), (False, True)


@pytest.mark.parametrize(
    ("host", "tool", "there", "left"),
    [
        (_RICH, "move", "Archive", {HERE, THERE}),
        (_RICH, "delete", "Trash", {HERE, THERE}),
        (_WITHOUT_MOVE, "move", "Archive", {HERE, BOTH, THERE}),
        (_WITHOUT_UIDPLUS, "move", "Archive", {HERE, BOTH}),
    ],
)
def test_a_message_is_never_in_neither_place(
    dovecot: Dovecot, tmp_path: Path, host: str, tool: str, there: str, left: set[tuple[bool, bool]]
) -> None:
    moving = Moving(dovecot, f"dying-{next(_USERS)}", tool, there)
    dovecot.create(moving.user, "Archive")
    mailbox = (
        f"  - name: work\n    imap: {{host: {host}, port: {dovecot.port}, tls: none, username: {moving.user}, "
        f"password: {PASSWORD}}}"
    )
    steps = die_at_every_step(moving, tmp_path, mailbox, _TOKENS)
    assert moving.left == left, "it was killed before, amid and after"
    assert steps > 20
    assert moving.outcomes["unknown"] > steps / 2
    assert moving.outcomes.keys() <= {"unknown", "ok"}
