"""The only place that clears a message for sending: as whom, to whom, and that its octets say just that."""

from __future__ import annotations

from postroom.base.errors import Code, GatewayError, invalid
from postroom.mail.outgoing.check import check
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import Cleared, Outgoing, StrictAddress


def clear(outgoing: Outgoing, octets: bytes, identities: Identities) -> Cleared:
    """The octets with leave to be sent, to the recipients that they and Bcc name. The policy of an unbound token.

    Raises `invalid_identity` for a sender that is none of the mailbox's, `validation_error` without any recipient, and
    `CompositionFault` for octets that are not the message: that is a fault of ours, and nothing is sent.
    """
    permit_sender(outgoing.from_, identities)
    if not outgoing.recipients:
        raise invalid("to", "give at least one address in to, cc or bcc")
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
