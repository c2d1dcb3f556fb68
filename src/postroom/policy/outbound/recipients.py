"""As whom and to whom a message may go."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.base.levels import Outcome
from postroom.mail.outgoing.model import StrictAddress
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.plan import Operation
from postroom.policy.outbound.rules import OutboundRules

_DERIVED = "a recipient that the answered message names"


def bound_by_all(case: Case, rules: OutboundRules) -> bool:
    """Whether every rule on recipients counts: not so where only a person can send what becomes of it."""
    operation = case.plan.operation
    for_a_person = operation is Operation.SAVE or (
        rules.mode is Outcome.DRAFT and operation is not Operation.SEND_DRAFT
    )
    return not (for_a_person and rules.draft_recipients_any)


def about(case: Case, rule: str, addresses: tuple[StrictAddress, ...], may_not: str) -> Reason:
    """A refusal because of these recipients, which names those that the caller supplied and no others."""
    named = case.plan.supplied(addresses)
    told = [*named, *([_DERIVED] if len(named) < len(addresses) else [])]
    return Reason(rule, Outcome.DENY, f"{may_not}: {', '.join(told)}.", named)


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """What `from` and `recipients` say."""
    sender = case.plan.outgoing.from_
    if any(one.key != sender.key and not case.evidence.own.holds(one) for one in case.plan.outgoing.reply_to):
        sentence = "Answers may only come back to the mailbox itself; leave reply_to out."
        yield Reason("outbound.from", Outcome.DENY, sentence)
    if rules.senders is not None and not rules.senders.holds(sender):
        yield Reason("outbound.from", Outcome.DENY, "The policy does not let mail be sent as this from.")
    yield from _number(case, rules)
    yield from _routed(case)
    yield from _refused(case, rules)
    if bound_by_all(case, rules):
        yield from _not_allowed(case, rules)


def _number(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    most = rules.recipients.most
    if most is not None and len(case.recipients) > most:
        sentence = f"At most {most} recipients may be named in one message."
        yield Reason("outbound.recipients.max", Outcome.DENY, sentence)
    if not rules.recipients.bcc and case.plan.outgoing.bcc:
        yield Reason("outbound.recipients.bcc", Outcome.DENY, "Blind copies may not be sent; leave bcc out.")


def _routed(case: Case) -> Iterator[Reason]:
    """A host before `!` (RFC 976): servers that know such routes send on what they take for their own domain's mail."""
    routed = tuple(one for one in case.recipients if "!" in one.local)
    if routed:
        yield about(
            case, "outbound.recipients.allow", routed, "A ! in an address may lead elsewhere, so no mail goes to"
        )


def _refused(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    deny = rules.recipients.deny
    refused = tuple(one for one in case.recipients if deny is not None and deny.holds(one))
    if refused:
        yield about(case, "outbound.recipients.deny", refused, "Mail may not be sent to")


def _not_allowed(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    allow, people = rules.recipients.allow, case.recipients
    strangers = tuple(one for one in people if allow is not None and not allow.holds(one))
    if strangers:
        yield about(case, "outbound.recipients.allow", strangers, "Mail may not be sent to")
    external = case.beyond(thread=False, internal=True)
    if rules.recipients.internal_only and external:
        yield about(case, "outbound.recipients.internal_only", external, "Mail may only stay inside, so not go to")
    if people and not rules.recipients.allows_self and all(map(case.evidence.own.holds, people)):
        sentence = "A message to nobody but the mailbox itself may not be sent."
        yield Reason("outbound.recipients.allow", Outcome.DENY, sentence, case.plan.supplied(people))
