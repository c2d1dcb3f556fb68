"""Whom an answer goes to under a policy: where Reply-To may lead is the operator's to say, not the sender's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from postroom.mail.model import Field, Head, Threading
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import StrictAddress
from postroom.mail.outgoing.organisation import organisational_domain
from postroom.mail.outgoing.replying import Reply, derive_reply
from postroom.policy.outbound.rules import OutboundRules, ReplyTo
from postroom.policy.people import Named, named_in


@dataclass(frozen=True, slots=True)
class PolicyReply:
    """An answer's recipients, which the policy has still to judge, and what was noticed about them."""

    reply: Reply
    derived: frozenset[str]
    """Keys of its recipients."""
    reply_to_differs: bool
    """There is a Reply-To of others than the sender's organisation, or one that cannot be read."""


def reply_under(
    head: Head,
    identities: Identities,
    rules: Sequence[OutboundRules],
    *,
    everyone: bool,
    threading: Threading | None = None,
) -> PolicyReply:
    """As `derive_reply`, with the Reply-To left out of consideration unless every policy lets it be followed."""
    follows = min((one.reply_to for one in rules), default=ReplyTo.NEVER)
    differs = _differs(head)
    if follows is ReplyTo.NEVER or (follows is ReplyTo.SAME_DOMAIN and differs):
        head = replace(head, reply_to=(), fields=tuple(one for one in head.fields if not _is(one, "reply-to")))
    reply = derive_reply(head, identities, everyone=everyone, threading=threading)
    return PolicyReply(reply, frozenset(one.key for one in (*reply.to, *reply.cc)), differs)


def _differs(head: Head) -> bool:
    """Also where anything about it is doubtful: several fields, names that cannot be read, several organisations."""
    answered, senders = _named(head, "reply-to"), _named(head, "from")
    if not any(_is(one, "reply-to") for one in head.fields):
        return False
    if any(field.unreadable or not field.addresses for field in (*answered, *senders)) or len(answered) != 1:
        return True
    owners = {_owner(one) for field in (*answered, *senders) for one in field.addresses}
    return len(owners) != 1 or None in owners


def _named(head: Head, name: str) -> list[Named]:
    return [named_in(one.value) for one in head.fields if _is(one, name)]


def _owner(address: StrictAddress) -> str | None:
    return organisational_domain(address.domain)


def _is(field: Field, name: str) -> bool:
    return field.name.lower() == name
