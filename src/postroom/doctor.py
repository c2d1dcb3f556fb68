"""What `postroom doctor` says: what must be repaired, what is open, and what is excepted by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from pwd import struct_passwd

from postroom.base.files import FileFault, private_file, private_folder, weaknesses
from postroom.config import Config, Tls
from postroom.config.policies.exceptions import blind_rules, exceptions
from postroom.config.policies.hazards import hazards
from postroom.config.storeurl import StoreUrl
from postroom.config.values import is_loopback
from postroom.policy.trials import failures
from postroom.precautions import passwords_open_to_others, passwords_written_out
from postroom.store import tokens
from postroom.store.auditcheck import verify
from postroom.store.audithead import FILE_NAME as HEAD
from postroom.store.audithead import missing_head, read_head
from postroom.store.database import FILE_NAME as DATABASE
from postroom.store.database import Database
from postroom.store.tokens import TokenRecord
from postroom.store.worker import StoreError

_NO_SHELLS = ("nologin", "false", "")
_SKEW = timedelta(minutes=5)
_OLDEST = datetime(2026, 1, 1, tzinfo=UTC)
"""No Postroom ran before."""


class Weight(StrEnum):
    REPAIR = "To repair"
    WARNING = "Warning"
    DECLARED = "Excepted"
    """Somebody asked for it by its name."""


@dataclass(frozen=True, slots=True)
class Ailment:
    """Something to be told."""

    weight: Weight
    sentence: str

    def __str__(self) -> str:
        return f"{self.weight}: {self.sentence}"


def report(ailments: Iterable[Ailment]) -> tuple[list[str], bool]:
    """The lines, the weightiest first, and whether nothing must be repaired."""
    order = list(Weight)
    told = sorted(ailments, key=lambda one: order.index(one.weight))
    repairs, warnings = (sum(one.weight is weight for one in told) for weight in (Weight.REPAIR, Weight.WARNING))
    summary = f"{repairs} to repair, {warnings} to think about." if repairs or warnings else "All is well."
    return [*map(str, told), summary], not repairs


def of_policies(config: Config) -> Iterator[Ailment]:
    """What policies leave open, whom they cannot know, what they except, and tests of them that fail."""
    yield from (Ailment(Weight.REPAIR, f"{one}.") for one in failures(config))
    yield from (Ailment(Weight.WARNING, str(one)) for one in (*hazards(config), *blind_rules(config)))
    yield from (Ailment(Weight.DECLARED, sentence) for sentence in exceptions(config))


def of_secrets(config: Config) -> Iterator[Ailment]:
    """Where passwords stand and how they travel, and tokens of the file, which have no end."""
    for name in passwords_written_out(config):
        sentence = f"Mailbox {name} has its password in the configuration file; use password_file or another reference."
        yield Ailment(Weight.WARNING, sentence)
    for name in passwords_open_to_others(config):
        sentence = f"Others may read the password or token file of mailbox {name}; run chmod 600 on it."
        yield Ailment(Weight.REPAIR, sentence)
    for mailbox in config.mailboxes:
        for side, server in (("imap", mailbox.imap), ("smtp", mailbox.smtp)):
            if server is not None and server.tls is Tls.NONE and not is_loopback(server.host):
                sentence = f"Mailbox {mailbox.name} speaks {side} without TLS: mail and password go in the clear."
                yield Ailment(Weight.WARNING, sentence)
    if config.tokens:
        names = ", ".join(token.name for token in config.tokens)
        sentence = f"Tokens of the configuration file never expire ({names}); those of postroom token create do."
        yield Ailment(Weight.WARNING, sentence)


def of_store(store: str | StoreUrl) -> Iterator[Ailment]:
    """Whether the database's password stands in the file, and how it and all that is kept there travel."""
    if not isinstance(store, StoreUrl):
        return
    if store.has_password:
        sentence = "The store's password is in the configuration file; use PGPASSWORD or a passfile (PGPASSFILE)."
        yield Ailment(Weight.WARNING, sentence)
    if not (store.is_encrypted or store.is_on_this_machine):
        sentence = f"The store ({store}) may be spoken to without TLS; add ?sslmode=verify-full to its URL."
        yield Ailment(Weight.WARNING, sentence)


