"""The relay's sending: plain text, from the mailbox's own address, under the policy; what is denied is not stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, create_model

from postroom.base.errors import Code, GatewayError
from postroom.mail.outgoing.address import strict_address, unique
from postroom.mail.outgoing.model import Outgoing
from postroom.mailbox.judge import Purpose
from postroom.mailbox.outbox import Outbox
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask
from postroom.operations.delivery import Case, Delivery, claim
from postroom.operations.operation import SENDS, Call, operation
from postroom.operations.outgoing import People, digest

_Author = Annotated[str, Field(min_length=1, max_length=320, description="Your mailbox's address")]
_From = create_model("_From", **{"from": (_Author, ...)})  # type: ignore[call-overload]
"""A field whose name is a word of Python's own."""


class SendMessage(_From, Ask):
    to: Annotated[People, Field(min_length=1)]
    """Recipients, one or more."""
    subject: str
    """One line."""
    body: Annotated[str, Field(description="Plain text")]

    @property
    def author(self) -> str:
        return str(getattr(self, "from"))


class RelaySent(Answer):
    """A message that the mail server has taken."""

    outcome: str
    """accepted: the only one that is no error."""
    message_id: str
    to: list[str]
    warnings: list[str] = Field(default_factory=list)
    """Set only if there are any."""
    repeated: bool
    """The same message was sent a moment ago, and not again."""


def _recipients(ask: SendMessage) -> Mapping[str, Any]:
    return {"recipients": [one.address for one in unique(ask.to)]}


@operation(title="Send mail", effect=SENDS, access=Access(None), audited=_recipients)
async def send_message(call: Call, ask: SendMessage) -> RelaySent:
    """Send a plain-text message from your mailbox's address. It is delivered at once and cannot be undone.

    Recipients and content are checked first; what the policy denies is not sent. Do not repeat an unknown outcome.
    """
    outbox = call.outbox(None)
    outbox.check_can_send()
    sender = outbox.sender(None)
    _check_author(ask.author, outbox)

    async def meant(message_id: str) -> Outgoing:
        return Outgoing(
            from_=sender,
            to=unique(ask.to),
            cc=(),
            bcc=(),
            reply_to=(),
            subject=ask.subject,
            text=ask.body,
            html=None,
            files=(),
            message_id=message_id,
            date=call.now(),
        )

    print_ = digest(["send_message", outbox.name, ask.author, [str(one) for one in ask.to], ask.subject, ask.body])
    delivery = Delivery(call, outbox, claim(call, outbox, sender, print_, None), meant, case=Case(Purpose.SEND))
    sent = await delivery.once()
    return RelaySent(
        outcome=sent.outcome,
        message_id=sent.message_id,
        to=sent.to,
        **({"warnings": sent.warnings} if sent.warnings else {}),
        repeated=sent.repeated,
    )


def _check_author(given: str, outbox: Outbox) -> None:
    """Raises `invalid_identity` for any other address than the mailbox's own, whatever name goes with it."""
    own = outbox.identities.own
    try:
        said = strict_address(given)
    except ValueError:
        said = None
    if own is None or said is None or said.key != own.key:
        address = own.address if own else None
        message = f"from must be the mailbox's own address{f', {address}' if address else ''}."
        raise GatewayError(Code.INVALID_IDENTITY, message, argument="from", identities=[address] if address else [])
