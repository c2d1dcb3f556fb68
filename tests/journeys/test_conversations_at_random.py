"""Mail comes, answers, lies and goes at random: conversations are those that one look at all of it would find."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from postroom.mail.parse import parse_head
from postroom.mail.threads import conversations, kin_of
from postroom.mailbox import conversations as remembered
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway

SEEDS = (1, 2, 3)
STEPS = 40
FOLDERS = ("INBOX", "Sent")
Groups = set[frozenset[tuple[str, int]]]


class Mail:
    """A user's mail, changed by another client."""

    def __init__(self, dovecot: Dovecot, user: str, chance: random.Random) -> None:
        self._dovecot, self._user, self._chance = dovecot, user, chance
        self._ids: list[str] = []

    def step(self) -> None:
        if self._chance.random() < 0.75:
            self._arrive()
        else:
            self._leave()

    def _arrive(self) -> None:
        known = [*self._ids, "<lost@t>", "<gone@t>"]
        references = self._chance.sample(known, min(len(known), self._chance.choice((0, 1, 1, 2, 4))))
        own = self._chance.choice([f"<{len(self._ids)}@t>"] * 9 + known)
        self._ids.append(own)
        lines = ["From: ana@example.org", f"Subject: {len(self._ids)}", f"Message-ID: {own}"]
        lines += [f"References: {' '.join(references)}"] if references else []
        self._dovecot.deliver(
            self._user, ["\r\n".join([*lines, "", "Text", ""]).encode()], self._chance.choice(FOLDERS)
        )

    def _leave(self) -> None:
        with self._dovecot.login(self._user) as client:
            _, (count,) = client.select(self._chance.choice(FOLDERS))
            if int(count or 0):
                client.store(str(self._chance.randint(1, int(count))), "+FLAGS", "\\Deleted")
                client.expunge()

    def groups(self) -> Groups:
        """By one look at everything; those with a message in INBOX."""
        kin = {}
        with self._dovecot.login(self._user) as client:
            for folder in FOLDERS:
                client.select(folder, readonly=True)
                _, data = client.uid("FETCH", "1:*", "(UID BODY.PEEK[HEADER])")
                for told in data:
                    if isinstance(told, tuple):
                        found = re.search(rb"UID (\d+)", told[0])
                        assert found
                        kin[folder, int(found[1])] = kin_of(parse_head(told[1]))
        found_groups = {frozenset(group) for group in conversations(kin)}
        return {group for group in found_groups if any(folder == "INBOX" for folder, _ in group)}


@pytest.fixture(scope="module")
def gateway(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    users = [f"random{seed}" for seed in (*SEEDS, 4)]
    boxes = "".join(
        f"  - {{name: {user}, imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: {user}, "
        f"password: {PASSWORD}}}}}\n"
        for user in users
    )
    with running_gateway(tmp_path_factory.mktemp("random"), boxes, {"all": ("read", ", ".join(users))}) as running:
        yield running


def told(gateway: Gateway, user: str, uid: int) -> frozenset[tuple[str, int]]:
    answer = gateway.get(f"/mailboxes/{user}/messages/{uid}/thread").json()
    return frozenset((one["folder"], int(one["uid"].partition("-")[0])) for one in answer["messages"])


def in_inbox(group: frozenset[tuple[str, int]]) -> list[int]:
    return [uid for folder, uid in group if folder == "INBOX"]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_remembered_and_kept_up_is_what_a_look_at_everything_finds(
    gateway: Gateway, dovecot: Dovecot, seed: int
) -> None:
    chance, user = random.Random(seed), f"random{seed}"
    mail = Mail(dovecot, user, chance)
    for _ in range(STEPS):
        mail.step()
        groups = mail.groups()
        if groups:
            group = chance.choice(sorted(groups, key=sorted))
            assert told(gateway, user, chance.choice(in_inbox(group))) == group
    listed = gateway.get(f"/mailboxes/{user}/threads", limit=500).json()["threads"]
    assert sorted(entry["count"] for entry in listed) == sorted(map(len, mail.groups()))


def test_with_little_remembered_nothing_is_told_that_does_not_belong_and_paging_tells_all(
    gateway: Gateway, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "NEWEST", 3)
    chance = random.Random(4)
    mail = Mail(dovecot, "random4", chance)
    for _ in range(STEPS):
        mail.step()
        groups = mail.groups()
        if groups:
            group = chance.choice(sorted(groups, key=sorted))
            uid = chance.choice(in_inbox(group))
            assert ("INBOX", uid) in told(gateway, "random4", uid)
    met: list[str] = []
    query: dict[str, object] = {"limit": 2}
    while True:
        page = gateway.get("/mailboxes/random4/threads", **query).json()
        met += [entry["last_message"]["uid"] for entry in page["threads"]]
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert len(met) == len(set(met)) >= len(mail.groups())
