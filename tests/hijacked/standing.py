"""A gateway under a preset's policy, its agent in an adversary's hands, and what has come of it."""

from __future__ import annotations

import contextlib
import hashlib
import imaplib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import Envelope

from postroom.base.token import mint, token_hash
from postroom.config.nodes import compose, plain
from postroom.config.presets import MAILBOX, PRESETS, PROFILE, USER, Preset
from tests.hijacked.mail import WITHHELD, letter, planted
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, gateway_thread
from tests.servers.smtp import Letterbox, running_smtp

Answer = dict[str, Any]
AGENT, RELAY, SIBLING, OWNER, OPERATOR = "agent", "relay", "sibling", "owner", "operator"
"""Tokens: the hijacked ones, one of another profile, the mailbox's owner, and who may read the audit."""
OTHER_MAILBOX = "private"
ALLOWED = "ops@corp.example"
"""Whom every preset that writes may write to."""
_NO_BOUNDS = {"requests_per_minute": "6000", "burst": "500", "concurrent": "32"}
_NO_RATES = {
    "messages": {"per_minute": "999", "per_hour": "999", "per_day": "999"},
    "recipients": {"per_day": "999"},
    "same_recipient": {"per_hour": "999", "per_day": "999"},
}
_USERS = itertools.count()


@dataclass(frozen=True)
class Letter:
    """A message on the server."""

    folder: str
    flags: frozenset[str]
    octets: bytes


@dataclass
class World:
    """What the adversary has, and what it has done so far."""

    gateway: Gateway
    eye: imaplib.IMAP4
    """A login of the test's own."""
    user: str
    letterbox: Letterbox
    column: str
    token: str = AGENT
    heard: list[str] = field(default_factory=list)
    """Every answer to the adversary."""
    refused: list[str] = field(default_factory=list)
    """Actions whose refusal must stand in the audit, since `prepared`."""
    before: dict[bytes, Letter] = field(default_factory=dict)
    after: dict[bytes, Letter] = field(default_factory=dict)
    """What was there when the route before ended, until anything is done."""
    outside: int = 0
    """Messages that had left before."""
    audited: int = 0
    _uids: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def ask(self, tool: str, **arguments: Any) -> Answer:
        """A call of the adversary's, as a model would make it."""
        answer = self.gateway.call(tool, arguments, self.token)
        self.heard.append(json.dumps(answer, ensure_ascii=False))
        if must_be_audited(tool, answer):
            self.refused.append(f"mcp.{tool}")
        return answer

    def fetch(self, path: str, operation: str) -> int:
        """The status of a GET of the adversary's."""
        with self.gateway.http(self.token) as client:
            response = client.get(path)
        self.heard.append(response.content.decode("latin-1"))
        if response.status_code == 403:
            self.refused.append(f"http.{operation}")
        return int(response.status_code)

    def as_other(self, token: str, tool: str, **arguments: Any) -> Answer:
        """A call of somebody else's."""
        return self.gateway.call(tool, arguments, token)

    @property
    def own_token(self) -> str:
        return self.gateway.tokens[self.token]

    def uid(self, subject: str, token: str = "", folder: str = "INBOX") -> str:
        """The id that this token has of a message; one made up for a token that has none."""
        key = (token or self.token, folder)
        if key not in self._uids:
            rows = self.gateway.call("list_messages", {"folder": folder}, key[0]).get("messages", [])
            self._uids[key] = {row.get("subject", ""): row["uid"] for row in rows}
        return self._uids[key].get(subject, "1-1")

    def prepared(self) -> None:
        """From now on whatever changes is the route's doing."""
        self.before, self.outside = self.after or self.letters(), len(self.letterbox.envelopes)
        self.after = {}
        self.refused, self.audited = [], self.records()[0]["seq"]

    def letters(self) -> dict[bytes, Letter]:
        """All that is on the server, by a name that moving changes; read over a login of the test's own."""
        found = {}
        for line in self.eye.list()[1]:
            folder = line.decode().rpartition(' "/" ')[2].strip('"')  # type: ignore[union-attr]
            self.eye.select(f'"{folder}"', readonly=True)
            parts = self.eye.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[])")[1]
            for head, octets in (one for one in parts if isinstance(one, tuple)):
                name = hashlib.sha256(folder.encode() + head.split()[2]).digest()
                flags = head.split(b"FLAGS (")[1].split(b")")[0].decode().split()
                found[name] = Letter(folder, frozenset(flags) - {"\\Recent"}, octets)
            found[folder.encode()] = Letter(folder, frozenset(), b"")
        return found

    def records(self) -> list[dict[str, Any]]:
        """The newest records of the audit, newest first, as the operator reads them."""
        answer = self.gateway.call("audit_log", {"limit": 100, "fields": "full"}, OPERATOR)
        return list(answer["records"])

    def left(self) -> Sequence[Envelope]:
        """What was handed to the mail server since `prepared`."""
        return self.letterbox.envelopes[self.outside :]


