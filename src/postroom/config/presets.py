"""The configuration that a newcomer begins with: one mailbox, and one of five policies for the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from postroom.base.caller import Scope

MAILBOX, PROFILE, USER = "main", "assistant", "me"
"""The names in the file that `init` writes."""
DEFAULT = "drafter"


@dataclass(frozen=True, slots=True)
class Preset:
    """A kind of agent: its policy is in the file of its name, the scopes of its token are here."""

    name: str
    scopes: tuple[Scope, ...]

    @property
    def text(self) -> str:
        """Policies and profiles as YAML, the first line saying what it is for."""
        return (files("postroom") / "presets" / f"{self.name}.yaml").read_text(encoding="utf-8")

    @property
    def purpose(self) -> str:
        """What it may do, in a sentence or two."""
        return self.text.partition("\n")[0].removeprefix("# ")


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("reader", (Scope.READ,)),
        Preset("triage", (Scope.READ, Scope.ORGANIZE)),
        Preset("drafter", (Scope.READ, Scope.DRAFT)),
        Preset("replier", (Scope.READ, Scope.DRAFT, Scope.SEND)),
        Preset("notifier", (Scope.SEND,)),
    )
}
"""None reads mail from outside and then sends to third parties without a person."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a mail server is."""

    host: str
    port: int | None = None
    """None is the usual port of TLS from the first octet."""

    @property
    def tls(self) -> Literal["ssl", "starttls"]:
        """As the port is used (RFC 8314): 25, 143 and 587 begin in the clear."""
        return "starttls" if self.port in (25, 143, 587) else "ssl"


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a newcomer was asked."""

    address: str
    username: str
    imap: Server
    smtp: Server
    password_key: Literal["password_file", "password_env"]
    password: str
    """The path, or the variable's name."""


def beginning(asked: Beginning, preset: Preset) -> str:
    """The text of a configuration file with this mailbox and this preset's policy."""
    return f"""\
# Postroom: who may see and do what in which mailbox. Every key is told of in docs/configuration.md.
# After a change: postroom doctor, then SIGHUP to postroom serve; server and mailboxes need a start anew.

server:
  listen: 127.0.0.1:8000    # this machine only; postroom serve answers here

mailboxes:
  - name: {MAILBOX}
    address: {_quoted(asked.address)}
    # Your organisation's own domains, never those of a public provider: who is internal to the policy.
    # internal_domains: [example.org]
    # The name of your provider's server in Authentication-Results: whose word on forged senders is believed.
    # trusted_authserv_ids: [mx.example.org]
    imap:
{_server(asked.imap, asked)}
    smtp:
{_server(asked.smtp, asked)}

{preset.text}"""


def _server(server: Server, asked: Beginning) -> str:
    port = "" if server.port is None else f"      port: {server.port}\n"
    return (
        f"      host: {_quoted(server.host)}\n{port}      tls: {server.tls}\n"
        f"      username: {_quoted(asked.username)}\n      {asked.password_key}: {_quoted(asked.password)}"
    )


def _quoted(text: str) -> str:
    """A string of JSON is one of YAML."""
    return json.dumps(text, ensure_ascii=False)