def of_files(config: Config, file: Path) -> Iterator[Ailment]:
    """Who else could read or change what the gateway keeps, and who could change its configuration."""
    faults = weaknesses(file, file.stat())
    for path in _kept(config):
        try:
            (private_folder if path.is_dir() else private_file)(path)
        except FileFault as fault:
            faults.append(fault)
    yield from (Ailment(Weight.REPAIR, f"{fault}.") for fault in faults)


def of_clock(config: Config, file: Path, now: datetime) -> Iterator[Ailment]:
    """A clock that was set back, or never set, by what was written before."""
    if now < _OLDEST:
        yield Ailment(Weight.REPAIR, f"The clock says {now:%Y-%m-%d}; set it, for ages and expiry rest on it.")
    for path in (file, *_kept(config)):
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if written - now > _SKEW:
            sentence = f"The clock says {now:%Y-%m-%d %H:%M}, and {path} was written at {written:%Y-%m-%d %H:%M} (UTC)."
            yield Ailment(Weight.REPAIR, f"{sentence} Set the clock: ages and expiry rest on it.")


def of_user(user: struct_passwd) -> Iterator[Ailment]:
    """Whoever runs a shell as the same user reads state, passwords and keys past every policy."""
    if user.pw_uid == 0:
        sentence = "Postroom runs as root; run it as a user of its own."
        yield Ailment(Weight.WARNING, sentence)
    elif os.path.basename(user.pw_shell) not in _NO_SHELLS:
        sentence = (
            f"Postroom runs as {user.pw_name}, who can log in: an agent with a shell as the same user reads passwords "
            "and mail past every policy. Run Postroom as a user of its own."
        )
        yield Ailment(Weight.WARNING, sentence)


async def of_state(config: Config, now: datetime) -> list[Ailment]:
    """Whether the audit trail is whole, and issued tokens that should not be as they are."""
    if config.store == "sqlite" and not (config.state_dir / DATABASE).exists():
        return []
    try:
        # `of_files` tells of permissions
        database = await Database.of(config.model_copy(update={"insecure_permissions": True}))
        try:
            issued = [one for record in await tokens.listing(database) for one in _of_token(record, config, now)]
            return [*issued, *await _of_audit(config, database)]
        finally:
            await database.close()
    except StoreError as failure:
        return [Ailment(Weight.REPAIR, f"{failure}.")]


async def _of_audit(config: Config, database: Database) -> list[Ailment]:
    head = read_head(config.state_dir)  # before the records: more may be added meanwhile, never fewer
    verdict = await verify(database, [head] if head else [])
    if head is None and verdict.records:
        return [Ailment(Weight.REPAIR, f"{missing_head(shared=database.is_shared)}.")]
    if verdict.findings:
        sentence = f"The audit trail is not whole, first at {verdict.findings[0]}; see postroom audit verify."
        return [Ailment(Weight.REPAIR, sentence)]
    return []


def _of_token(record: TokenRecord, config: Config, now: datetime) -> Iterator[Ailment]:
    if not record.live(now):
        return
    if record.expires is None:
        yield Ailment(Weight.WARNING, f"Token {record.name} never expires; issue one that does, and revoke it.")
    if record.profile is not None and record.profile not in config.profiles:
        sentence = f"Token {record.name} is bound to profile {record.profile}, which is no more; revoke it."
        yield Ailment(Weight.WARNING, sentence)


def _kept(config: Config) -> list[Path]:
    """What the gateway has written so far."""
    paths = (config.state_dir, config.state_dir / DATABASE, config.state_dir / HEAD)
    return [path for path in paths if path.exists()]