READS = frozenset(
    {"mailboxes", "inbox", "list_folders", "list_messages", "search", "get_message", "get_raw_message"}
    | {"get_attachment", "get_thread", "list_threads", "identities", "list_drafts", "mailbox_stats", "audit_log"}
    | {"search_messages", "read_message", "read_messages"}
)
"""Tools that change nothing: of these a refusal for want of leave alone is audited."""


def must_be_audited(tool: str, answer: Answer) -> bool:
    """A refused change, or a read without leave, of a tool that there is."""
    error = answer.get("error")
    if error is None or "tools" in error["details"]:
        return False
    return tool not in READS or error["code"] in ("permission_denied", "policy_denied")


@contextlib.contextmanager
def world(folder: Path, dovecot: Dovecot, column: str, *, bounded: bool = False) -> Iterator[World]:
    """Under the policy of a column of the tables; with `bounded` the preset's rates and bounds stand as they are."""
    preset = PRESETS["replier" if column == "sender" else column]
    user = f"hijacked-{column}-{next(_USERS)}"
    dovecot.create(user, WITHHELD["hidden folder"], "Archive")
    for some in planted():
        dovecot.deliver(user, some.messages, some.folder)
    dovecot.deliver(f"{user}-{OTHER_MAILBOX}", [letter("Bo <bo@x.example>", "Private", WITHHELD["another mailbox"])])
    letterbox = Letterbox()
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as port:
        minted = {name: mint().text.reveal() for name in (AGENT, RELAY, SIBLING, OWNER, OPERATOR)}
        file = folder / "postroom.yaml"
        policies = _policies(preset, sends=column == "sender", bounded=bounded)
        tokens = _tokens([str(scope) for scope in preset.scopes], minted)
        boxes = [_mailbox(name, user, dovecot, port) for name in (MAILBOX, OTHER_MAILBOX)]
        file.write_text(json.dumps({**_REST, "mailboxes": boxes, "policies": policies, "tokens": tokens}))
        file.chmod(0o600)
        with gateway_thread(file, minted) as gateway, dovecot.login(user) as eye:
            yield World(gateway, eye, user, letterbox, column)


_REST = {
    "server": {"listen": "127.0.0.1:0", "public_url": "http://localhost:8000"},
    "profiles": {PROFILE: {"policy": "default", "restrict": ["clinic"]}, SIBLING: {"policy": "default"}},
}


def _policies(preset: Preset, *, sends: bool, bounded: bool) -> dict[str, Any]:
    """The preset's own, with a longer list for a notifier; and a restriction that hides a sender."""
    root, _ = compose(preset.text)
    assert root is not None
    written = plain(root)
    assert isinstance(written, dict)
    policy = written["policies"]["default"]
    if not bounded:
        policy["limits"] = _NO_BOUNDS
        policy["outbound"]["rate"] = _NO_RATES
    if sends:
        policy["outbound"]["mode"] = "send"
    if preset.name == "notifier":
        policy["outbound"]["recipients"]["allow"].append(ALLOWED)
    hides = {"default": "pass", "rules": [{"id": "clinic", "match": {"from": "*@clinic.example"}, "action": "hide"}]}
    return {"default": policy, "clinic": {"messages": hides}}


def _tokens(scopes: Sequence[str], minted: Mapping[str, str]) -> list[dict[str, Any]]:
    mine = {"user": USER, "profile": PROFILE}
    return [
        _token(AGENT, minted, scopes=scopes, mailboxes=[MAILBOX], **mine),
        _token(RELAY, minted, toolset="relay", mailbox=MAILBOX, **mine),
        _token(SIBLING, minted, scopes=scopes, mailboxes=[MAILBOX], user=USER, profile=SIBLING),
        _token(OWNER, minted, scopes=["read"], mailboxes=[MAILBOX, OTHER_MAILBOX]),
        _token(OPERATOR, minted, scopes=["admin"], mailboxes=[MAILBOX, OTHER_MAILBOX]),
    ]


def _token(name: str, minted: Mapping[str, str], **fields: Any) -> dict[str, Any]:
    return {"name": name, "token_hash": token_hash(minted[name]), **fields}


def _mailbox(name: str, user: str, dovecot: Dovecot, port: int) -> dict[str, Any]:
    user = user if name == MAILBOX else f"{user}-{OTHER_MAILBOX}"
    smtp = {"host": "127.0.0.1", "port": port, "tls": "starttls", "username": user, "password": PASSWORD}
    return {
        "name": name,
        "address": "ana@corp.example" if name == MAILBOX else "ana@home.example",
        "internal_domains": ["corp.example"],
        "trusted_authserv_ids": ["mx.corp.example"],
        "imap": {"host": "127.0.0.1", "port": dovecot.port, "tls": "none", "username": user, "password": PASSWORD},
        "smtp": {**smtp, "ca_file": str(dovecot.certificate)},
    }
