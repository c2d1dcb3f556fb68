"""What a token can reach: its mailboxes, the addresses they send from, and how full they are."""

from __future__ import annotations

from postroom.base.caller import Scope
from postroom.mailbox.statistics import Statistics
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask, MailboxAsk
from postroom.operations.operation import READS, Call, operation
from postroom.operations.rows import affordable


class MailboxEntry(Answer):
    """One mailbox as its token knows it; `imap` and `smtp` tell which side it has."""

    name: str
    description: str
    imap: bool
    smtp: bool
    address: str | None
    default_folder: str | None
    identities: list[str]


class Mailboxes(Answer):
    mailboxes: list[MailboxEntry]


@operation("GET /mailboxes", title="List mailboxes", effect=READS, access=Access(None))
async def mailboxes(call: Call, ask: Ask) -> Mailboxes:
    """Mailboxes this token can use, with their addresses. Call first."""
    return Mailboxes(
        mailboxes=[
            MailboxEntry(
                name=settings.name,
                description=settings.description,
                imap=settings.imap is not None,
                smtp=settings.smtp is not None,
                address=settings.own_address or None,
                default_folder=settings.imap.default_folder if settings.imap else None,
                identities=[str(identity) for identity in settings.identities],
            )
            for settings in call.directory.visible(call.caller)
        ]
    )


class Identities(Answer):
    identities: list[str]


@operation("GET /mailboxes/{mailbox}/identities", title="List identities", effect=READS, access=Access(Scope.READ))
async def identities(call: Call, ask: MailboxAsk) -> Identities:
    """Addresses that mail can be sent from; *@domain means any address of that domain."""
    return Identities(identities=list(call.mailbox(ask.mailbox).identities))


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
    kept = affordable(counts, call.budget)
    left_out = {"left_out": len(counts) - kept} if kept < len(counts) else {}
    return MailboxStats(folders=counts[:kept], quota=_quota(told), **left_out)


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
