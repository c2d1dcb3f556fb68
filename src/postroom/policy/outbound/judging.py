"""The judgement of an outgoing message: every part of every policy has its say, and the least of all counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from postroom.base.levels import Outcome
from postroom.policy.outbound import (
    correspondence,
    files,
    holding,
    loops,
    operations,
    quiethours,
    rates,
    recipients,
    untrusted,
    words,
)
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Judgement, Reason, judgement_of
from postroom.policy.outbound.plan import Operation, Plan, SendEvidence
from postroom.policy.outbound.rules import OutboundRules

Part = Callable[[Case, OutboundRules], Iterator[Reason]]
_OF_ALL: tuple[Part, ...] = (
    recipients.reasons,
    correspondence.reasons,
    operations.ceiling,
    operations.kind,
    words.reasons,
    files.reasons,
)
"""What is asked of drafts too."""
_OF_SENDING: tuple[Part, ...] = (
    loops.reasons,
    rates.reasons,
    quiethours.reasons,
    untrusted.reasons,
    holding.reasons,
)
"""What is asked of messages that are to go out."""


def judge(plan: Plan, evidence: SendEvidence, rules: Sequence[OutboundRules]) -> Judgement:
    """How a message of a bound token ends, at the most: the grant's rules first, then those that restrict it.

    Without any rules nothing is sent. What is only to be saved ends as a draft or is denied.
    """
    if not rules:
        return judgement_of([Reason("outbound", Outcome.DENY, "No policy lets mail be sent.")], Outcome.DENY)
    saving = plan.operation is Operation.SAVE
    parts = (*_OF_ALL, untrusted.note) if saving else _OF_ALL + _OF_SENDING
    return judgement_of(_said(Case(plan, evidence), rules, parts), Outcome.DRAFT if saving else Outcome.SEND)


def _said(case: Case, rules: Sequence[OutboundRules], parts: Sequence[Part]) -> Iterator[Reason]:
    for at, policy in enumerate(rules):
        for part in parts:
            yield from (replace(reason, policy=at) for reason in part(case, policy))
