"""Whether each mailbox's servers can be reached and let us in, found out by trying."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from postroom.base.errors import GatewayError
from postroom.mailbox.entry import Entry
from postroom.mailbox.faults import smtp_error
from postroom.smtp import SmtpFault


@dataclass(frozen=True, slots=True)
class Health:
    """None for a side that works or is not configured."""

    mailbox: str
    imap: GatewayError | None
    smtp: GatewayError | None
    has_imap: bool
    has_smtp: bool


async def examine(entries: Sequence[Entry]) -> list[Health]:
    """All mailboxes at once; each within its own deadlines."""
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(_examine(entry)) for entry in entries]
    return [task.result() for task in running]


async def _examine(entry: Entry) -> Health:
    async with asyncio.TaskGroup() as tasks:
        imap = tasks.create_task(_imap(entry))
        smtp = tasks.create_task(_smtp(entry))
    has_imap, has_smtp = entry.account is not None, entry.submitter is not None
    return Health(entry.settings.name, imap.result(), smtp.result(), has_imap, has_smtp)


async def _imap(entry: Entry) -> GatewayError | None:
    try:
        if entry.account is not None:
            await entry.account.probe()
    except GatewayError as error:
        return error
    return None


async def _smtp(entry: Entry) -> GatewayError | None:
    try:
        if entry.submitter is not None:
            await entry.submitter.probe()
    except SmtpFault as fault:
        return smtp_error(fault, entry.settings.name)
    return None
