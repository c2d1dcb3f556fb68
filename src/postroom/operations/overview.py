"""What a token can reach: its mailboxes, the addresses they send from, and how full they are."""

from __future__ import annotations

from pydantic import Field

from postroom.base.caller import Scope
from postroom.config import MailboxConfig
from postroom.mailbox.statistics import Statistics
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask, MailboxAsk
from postroom.operations.operation import READS, Call, operation
from postroom.operations.room import Room
from postroom.operations.rows import affordable, left_out, room_for

_ENVELOPE = 400
"""Characters of an answer beside its list."""


class MailboxEntry(Answer):
    """One mailbox as its token knows it; `imap` and `smtp` tell which side it has."""

    name: str
    description: str
    imap: bool
    smtp: bool
    address: str | None
    default_folder: str | None
    identities: list[str]
    left_out: dict[str, int] = Field(default_factory=dict)
    """Set only when a model is shown fewer identities than there are: how many are missing."""


class Mailboxes(Answer):
    mailboxes: list[MailboxEntry]
    left_out: int = 0
    """Set only when there are more mailboxes than a model is shown; each of them can still be named."""

    @property
    def entries(self) -> int:
        return self.own_entries + sum(mailbox.own_entries for mailbox in self.mailboxes)


@operation("GET /mailboxes", title="List mailboxes", effect=READS, access=Access(None))
async def mailboxes(call: Call, ask: Ask) -> Mailboxes:
    """Mailboxes this token can use, with their addresses. Call first."""
    visible = call.directory.visible(call.caller)
    for tight in (1, 2, 4, 8):
        entries = [_entry(settings, room_for(call, 1, tight=tight)) for settings in visible]
        kept = affordable(entries, _room(call))
        if kept == len(entries):
            break
    return Mailboxes(mailboxes=entries[:kept], **_left_out(len(entries) - kept))


def _entry(settings: MailboxConfig, room: Room) -> MailboxEntry:
    return MailboxEntry(
        name=settings.name,
        description=room.short(settings.description, 2_000),
        imap=settings.imap is not None,
        smtp=settings.smtp is not None,
        address=settings.own_address or None,
        default_folder=settings.imap.default_folder if settings.imap else None,
        identities=room.some("identities", settings.sender_identities),
        **left_out(room),
    )


def _room(call: Call) -> int | None:
    """Characters for what a list holds."""
    return None if call.budget is None else call.budget - _ENVELOPE


def _left_out(count: int) -> dict[str, int]:
    return {"left_out": count} if count else {}


class Identities(Answer):
    identities: list[str]
    left_out: int = 0
    """Set only when there are more than a model is shown."""


@operation("GET /mailboxes/{mailbox}/identities", title="List identities", effect=READS, access=Access(Scope.READ))
async def identities(call: Call, ask: MailboxAsk) -> Identities:
    """Addresses that mail can be sent from; *@domain means any address of that domain."""
    names = call.mailbox(ask.mailbox).identities
    kept = affordable(names, _room(call))
    return Identities(identities=list(names[:kept]), **_left_out(len(names) - kept))


class FolderCounts(Answer):
    """null where the server does not tell."""

    name: str
    messages: int | None
    unseen: int | None


class QuotaEntry(Answer):
    """null for what is not limited."""

    used_bytes: int | None
    limit_bytes: int | None
    used_messages: int | None
    limit_messages: int | None


class MailboxStats(Answer):
    folders: list[FolderCounts]
    left_out: int = 0
    """Set only when there are more folders than a model is shown."""
    quota: QuotaEntry | None


@operation("GET /mailboxes/{mailbox}/stats", title="Mailbox statistics", effect=READS, access=Access(Scope.READ))
async def mailbox_stats(call: Call, ask: MailboxAsk) -> MailboxStats:
    """Messages and unseen messages per folder, and the quota."""
    told = await call.mailbox(ask.mailbox).statistics()
    counts = [
        FolderCounts(name=folder.name, messages=count.messages, unseen=count.unseen) for folder, count in told.folders
    ]
    kept = affordable(counts, _room(call))
    return MailboxStats(folders=counts[:kept], quota=_quota(told), **_left_out(len(counts) - kept))


def _quota(told: Statistics) -> QuotaEntry | None:
    quota = told.quota
    if quota is None:
        return None
    return QuotaEntry(
        used_bytes=quota.used_bytes,
        limit_bytes=quota.limit_bytes,
        used_messages=quota.used_messages,
        limit_messages=quota.limit_messages,
    )
