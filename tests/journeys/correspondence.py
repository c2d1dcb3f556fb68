"""A mailbox that can be written from: Dovecot and a real submission server behind one gateway, asked on one surface."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import Envelope

from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.smtp import Letterbox, running_smtp

Answer = dict[str, Any]
SURFACES = ("http", "mcp")
_USERS = itertools.count()
_TOKENS = {
    "all": ("read, draft, organize, delete, send, admin", "work"),
    "other": ("read, draft, send", "work"),
    "drafter": ("read, draft", "work"),
    "sender": ("send", "work"),
}
_ROUTES = {
    "send": ("POST", "/mailboxes/work/send"),
    "reply": ("POST", "/mailboxes/work/messages/{uid}/reply"),
    "list_drafts": ("GET", "/mailboxes/work/drafts"),
    "create_draft": ("POST", "/mailboxes/work/drafts"),
    "update_draft": ("PATCH", "/mailboxes/work/drafts/{uid}"),
    "delete_draft": ("DELETE", "/mailboxes/work/drafts/{uid}"),
    "send_draft": ("POST", "/mailboxes/work/drafts/{uid}/send"),
    "get_message": ("GET", "/mailboxes/work/messages/{uid}"),
    "list_messages": ("GET", "/mailboxes/work/messages"),
    "audit_log": ("GET", "/audit"),
}


@dataclass(frozen=True)
class Writer:
    """One user's mailbox; `letters` is what the submission server was given."""

    gateway: Gateway
    dovecot: Dovecot
    user: str
    letterbox: Letterbox
    surface: str = "http"

    @property
    def letters(self) -> Sequence[Envelope]:
        return self.letterbox.envelopes

    def ask(self, tool: str, token: str = "all", **arguments: Any) -> Answer:
        """The answer, or the error's body."""
        if self.surface == "mcp":
            return self.gateway.call(tool, arguments, token)
        method, route = _ROUTES[tool]
        path = route.format(uid=arguments.pop("uid")) if "{uid}" in route else route
        given = {"params": arguments} if method in ("GET", "DELETE") else {"json": arguments}
        with self.gateway.http(token) as client:
            return dict(client.request(method, path, **given).json())

    def octets(self, folder: str) -> list[bytes]:
        """The messages of a folder as they lie on the server, oldest first."""
        with self.dovecot.login(self.user) as client:
            client.select(folder)
            _, data = client.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[])")
        return [part[1] for part in data if isinstance(part, tuple)]

    def flags(self, folder: str, uid: str) -> str:
        with self.dovecot.login(self.user) as client:
            client.select(folder, readonly=True)
            _, data = client.uid("FETCH", uid.split("-")[0], "(FLAGS)")
        return str(data[0])


@contextlib.contextmanager
def writing(
    dovecot: Dovecot, folder: Path, surface: str = "http", *, limits: str = "", letterbox: Letterbox | None = None
) -> Iterator[Writer]:
    """A user of its own with an empty INBOX."""
    user = f"writing-{next(_USERS)}"
    letterbox = letterbox or Letterbox()
    dovecot.deliver(user, [])
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as port:
        ca = dovecot.certificate
        mailboxes = (
            "  - name: work\n"
            '    identities: ["Ana <ana@example.org>", "*@ana.example"]\n'
            f"    imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: {user}, password: {PASSWORD}}}\n"
            f"    smtp: {{host: 127.0.0.1, port: {port}, tls: starttls, username: work, password: {PASSWORD}, "
            f"ca_file: {ca}}}\n"
        )
        with running_gateway(folder, mailboxes, _TOKENS, limits) as gateway:
            yield Writer(gateway, dovecot, user, letterbox, surface)
