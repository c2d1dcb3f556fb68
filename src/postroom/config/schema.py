"""The shape of the configuration file: every key, its type and its default."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from postroom.base.caller import Scope
from postroom.config.credential import (
    CommandCredential,
    Credential,
    EnvironmentCredential,
    FileCredential,
    InlineCredential,
)
from postroom.config.values import (
    AddressText,
    AllowedHost,
    Argv,
    Auth,
    CertificateHash,
    Domain,
    FilePath,
    HiddenText,
    Host,
    HttpUrl,
    IdentityText,
    Line,
    Listen,
    ListenAddress,
    Name,
    NotNegative,
    Origin,
    Port,
    Positive,
    Seconds,
    StoreChoice,
    Tls,
    TokenHash,
)

CREDENTIAL_KEYS = (
    "password",
    "password_file",
    "password_env",
    "password_command",
    "token_file",
    "token_command",
)


class Section(BaseModel):
    """A table of the file: frozen, without unknown keys; a key without a value counts as left out."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_empty(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        known = cls.model_fields
        return {key: value for key, value in data.items() if value is not None or key not in known}


def _local_url(known: dict[str, Any]) -> str:
    return f"http://localhost:{known['listen'].port}"


class ServerConfig(Section):
    """Where the gateway listens and under which names it is reached."""

    listen: ListenAddress = Listen("127.0.0.1", 8000)
    public_url: HttpUrl = Field(default_factory=_local_url)
    allowed_hosts: tuple[AllowedHost, ...] = ()
    """Host header values beside loopback and that of `public_url`."""
    allowed_origins: tuple[Origin, ...] = ()


class LimitsConfig(Section):
    """Bounds of every call; rates are per token, and 0 means none."""

    mcp_inline_max_bytes: Positive = 1_000_000
    request_max_bytes: Positive = 40_000_000
    requests_per_minute: NotNegative = 0
    sends_per_hour: NotNegative = 100
    moves_per_hour: NotNegative = 1000
    connect_seconds: Seconds = 10.0
    command_seconds: Seconds = 30.0
    inbox_seconds: Seconds = 10.0


class ConnectionConfig(Section):
    """What IMAP and SMTP have in common: a host, its TLS, and a login."""

    host: Host
    tls: Tls = Tls.SSL
    allow_insecure: bool = False
    """Permits `tls: none` to a host that is not this machine."""
    auth: Auth = Auth.PASSWORD
    password: HiddenText | None = None
    password_file: FilePath | None = None
    password_env: Line | None = None
    password_command: Argv | None = None
    token_file: FilePath | None = None
    token_command: Argv | None = None
    ca_file: FilePath | None = None
    """PEM certificates to trust instead of the system's."""
    certificate_sha256: CertificateHash | None = None
    """64 lower-case hex digits: the one certificate to accept, whoever signed it."""

    @property
    def credential(self) -> Credential | None:
        """Where the password or access token comes from; None where there is no login."""
        if self.password is not None:
            return InlineCredential(self.password)
        if self.password_env is not None:
            return EnvironmentCredential(self.password_env)
        file = self.password_file or self.token_file
        if file is not None:
            return FileCredential(file)
        command = self.password_command or self.token_command
        return None if command is None else CommandCredential(command)


def _imap_port(known: dict[str, Any]) -> int:
    return 993 if known["tls"] is Tls.SSL else 143


def _smtp_port(known: dict[str, Any]) -> int:
    return {Tls.SSL: 465, Tls.STARTTLS: 587, Tls.NONE: 25}[known["tls"]]


class ImapConfig(ConnectionConfig):
    """The server a mailbox is read from."""

    username: Line
    port: Port = Field(default_factory=_imap_port)
    connections: int = Field(default=3, ge=1, le=20)
    default_folder: Line = "INBOX"


class SmtpConfig(ConnectionConfig):
    """The server mail is handed to; without a username it is not logged in to."""

    username: Line | None = None
    port: Port = Field(default_factory=_smtp_port)


