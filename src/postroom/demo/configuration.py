"""Who the demonstration is about: its two mailboxes, and the configuration that serves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from postroom.base.caller import Scope
from postroom.base.secret import Secret
from postroom.base.token import token_hash
from postroom.config import Config
from postroom.demo.servers import HOST, MailServers


@dataclass(frozen=True, slots=True)
class DemoMailbox:
    """A mailbox of the demonstration; `domain` is what its owner calls internal, if anything."""

    name: str
    description: str
    owner: str
    address: str
    domain: str | None
    authserv_id: str
    """The server whose Authentication-Results (RFC 8601) the sample mail carries."""


MAILBOXES = (
    DemoMailbox(
        name="work",
        description="Work mail of a bicycle rental",
        owner="Ana Moreau",
        address="ana@tidewater.example",
        domain="tidewater.example",
        authserv_id="mx.tidewater.example",
    ),
    DemoMailbox(
        name="personal",
        description="Private mail",
        owner="Ana Moreau",
        address="ana.moreau@mail.example",
        domain=None,
        authserv_id="mx.mail.example",
    ),
)

SCOPES: Mapping[str, frozenset[Scope]] = {
    "all": frozenset(Scope),
    "read": frozenset({Scope.READ}),
    "triage": frozenset({Scope.READ, Scope.DRAFT, Scope.ORGANIZE}),
}
"""The tokens of the demonstration that see their mailboxes whole, by name."""

RELAY = "relay"
"""The token that a policy binds: it sees one mailbox, and less of it."""
TOKENS = (*SCOPES, RELAY)
"""All of them."""
_BOUND_TO = "personal"
_POLICY: Mapping[str, Any] = {
    "folders": {"rules": [{"match": ["INBOX", "Sent", "Archive"], "access": "readable"}]},
    "messages": {"rules": [{"id": "bank", "match": {"sender_domain": "harbourbank.example"}, "action": "hide"}]},
    "outbound": {"mode": "send", "recipients": {"allow": ["list:family"]}},
}
"""Hides folders, and whatever the bank writes; that one-time codes are redacted need not be said."""


def addresses() -> dict[str, str]:
    """Each mailbox's name and its address."""
    return {mailbox.name: mailbox.address for mailbox in MAILBOXES}


def configuration(
    port: int, servers: MailServers, *, password: Secret, tokens: Mapping[str, Secret], state: Path
) -> Config:
    """A gateway on loopback in front of both servers, that knows one token for each of TOKENS."""
    return Config.model_validate(
        {
            "server": {"listen": f"{HOST}:{port}", "public_url": f"http://{HOST}:{port}"},
            "state_dir": state,
            "mailboxes": [_mailbox(mailbox, servers, password) for mailbox in MAILBOXES],
            "lists": {"family": ["claire@moreau.example", "luc.moreau@mail.example"]},
            "policies": {"home": _POLICY},
            "profiles": {"assistant": {"policy": "home"}},
            "tokens": [*(_token(name, tokens[name], scopes) for name, scopes in SCOPES.items()), _relay(tokens[RELAY])],
        }
    )


def _mailbox(mailbox: DemoMailbox, servers: MailServers, password: Secret) -> dict[str, Any]:
    login = {"username": mailbox.address, "password": password}
    return {
        "name": mailbox.name,
        "description": mailbox.description,
        "address": mailbox.address,
        "identities": [f"{mailbox.owner} <{mailbox.address}>"],
        "imap": {"host": HOST, "port": servers.imap_port, "tls": "none", **login},
        "smtp": {"host": HOST, "port": servers.smtp_port, "tls": "none"},
        "trusted_authserv_ids": [mailbox.authserv_id],
        "internal_domains": [mailbox.domain] if mailbox.domain else [],
        "watch": ["INBOX"],
    }


def _token(name: str, token: Secret, scopes: frozenset[Scope]) -> dict[str, Any]:
    return {
        "name": name,
        "token_hash": token_hash(token.reveal()),
        "scopes": scopes,
        "mailboxes": [mailbox.name for mailbox in MAILBOXES],
    }


def _relay(token: Secret) -> dict[str, Any]:
    return {
        "name": RELAY,
        "token_hash": token_hash(token.reveal()),
        "toolset": "relay",
        "user": "ana",
        "mailbox": _BOUND_TO,
        "profile": "assistant",
    }
