"""The way out of a mailbox: one attempt to hand over a cleared message, and its end in the caller's terms."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from postroom.base.errors import Code, GatewayError
from postroom.mail.outgoing.model import Cleared
from postroom.mailbox.faults import smtp_error
from postroom.smtp import Accepted, Refusal, Rejected, SmtpFault, Submitter, Unknown

_REFUSED = {
    "sender": ("sender_refused", "the server refused the sender"),
    "recipients": ("recipients_refused", "the server refused recipients"),
    "data": ("message_refused", "the server refused the message"),
    "message": ("message_refused", "the server refused the message"),
}


@dataclass(frozen=True, slots=True)
class Taken:
    """The server has the message for `recipients`; `refused` are those it goes to nothing for, as answers tell them."""

    recipients: tuple[str, ...]
    refused: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, accepted: Accepted) -> Taken:
        return cls(accepted.recipients, tuple(map(refusal_row, accepted.refused)))


BeforeMessage = Callable[[Taken], Awaitable[None]]
"""Awaited right before the first octet of a message is written, with what it comes to if the server takes it."""


async def hand_over(
    submitter: Submitter,
    mailbox: str,
    cleared: Cleared,
    *,
    partial: bool,
    before_message: BeforeMessage,
) -> Taken:
    """Hand over the message, once. What is answered is the only success: the server has it, for `recipients`.

    `partial` and `before_message` as in `Submitter.submit`. Raises `smtp_error` or `too_large` with `details`
    {outcome, retryable, message_id, reason, smtp_code, enhanced_code, refused}: outcome `rejected` if the server
    certainly does not have the message, `unknown` if nobody knows. There are codes only where the server gave them.
    """
    try:
        outcome = await submitter.submit(
            cleared, partial=partial, before_message=lambda expected: before_message(Taken.of(expected))
        )
    except SmtpFault as fault:
        raise _unsent(fault, mailbox, cleared.message_id) from fault
    if isinstance(outcome, Rejected):
        raise _rejected(outcome, mailbox, cleared.message_id)
    if isinstance(outcome, Unknown):
        raise unknown_outcome(mailbox, cleared.message_id, outcome.reason)
    return Taken.of(outcome)


def _unsent(fault: SmtpFault, mailbox: str, message_id: str) -> GatewayError:
    told = smtp_error(fault, mailbox)
    code = Code.TOO_LARGE if fault.reason == "too_large" else told.code
    return GatewayError(code, told.message, **told.details, outcome="rejected", message_id=message_id)


def _rejected(outcome: Rejected, mailbox: str, message_id: str) -> GatewayError:
    reason, what = _REFUSED[outcome.stage]
    codes = " ".join(str(one) for one in (outcome.code, outcome.enhanced) if one)
    advice = "it may take it later: try again" if outcome.temporary else "the same message will be refused again"
    details: dict[str, Any] = {"mailbox": mailbox, "reason": reason, "outcome": "rejected", "message_id": message_id}
    details |= {"retryable": outcome.temporary, "smtp_code": outcome.code, "enhanced_code": outcome.enhanced}
    if outcome.refused:
        details["refused"] = [refusal_row(one) for one in outcome.refused]
    return GatewayError(Code.SMTP_ERROR, f"Mailbox {mailbox}: {what} ({codes}), nothing was sent; {advice}.", **details)


def unknown_outcome(
    mailbox: str, message_id: str, reason: str | None = None, *, repeated: bool = False
) -> GatewayError:
    """What is told of a message that the server may have, each time that somebody asks."""
    message = (
        f"Mailbox {mailbox}: the message was handed over, but the server's answer did not come; "
        "it may have been sent. Do not send it again; look in Sent for its Message-ID."
    )
    details: dict[str, Any] = {"mailbox": mailbox, "outcome": "unknown", "retryable": False, "message_id": message_id}
    details |= ({"reason": reason} if reason else {}) | ({"repeated": True} if repeated else {})
    return GatewayError(Code.SMTP_ERROR, message, **details)


def refusal_row(one: Refusal) -> dict[str, Any]:
    """A refused recipient as answers and errors tell it."""
    row = {"address": one.address, "code": one.code, "enhanced": one.enhanced, "temporary": one.temporary}
    return {key: value for key, value in row.items() if value is not None}
