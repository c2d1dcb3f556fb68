"""What the operator is warned of in the log: what a sound configuration leaves open all the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from postroom.base.files import exposure
from postroom.base.logs import Log
from postroom.config import Config, MailboxConfig
from postroom.config.policies.hazards import hazards
from postroom.config.storeurl import StoreUrl


def warn(config: Config, log: Log) -> None:
    """A line for each: names of mailboxes and profiles, and what it is; `postroom doctor` says what to do."""
    for name in passwords_written_out(config):
        log.warning("config.password_written_out", mailbox=name)
    if isinstance(config.store, StoreUrl) and config.store.has_password:
        log.warning("config.password_written_out", reason="store")
    for name in passwords_open_to_others(config):
        log.warning("config.password_readable_by_others", mailbox=name)
    for hazard in hazards(config):
        if hazard.profile is not None:
            log.warning("config.hazard", reason=hazard.key, profile=hazard.profile)
        elif hazard.mailbox is not None:
            log.warning("config.hazard", reason=hazard.key, mailbox=hazard.mailbox)


def passwords_written_out(config: Config) -> list[str]:
    """Mailboxes whose password stands in the configuration file itself, where a reference would be safer."""
    return [
        mailbox.name
        for mailbox in config.mailboxes
        if any(server is not None and server.password is not None for server in (mailbox.imap, mailbox.smtp))
    ]


def passwords_open_to_others(config: Config) -> list[str]:
    """Mailboxes of which a password, token or webhook's secret lies in a file that others on the machine can read."""
    return [
        mailbox.name
        for mailbox in config.mailboxes
        if any(file is not None and exposure(file, file.stat()) for file in _secret_files(mailbox))
    ]


def _secret_files(mailbox: MailboxConfig) -> Iterator[Path | None]:
    for server in (mailbox.imap, mailbox.smtp):
        yield from (server.password_file, server.token_file) if server is not None else ()
    for webhook in mailbox.webhooks:
        yield from (webhook.secret_file, webhook.previous_secret_file)