class FoldersConfig(Section):
    """Folders by name, where neither SPECIAL-USE (RFC 6154) nor known names find them."""

    sent: Line | None = None
    drafts: Line | None = None
    trash: Line | None = None


class WebhookConfig(Section):
    """Where to tell of new mail, and what its receiver may see."""

    name: Name
    url: HttpUrl
    secret_env: Line
    events: tuple[Line, ...]
    user: Name | None = None
    profile: Name | None = None
    unbound: bool = False
    ports: tuple[Port, ...] = ()
    allow_private: tuple[Line, ...] = ()


class MailboxConfig(Section):
    """One mailbox: how it is read, how it sends, and who its owner is."""

    name: Name
    description: str = ""
    address: AddressText | None = None
    identities: tuple[IdentityText, ...] = ()
    imap: ImapConfig | None = None
    smtp: SmtpConfig | None = None
    folders: FoldersConfig = FoldersConfig()
    files_sent_copy: Literal["auto", "yes", "no"] = "auto"
    """Whether the server itself keeps a copy of what is sent."""
    trusted_authserv_ids: tuple[Line, ...] = ()
    trusted_hops: Positive = 1
    internal_domains: tuple[Domain, ...] = ()
    watch: tuple[Line, ...] = ()
    webhooks: tuple[WebhookConfig, ...] = ()

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
    def fingerprint(self) -> bytes:
        """SHA-256 over these settings without any credential: what was sealed under others does not open."""
        hidden = {key: set(CREDENTIAL_KEYS) for key in ("imap", "smtp")}
        settings = self.model_dump(mode="json", exclude=hidden)
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()


class PolicyConfig(Section):
    """The sections of a policy; what stands in them is for the policy engine to say."""

    folders: Mapping[str, Any] = Field(default_factory=dict)
    messages: Mapping[str, Any] = Field(default_factory=dict)
    content: Mapping[str, Any] = Field(default_factory=dict)
    attachments: Mapping[str, Any] = Field(default_factory=dict)
    actions: Mapping[str, Any] = Field(default_factory=dict)
    outbound: Mapping[str, Any] = Field(default_factory=dict)
    limits: Mapping[str, Any] = Field(default_factory=dict)


class ProfileConfig(Section):
    """Which policy a token is bound to: one for all mailboxes, or one for each."""

    policy: Name | None = None
    policies: Mapping[str, Name] = Field(default_factory=dict)
    restrict: tuple[Name, ...] = ()


class TokenConfig(Section):
    """A token that the file knows by its hash; omitted scopes or mailboxes mean none."""

    name: Name
    token_hash: TokenHash
    """`sha256:` and 64 lower-case hex digits over the whole token."""
    toolset: Literal["mailbox", "relay"] = "mailbox"
    scopes: frozenset[Scope] = frozenset()
    mailboxes: frozenset[str] = frozenset()
    mailbox: str | None = None
    user: Name | None = None
    profile: Name | None = None


class ConfigFile(Section):
    """The whole file."""

    server: ServerConfig = ServerConfig()
    state_dir: FilePath = Field(default=Path("state"), validate_default=True)
    store: StoreChoice = "sqlite"
    limits: LimitsConfig = LimitsConfig()
    mailboxes: tuple[MailboxConfig, ...] = ()
    lists: Mapping[str, tuple[Line, ...]] = Field(default_factory=dict)
    ceiling: PolicyConfig = PolicyConfig()
    policies: Mapping[str, PolicyConfig] = Field(default_factory=dict)
    profiles: Mapping[str, ProfileConfig] = Field(default_factory=dict)
    tokens: tuple[TokenConfig, ...] = ()


class Config(ConfigFile):
    """The configuration a process runs with: the file, and what the command line said."""

    insecure_permissions: bool = False
    """Owner and mode of files are not looked at; only possible when listening on loopback."""

    def mailbox(self, name: str) -> MailboxConfig:
        """The mailbox of that name; KeyError if there is none."""
        for mailbox in self.mailboxes:
            if mailbox.name == name:
                return mailbox
        raise KeyError(name)
