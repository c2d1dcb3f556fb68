"""To whom a message may go by what passed between the two before: `reply_only`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from postroom.mail.outgoing.model import StrictAddress
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.plan import Plan, SendEvidence
from postroom.policy.outbound.recipients import about, bound_by_all
from postroom.policy.outbound.rules import Circle, OutboundRules

_RULE = "outbound.reply_only"
_NO_ANSWER = "Mail may only be sent to those who wrote before, so not to"
"""The same whether somebody never wrote, or wrote in mail that the caller may not see."""
_NOT_IN_THREAD = "Mail may only be sent as an answer, to those of its thread, so not to"


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """Correspondents are internal people, contacts, and who wrote in visible mail; whoever is unknown is none."""
    if rules.circle is Circle.OFF or not bound_by_all(case, rules):
        return
    if rules.circle is Circle.THREAD:
        strangers, words = case.beyond(thread=True, internal=False), _NOT_IN_THREAD
    else:
        strangers, words = tuple(one for one in case.recipients if not _is_known(one, case.evidence)), _NO_ANSWER
    if strangers:
        yield about(case, _RULE, strangers, words)


def asked_about(plan: Plan, rules: Iterable[OutboundRules], evidence: SendEvidence) -> tuple[StrictAddress, ...]:
    """Recipients of whom `SendEvidence.correspondents` must tell whether they wrote; none if no rule asks."""
    if not any(one.circle is Circle.CORRESPONDENT for one in rules):
        return ()
    return tuple(one for one in plan.outgoing.recipients if not _needs_no_letter(one, evidence))


def _is_known(address: StrictAddress, evidence: SendEvidence) -> bool:
    return _needs_no_letter(address, evidence) or evidence.correspondents.get(address.key) is True


def _needs_no_letter(address: StrictAddress, evidence: SendEvidence) -> bool:
    return evidence.internal.holds(address) or evidence.contacts.holds(address)
