"""A gateway with bound tokens before a mailbox on Dovecot, and a submission server that keeps what it is given."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from postroom.base.clock import Clock
from postroom.base.token import mint, token_hash
from tests.servers import stores
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, gateway_thread
from tests.servers.smtp import Letterbox, running_smtp

Answer = dict[str, Any]
_USERS = itertools.count()


@dataclass(frozen=True)
class Post:
    """One user's mailbox `work` behind a gateway; `token` of each call is the relay's if none is named."""

    gateway: Gateway
    dovecot: Dovecot
    user: str
    letterbox: Letterbox

    def ask(self, tool: str, token: str = "relay", **arguments: Any) -> Answer:
        """The answer, or the error's body."""
        return self.gateway.call(tool, arguments, token)

    def subjects(self, folder: str = "INBOX", token: str = "relay", **more: Any) -> list[str]:
        return [row.get("subject", "") for row in self.ask("list_messages", token, folder=folder, **more)["messages"]]


@dataclass(frozen=True)
class Wanted:
    """Policies and more as YAML; tokens by name as YAML of their fields without name and hash."""

    policies: str
    tokens: Mapping[str, str] = field(default_factory=dict)
    more: str = ""
    mailbox: str = ""


RELAY = {"relay": "toolset: relay, user: ana, mailbox: work, profile: desk"}


def configuration(
    wanted: Wanted, dovecot: Dovecot, smtp_port: int, user: str, known: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """The configuration file's text, and the tokens by name; those that are known stay as they are."""
    ca = dovecot.certificate
    minted = {name: known.get(name) or mint().text.reveal() for name in {**RELAY, **wanted.tokens}}
    tokens = [
        f"  - {{name: {name}, token_hash: '{token_hash(minted[name])}', {fields}}}"
        for name, fields in {**RELAY, **wanted.tokens}.items()
    ]
    text = (
        f"""
server: {{listen: '127.0.0.1:0', public_url: 'http://localhost:8000'}}
mailboxes:
  - name: work
    address: ana@corp.example
    identities: [Ana <ana@corp.example>]
    internal_domains: [corp.example]
    trusted_authserv_ids: [mx.corp.example]
    imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: {user}, password: {PASSWORD}}}
    smtp: {{host: 127.0.0.1, port: {smtp_port}, tls: starttls, username: work, password: {PASSWORD}, ca_file: {ca}}}
    {wanted.mailbox}
{wanted.more}
policies:
{wanted.policies}
profiles:
  desk: {{policy: desk}}
tokens:
"""
        + "\n".join(tokens)
        + "\n"
    )
    return text, minted


@contextlib.contextmanager
def post(
    folder: Path, dovecot: Dovecot, wanted: Wanted, clock: Clock | None = None, before: Post | None = None
) -> Iterator[Post]:
    """A gateway over a new mailbox, or over that of a gateway that ran before in the same folder."""
    user = before.user if before else f"post-{next(_USERS)}"
    known = before.gateway.tokens if before else {}
    dovecot.deliver(user, [])
    letterbox = Letterbox()
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as port:
        text, tokens = configuration(wanted, dovecot, port, user, known)
        file = folder / "postroom.yaml"
        file.write_text(f"{text}{stores.setting_of(folder / 'state')}\n")
        file.chmod(0o600)
        with gateway_thread(file, tokens, clock) as gateway:
            yield Post(gateway, dovecot, user, letterbox)
