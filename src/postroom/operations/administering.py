"""What an operator asks of the running gateway."""

from __future__ import annotations

from typing import Any

from postroom.base.caller import Scope
from postroom.base.errors import GatewayError
from postroom.mailbox.health import Health
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask
from postroom.operations.operation import PROBES, Call, operation


class SideHealth(Answer):
    """One side of a mailbox: `ok`, and the fault if it is not."""

    ok: bool
    error: dict[str, Any] | None


class MailboxHealth(Answer):
    """A side that is not configured is null."""

    mailbox: str
    imap: SideHealth | None
    smtp: SideHealth | None


class HealthReport(Answer):
    mailboxes: list[MailboxHealth]


@operation("GET /health/mailboxes", title="Check servers", effect=PROBES, access=Access(Scope.ADMIN))
async def health_check(call: Call, ask: Ask) -> HealthReport:
    """Connect and log in to every visible IMAP and SMTP server now, and tell what fails."""
    found = await call.directory.examine(call.caller)
    return HealthReport(mailboxes=[_told(health) for health in found])


def _told(health: Health) -> MailboxHealth:
    return MailboxHealth(
        mailbox=health.mailbox,
        imap=_side(health.imap) if health.has_imap else None,
        smtp=_side(health.smtp) if health.has_smtp else None,
    )


def _side(error: GatewayError | None) -> SideHealth:
    return SideHealth(ok=error is None, error=error.body()["error"] if error else None)
