"""A directory of mailboxes in the test's own event loop, without a gateway around it."""

from __future__ import annotations

from collections.abc import Mapping

from postroom.base.caller import Caller, Scope
from postroom.base.clock import Clock
from postroom.base.logs import Log
from postroom.base.seal import KeyRing, Seal
from postroom.config import LimitsConfig, MailboxConfig
from postroom.mailbox.directory import Directory
from postroom.mailbox.wiring import open_mailboxes
from tests.servers.dovecot import PASSWORD

SEAL = Seal(KeyRing(0, {0: bytes(32)}))


def directory_of(
    ports: Mapping[str, int],
    clock: Clock,
    *,
    inbox_seconds: float = 10.0,
    users: Mapping[str, str] | None = None,
    log: Log | None = None,
    host: str = "127.0.0.1",
    command_seconds: float = 20.0,
) -> Directory:
    """Mailboxes by name at these ports of this machine, without TLS; the user is named like the mailbox if not told."""
    limits = LimitsConfig(connect_seconds=10.0, command_seconds=command_seconds)
    mailboxes = [
        MailboxConfig.model_validate(
            {
                "name": name,
                "imap": {
                    "host": host,
                    "port": str(port),
                    "tls": "none",
                    "username": (users or {}).get(name, name),
                    "password": PASSWORD,
                },
            }
        )
        for name, port in ports.items()
    ]
    entries = open_mailboxes(mailboxes, limits, clock)
    return Directory(entries, SEAL, clock, inbox_seconds, log=log)


def reader_of(*mailboxes: str) -> Caller:
    return Caller("tester", frozenset({Scope.READ}), frozenset(mailboxes))
