"""A gateway under a preset's policy, its agent in an adversary's hands, and what has come of it."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import Envelope

from postroom.base.token import mint, token_hash
from postroom.config.nodes import compose, plain
from postroom.config.presets import MAILBOX, PROFILE, USER, Preset
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
    dovecot: Dovecot
    user: str
    letterbox: Letterbox
    preset: Preset
    token: str = AGENT
    heard: list[str] = field(default_factory=list)
    """Every answer to the adversary."""
    refused: list[str] = field(default_factory=list)
    """Actions whose refusal must stand in the audit, since `prepared`."""
    before: dict[bytes, Letter] = field(default_factory=dict)
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

    def fetch(self, path: str, **query: str) -> tuple[int, bytes]:
        """A GET of the adversary's."""
        response = self.gateway.get(path, self.token, **query)
        self.heard.append(response.content.decode("latin-1"))
        return response.status_code, response.content

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
        self.before, self.outside = self.letters(), len(self.letterbox.envelopes)
        self.refused, self.audited = [], self.records()[0]["seq"]

    def letters(self) -> dict[bytes, Letter]:
        """All that is on the server, by a name that moving changes; read over a login of the test's own."""
        found = {}
        with self.dovecot.login(self.user) as client:
            for line in client.list()[1]:
                folder = line.decode().rpartition(' "/" ')[2].strip('"')  # type: ignore[union-attr]
                client.select(f'"{folder}"', readonly=True)
                parts = client.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[])")[1]
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
def world(folder: Path, dovecot: Dovecot, preset: Preset, *, bounded: bool = False) -> Iterator[World]:
    """With `bounded` the rates and bounds of the preset stand as they are."""
    user = f"hijacked-{preset.name}-{next(_USERS)}"
    dovecot.create(user, WITHHELD["hidden folder"], "Archive")
    for some in planted():
        dovecot.deliver(user, some.messages, some.folder)
    dovecot.deliver(f"{user}-private", [letter("Bo <bo@x.example>", "Private", WITHHELD["another mailbox"])])
    letterbox = Letterbox()
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as port:
        minted = {name: mint().text.reveal() for name in (AGENT, RELAY, SIBLING, OWNER, OPERATOR)}
        file = folder / "postroom.yaml"
        file.write_text(json.dumps(_configuration(preset, dovecot, port, user, minted, bounded=bounded)))
        file.chmod(0o600)
        with gateway_thread(file, minted) as gateway:
            yield World(gateway, dovecot, user, letterbox, preset)


def _configuration(
    preset: Preset, dovecot: Dovecot, port: int, user: str, minted: Mapping[str, str], *, bounded: bool
) -> dict[str, Any]:
    """The preset's own policy; with a sender hidden by a restriction, and a notifier's list."""
    root, _ = compose(preset.text)
    assert root is not None
    text = plain(root)
    assert isinstance(text, dict)
    policy = text["policies"]["default"]
    if not bounded:
        policy["limits"] = _NO_BOUNDS
        policy["outbound"]["rate"] = _NO_RATES
    if preset.name == "notifier":
        policy["outbound"]["recipients"]["allow"].append(ALLOWED)
    hides = {"default": "pass", "rules": [{"id": "clinic", "match": {"from": "*@clinic.example"}, "action": "hide"}]}
    scopes, mine = [str(scope) for scope in preset.scopes], {"user": USER, "profile": PROFILE}
    return {
        "server": {"listen": "127.0.0.1:0", "public_url": "http://localhost:8000"},
        "mailboxes": [
            _mailbox(MAILBOX, user, dovecot, port),
            _mailbox(OTHER_MAILBOX, f"{user}-private", dovecot, port),
        ],
        "policies": {**text["policies"], "clinic": {"messages": hides}},
        "profiles": {PROFILE: {"policy": "default", "restrict": ["clinic"]}, SIBLING: {"policy": "default"}},
        "tokens": [
            _token(AGENT, minted, scopes=scopes, mailboxes=[MAILBOX], **mine),
            _token(RELAY, minted, toolset="relay", mailbox=MAILBOX, **mine),
            _token(SIBLING, minted, scopes=scopes, mailboxes=[MAILBOX], user=USER, profile=SIBLING),
            _token(OWNER, minted, scopes=["read"], mailboxes=[MAILBOX, OTHER_MAILBOX]),
            _token(OPERATOR, minted, scopes=["admin"], mailboxes=[MAILBOX, OTHER_MAILBOX]),
        ],
    }


def _token(name: str, minted: Mapping[str, str], **fields: Any) -> dict[str, Any]:
    return {"name": name, "token_hash": token_hash(minted[name]), **fields}


def _mailbox(name: str, user: str, dovecot: Dovecot, port: int) -> dict[str, Any]:
    smtp = {"host": "127.0.0.1", "port": port, "tls": "starttls", "username": user, "password": PASSWORD}
    return {
        "name": name,
        "address": "ana@corp.example" if name == MAILBOX else "ana@home.example",
        "internal_domains": ["corp.example"],
        "trusted_authserv_ids": ["mx.corp.example"],
        "imap": {"host": "127.0.0.1", "port": dovecot.port, "tls": "none", "username": user, "password": PASSWORD},
        "smtp": {**smtp, "ca_file": str(dovecot.certificate)},
    }
