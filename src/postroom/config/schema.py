"""The shape of the configuration file: every key, its type and its default."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from postroom.base.caller import Scope
from postroom.config.policies.policy import PolicyConfig, ProfileConfig
from postroom.config.policies.trials import TrialConfig
from postroom.config.policies.values import AddressPattern
from postroom.config.section import Section
from postroom.config.servers import CREDENTIAL_KEYS, ImapConfig, SmtpConfig
from postroom.config.values import (
    AddressText,
    AllowedHost,
    Domain,
    FilePath,
    HttpUrl,
    IdentityText,
    Line,
    Listen,
    ListenAddress,
    Name,
    NotNegative,
    Origin,
    Positive,
    Seconds,
    StoreChoice,
    TokenHash,
)
from postroom.config.webhooks import WebhookConfig


def _local_url(known: dict[str, Any]) -> str:
    """`http://localhost` with the port of `listen`."""
    return f"http://localhost:{known['listen'].port}"


class ServerConfig(Section):
    """Where the gateway listens and under which names it is reached."""

    listen: ListenAddress = Listen("127.0.0.1", 8000)
    """Address and port to listen on: 0.0.0.0 for every address, port 0 for any free port."""
    public_url: HttpUrl = Field(default_factory=_local_url)
    """Where clients reach the gateway, also through a proxy; requests under its host are taken."""
    allowed_hosts: tuple[AllowedHost, ...] = ()
    """Host headers to accept beside loopback and that of `public_url`; any other is answered 421."""
    metrics_listen: ListenAddress | None = None
    """Address and port where /metrics is given without a token; without one it needs a token with scope admin."""
    allowed_origins: tuple[Origin, ...] = ()
    """Origins of web pages that may call; any other is answered 403, a call without Origin is not asked."""


class LimitsConfig(Section):
    """Bounds of every call; rates are per token, and 0 means none."""

    mcp_inline_max_bytes: Positive = 1_000_000
    """Octets of a file or a source in an MCP answer: a file over it is refused, a source cut."""
    request_max_bytes: Positive = 40_000_000
    """Octets of a request; a larger one is answered 413."""
    requests_per_minute: NotNegative = 0
    """Calls of one token in a minute; 0 is no limit."""
    sends_per_hour: NotNegative = 100
    """Messages that one token sends in any hour; 0 is no limit."""
    moves_per_hour: NotNegative = 1000
    """Messages that one token moves or deletes in any hour; 0 is no limit."""
    connect_seconds: Seconds = 10.0
    """How long a mail server may take to accept a connection and greet."""
    command_seconds: Seconds = 30.0
    """How long a mail server may take to answer one command."""
    requests_at_once: Positive = 1000
    """Requests that are answered at a time, waiting ones among them; more are answered 503 at once."""
    inbox_seconds: Seconds = 10.0
    """How long `inbox` waits for one mailbox before it answers without it."""


class FoldersConfig(Section):
    """Folders by name, where neither SPECIAL-USE (RFC 6154) nor known names find them."""

    sent: Line | None = None
    """Where sent mail is kept."""
    drafts: Line | None = None
    """Where drafts are kept."""
    trash: Line | None = None
    """Where deleted mail is kept."""


class MailboxConfig(Section):
    """One mailbox: how it is read, how it sends, and who its owner is."""

    name: Name
    """What callers name the mailbox by; unique."""
    description: str = ""
    """What callers are told about it."""
    address: AddressText | None = None
    """Its own address, for mail that names no other sender."""
    identities: tuple[IdentityText, ...] = ()
    """Addresses it may send from: an address, `Name <address>`, or `*@domain` for all of a domain."""
    imap: ImapConfig | None = None
    """The server it is read from; it needs this, `smtp`, or both."""
    smtp: SmtpConfig | None = None
    """The server it sends by."""
    folders: FoldersConfig = FoldersConfig()
    """Folders by name, where the server's own marks and usual names do not find them."""
    files_sent_copy: Literal["auto", "yes", "no"] = "auto"
    """Whether the server itself keeps a copy of what is sent; `auto` finds out."""
    trusted_authserv_ids: tuple[Line, ...] = ()
    """Names in Authentication-Results that are believed: those of your own mail servers."""
    trusted_hops: Positive = 1
    """How many of your own servers a message passes before it is delivered, at least 1."""
    internal_domains: tuple[Domain, ...] = ()
    """Domains whose names in a sender's display name are suspicious when the address is another one."""
    internal_without_dmarc: bool = False
    """Mail from `internal_domains` is internal without a trusted DMARC pass too: for servers that let no other in."""
    watch: tuple[Line, ...] = ()
    """Folders that webhooks are told of; where there are webhooks and nothing is said, the default folder."""
    webhooks: tuple[WebhookConfig, ...] = ()
    """Whom to tell of what happens in it."""

    @property
    def watched(self) -> tuple[str, ...]:
        """Folders that somebody is to be told of: `watch`, else the one that is looked at by default."""
        if self.imap is None or not self.webhooks:
            return ()
        return self.watch or (self.imap.default_folder,)

    @property
    def own_address(self) -> str:
        """The mailbox's own address: `address`, the first identity without *, or the SMTP or IMAP username.

        A username need not be an address; without any of them it is "".
        """
        if self.address is not None:
            return self.address
        for identity in self.identities:
            if not identity.is_pattern:
                return identity.address
        names = (server.username for server in (self.smtp, self.imap) if server is not None)
        return next((name for name in names if name is not None), "")

    @property
    def sender_identities(self) -> tuple[str, ...]:
        """Addresses that mail can be sent from, `*@domain` for all of a domain: `identities`, else the own address."""
        named = tuple(str(identity) for identity in self.identities)
        return named or tuple(address for address in (self.own_address,) if "@" in address)

    @property
    def fingerprint(self) -> bytes:
        """SHA-256 over the settings that say what a message is: what was sealed under others does not open."""
        credentials = {key: set(CREDENTIAL_KEYS) for key in ("imap", "smtp")}
        settings = self.model_dump(mode="json", exclude={**credentials, "watch": True, "webhooks": True})
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()


