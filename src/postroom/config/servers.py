"""The mail servers of a mailbox as the configuration file has them: where, by which TLS, and as whom."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from postroom.config.credential import (
    CommandCredential,
    Credential,
    EnvironmentCredential,
    FileCredential,
    InlineCredential,
)
from postroom.config.section import Section
from postroom.config.values import Argv, Auth, CertificateHash, FilePath, HiddenText, Host, Line, Port, Tls

CREDENTIAL_KEYS = (
    "password",
    "password_file",
    "password_env",
    "password_command",
    "token_file",
    "token_command",
)


class ConnectionConfig(Section):
    """What IMAP and SMTP have in common: a host, its TLS, and a login."""

    host: Host
    """Name or IP address of the server, which its certificate must be for."""
    tls: Tls = Tls.SSL
    """From the first octet (`ssl`), after STARTTLS, or not at all."""
    allow_insecure: bool = False
    """Permits `tls: none` to a host that is not this machine: the password goes in the clear."""
    auth: Auth = Auth.PASSWORD
    """With a password, or with an OAuth access token by one of two mechanisms."""
    password: HiddenText | None = None
    """The password itself; a reference is safer. Exactly one of these six keys is given, of the kind of `auth`."""
    password_file: FilePath | None = None
    """File that holds the password."""
    password_env: Line | None = None
    """Environment variable that holds the password."""
    password_command: Argv | None = None
    """Program that prints the password, with its arguments; run without a shell, for 5 seconds at most."""
    token_file: FilePath | None = None
    """File that holds the access token, read anew for each login."""
    token_command: Argv | None = None
    """Program that prints the access token, run anew for each login."""
    ca_file: FilePath | None = None
    """File of PEM certificates to trust instead of the system's."""
    certificate_sha256: CertificateHash | None = None
    """SHA-256 of the one certificate to accept, whoever signed it; `postroom check` tells it."""

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
    """993 with `tls: ssl`, else 143."""
    return 993 if known["tls"] is Tls.SSL else 143


def _smtp_port(known: dict[str, Any]) -> int:
    """465 with `tls: ssl`, 587 with `starttls`, 25 with `none`."""
    return {Tls.SSL: 465, Tls.STARTTLS: 587, Tls.NONE: 25}[known["tls"]]


class ImapConfig(ConnectionConfig):
    """The server a mailbox is read from."""

    username: Line
    """The login, often the whole address."""
    port: Port = Field(default_factory=_imap_port)
    """Where the server listens."""
    connections: int = Field(default=3, ge=1, le=20)
    """Connections to keep at most, from 1 to 20; one more listens while somebody waits for mail."""
    default_folder: Line = "INBOX"
    """Folder of calls that name none."""


class SmtpConfig(ConnectionConfig):
    """The server mail is handed to; without a username it is not logged in to."""

    username: Line | None = None
    """The login; without it mail is handed over without one."""
    port: Port = Field(default_factory=_smtp_port)
    """Where the server listens."""
