"""The only place that clears a message for sending: as whom, to whom, and that its octets say just that."""

from __future__ import annotations

from postroom.base.errors import Code, GatewayError, invalid
from postroom.base.levels import Outcome
from postroom.mail.outgoing.check import check
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import Cleared, Outgoing, StrictAddress
from postroom.policy.outbound.judgement import Judgement


def check_sendable(outgoing: Outgoing, identities: Identities) -> None:
    """Raises `invalid_identity` for a sender that is none of the mailbox's, `validation_error` without recipients."""
    permit_sender(outgoing.from_, identities)
    if not outgoing.recipients:
        raise invalid("to", "give at least one address in to, cc or bcc")


def clear(outgoing: Outgoing, octets: bytes, identities: Identities, judgement: Judgement | None = None) -> Cleared:
    """The octets with leave to be sent, to the recipients that they and Bcc name.

    `judgement` is what the policy of a bound token says of this message; None is for an unbound one. Raises as
    `check_sendable` does, and `CompositionFault` for octets that are not the message, ValueError for one that is not
    judged to be sent: these two are faults of ours, and nothing is sent.
    """
    if judgement is not None and judgement.outcome is not Outcome.SEND:
        raise ValueError("a message that is not judged to be sent is not cleared")
    check_sendable(outgoing, identities)
    check(octets, outgoing)
    return Cleared(
        sender=outgoing.from_.address,
        recipients=tuple(one.address for one in outgoing.recipients),
        octets=octets,
        message_id=outgoing.message_id,
        needs_utf8=outgoing.needs_utf8,
    )


def permit_sender(sender: StrictAddress, identities: Identities) -> None:
    """Raises `invalid_identity`, telling the identities there are, unless mail may be sent as this address."""
    if not identities.allows(sender):
        message = "from must be one of the mailbox's identities; details lists them."
        raise GatewayError(Code.INVALID_IDENTITY, message, argument="from", identities=list(identities.listed))