class TokenConfig(Section):
    """A token that the file knows by its hash; omitted scopes or mailboxes mean none."""

    name: Name
    """What it is listed and logged as; unique."""
    token_hash: TokenHash
    """`sha256:` and the 64 hex digits of the whole token's SHA-256; unique."""
    toolset: Literal["mailbox", "relay"] = "mailbox"
    """Which set of tools it is offered."""
    scopes: frozenset[Scope] = frozenset()
    """What it may do; none if left out."""
    mailboxes: frozenset[str] = frozenset()
    """Names of the mailboxes it may use; none if left out."""
    mailbox: str | None = None
    """The one mailbox of a token of the relay toolset."""
    user: Name | None = None
    """Whose token it is, for one that is bound to a profile."""
    profile: Name | None = None
    """Profile that it is bound to."""
    restrict: tuple[Name, ...] = ()
    """Policies that restrict this token further."""


class ConfigFile(Section):
    """The whole file."""

    server: ServerConfig = ServerConfig()
    """Where the gateway listens and under which names it is reached."""
    state_dir: FilePath = Field(default=Path("state"), validate_default=True)
    """Folder of the database, made with mode 0700 if it is not there; it holds no mail."""
    store: StoreChoice = "sqlite"
    """Where everything is kept: `sqlite`, a file in `state_dir`, or a `postgresql://` URL, also of several gateways."""
    limits: LimitsConfig = LimitsConfig()
    """Bounds on every call."""
    mailboxes: tuple[MailboxConfig, ...] = ()
    """The mailboxes; see below."""
    lists: Mapping[Name, tuple[AddressPattern, ...]] = Field(default_factory=dict)
    """Lists of addresses that policies name."""
    policies: Mapping[Name, PolicyConfig] = Field(default_factory=dict)
    """Policies by name."""
    ceiling: PolicyConfig = PolicyConfig()
    """A restriction over every policy."""
    profiles: Mapping[Name, ProfileConfig] = Field(default_factory=dict)
    """Profiles by name."""
    tests: tuple[TrialConfig, ...] = ()
    """What must come of the policies; a test that fails stops the start."""
    tokens: tuple[TokenConfig, ...] = ()
    """Tokens that the file knows; others are issued with `postroom token create`."""


class Config(ConfigFile):
    """The configuration a process runs with: the file, and what the command line said."""

    insecure_permissions: bool = False
    """Owner and mode of files are not looked at; only possible when listening on loopback."""
    sha256: str = ""
    """Hash of the file, in hex, by which the audit tells one configuration from another."""

    def mailbox(self, name: str) -> MailboxConfig:
        """The mailbox of that name; KeyError if there is none."""
        for mailbox in self.mailboxes:
            if mailbox.name == name:
                return mailbox
        raise KeyError(name)
