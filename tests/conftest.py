"""What every test may ask for: a Dovecot with mail in it, and a gateway in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import stores
from tests.servers.dovecot import STRICT_HOST, Dovecot, running_dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.mail import FOLDERS, many, plain, secret_messages
from tests.servers.ports import refusing_port
from tests.servers.smtp import running_smtp

INBOX_SIZE = 2_000
ALL_SCOPES = "read, draft, organize, delete, send, admin"
TOKENS = {
    "all": (ALL_SCOPES, "work, down, strict, sending"),
    "read": ("read", "work, down, strict"),
    "work": ("read", "work"),
    "triage": ("read, draft, organize", "work"),
    "admin": ("admin", "work"),
    "none": ("", "work"),
    "nowhere": ("read", ""),
    "owner": (ALL_SCOPES, "private"),
}
"""Scopes and mailboxes of the shared gateway's tokens."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def dovecot() -> Iterator[Dovecot]:
    """A real server with the mail of `tests.servers.mail`."""
    with running_dovecot() as server:
        server.deliver("work", many(INBOX_SIZE))
        server.create("work", *(f'"{name}"' for name in FOLDERS))
        server.deliver("work", [plain("In a folder with an ampersand")], '"R&-D"')
        server.deliver("work", [plain("In a Japanese folder")], '"&ZeVnLIqe-"')
        server.deliver("work", [plain("In a quoted folder")], '"quo\\"te"')
        server.deliver("strict", [plain("Behind STARTTLS")])
        server.deliver("private", secret_messages())
        server.create("private", '"zanzibar-canary-7319"')
        server.deliver("private", secret_messages(), "Drafts")
        yield server


@pytest.fixture(scope="session")
def smtp_port(dovecot: Dovecot) -> Iterator[int]:
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem") as port:
        yield port


@pytest.fixture(scope="session")
def mailboxes(dovecot: Dovecot, smtp_port: int) -> str:
    """The `mailboxes:` of the shared gateway."""
    ca = dovecot.certificate
    return f"""
  - name: work
    description: Work mail
    address: ana@example.org
    identities: ["Ana <ana@example.org>", "*@ana.example"]
    imap: {{host: 127.0.0.1, port: {dovecot.tls_port}, username: work, password: correct-horse, ca_file: {ca}}}
    smtp: {{host: 127.0.0.1, port: {smtp_port}, tls: starttls, username: work, password: correct-horse, ca_file: {ca}}}
  - name: down
    imap: {{host: 127.0.0.1, port: {refusing_port()}, tls: none, username: down, password: correct-horse}}
    smtp: {{host: 127.0.0.1, port: {refusing_port()}, tls: none}}
  - name: strict
    imap: {{host: {STRICT_HOST}, port: {dovecot.port}, tls: starttls, username: strict, password: correct-horse,
            certificate_sha256: {dovecot.pin}}}
  - name: private
    description: zanzibar-canary-7319
    imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: private, password: correct-horse}}
  - name: sending
    smtp: {{host: 127.0.0.1, port: {smtp_port}, tls: starttls, username: work, password: wrong, ca_file: {ca}}}
"""


@pytest.fixture(scope="session")
def gateway(mailboxes: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One gateway for all tests that only read."""
    folder: Path = tmp_path_factory.mktemp("gateway")
    with running_gateway(folder, mailboxes, TOKENS) as running:
        yield running


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=stores.KINDS, default="sqlite", help="what gateways keep their books in")
    parser.addoption("--cases", help="a folder of cases to take through the product instead of the corpus")


def pytest_configure(config: pytest.Config) -> None:
    stores.choose(config.getoption("--store"))


def pytest_unconfigure() -> None:
    stores.end()
