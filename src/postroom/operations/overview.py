"""What a token can reach: its mailboxes."""

from __future__ import annotations

from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask
from postroom.operations.operation import READS, Call, operation


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
