"""How a message would end if it were sent, on what is supposed of the time before: for tests and explanations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from postroom.base.kleene import Truth
from postroom.mail.outgoing.compose import checked, compose
from postroom.mail.outgoing.model import Outgoing, StrictAddress
from postroom.policy.detectors import found
from postroom.policy.effective import Policy
from postroom.policy.outbound.compiling import Acquainted, way_out
from postroom.policy.outbound.files import with_files
from postroom.policy.outbound.judgement import Judgement, Reason
from postroom.policy.outbound.judging import judge
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.outbound.plan import Operation, Plan, SendEvidence

NOON = datetime(2000, 1, 5, 12, tzinfo=UTC)
"""A Wednesday: whether hours are quiet is asked of this moment unless another is supposed."""


@dataclass(frozen=True, slots=True)
class Supposed:
    """What nobody can look up here. Nothing was sent before, unless it says so."""

    wrote: tuple[StrictAddress, ...] = ()
    """Who wrote before, in mail that may be seen, and was answered."""
    has_read: bool = False
    """Mail from outside was read a moment ago."""
    was_draft: bool = False
    """It was saved as a draft by an earlier request."""
    now: datetime = NOON
    """Aware."""


def suppose(policy: Policy, outgoing: Outgoing, supposed: Supposed) -> Judgement:
    """The judgement of a message. Raises a `GatewayError` for one that could not be written."""
    outgoing = checked(outgoing)
    plan = Plan(
        outgoing,
        len(compose(outgoing)),
        Operation.SEND_DRAFT if supposed.was_draft else Operation.SEND,
        own_draft=supposed.was_draft,
    )
    rules, known = way_out(policy)
    return judge(with_files(plan), _evidence(known, outgoing.recipients, supposed), rules)


def _evidence(known: Acquainted, recipients: Iterable[StrictAddress], supposed: Supposed) -> SendEvidence:
    wrote = frozenset(one.key for one in supposed.wrote)
    correspondents: dict[str, Truth] = {one.key: one.key in wrote for one in recipients}
    return SendEvidence(
        now=supposed.now,
        internal=known.internal,
        own=known.own,
        contacts=known.contacts,
        secrets=OwnSecrets((), b""),
        detect=found,
        correspondents=correspondents,
        sent=(),
        written_to=wrote,
        untrusted_read=supposed.now if supposed.has_read else None,
        reads_known=True,
    )


def told(policy: Policy, reason: Reason) -> str:
    """The rule with the policy that it stands in, such as `support.outbound.mode`."""
    return f"{policy.parties[reason.policy]}.{reason.rule}"
