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
from postroom.operations.rows import affordable

_ENVELOPE = 100
"""Characters of an answer beside its list."""


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
    left_out: int = 0
    """Set only when there are more mailboxes than a model is shown."""


@operation("GET /health/mailboxes", title="Check servers", effect=PROBES, access=Access(Scope.ADMIN))
async def health_check(call: Call, ask: Ask) -> HealthReport:
    """Connect and log in to every visible IMAP and SMTP server now, and tell what fails."""
    found = await call.directory.examine(call.caller)
    for error in (side for health in found for side in (health.imap, health.smtp) if side is not None):
        call.failed(error)
    told = [_told(health) for health in found]
    kept = affordable(told, call.budget and call.budget - _ENVELOPE)
    return HealthReport(mailboxes=told[:kept], **({"left_out": len(told) - kept} if kept < len(told) else {}))


def _told(health: Health) -> MailboxHealth:
    return MailboxHealth(
        mailbox=health.mailbox,
        imap=_side(health.imap) if health.has_imap else None,
        smtp=_side(health.smtp) if health.has_smtp else None,
    )


def _side(error: GatewayError | None) -> SideHealth:
    return SideHealth(ok=error is None, error=error.body()["error"] if error else None)
