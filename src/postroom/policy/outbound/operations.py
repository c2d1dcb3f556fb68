"""What kind of sending is allowed at all: its ceiling, answers to all, forwarding, and drafts first."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.base.levels import Outcome
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.plan import Operation
from postroom.policy.outbound.rules import Forwarding, OutboundRules

_WORDS = {
    Outcome.DENY: "Nothing may be sent.",
    Outcome.DRAFT: "Messages are saved as drafts, for a person to send.",
    Outcome.HOLD: "Every message waits for a person.",
}


def ceiling(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """What `mode` says, and `require_draft` of a message that is to go out."""
    saving = case.plan.operation is Operation.SAVE
    if rules.mode < (Outcome.DRAFT if saving else Outcome.SEND):
        yield Reason("outbound.mode", rules.mode, _WORDS[rules.mode])
    if rules.require_draft and not case.plan.own_draft and not saving:
        sentence = "Only a draft that was saved before may be sent: save it with create_draft, then use send_draft."
        yield Reason("outbound.require_draft", Outcome.DENY, sentence)


def kind(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """What `reply_all` and `forward` say."""
    operation = case.plan.operation
    if operation is Operation.REPLY_ALL and rules.reply_all is not Outcome.SEND:
        denied = rules.reply_all is Outcome.DENY
        words = "All may not be answered; answer the sender." if denied else "An answer to all must wait."
        yield Reason("outbound.reply_all", rules.reply_all, words)
    if operation is Operation.FORWARD and rules.forward is Forwarding.DENY:
        yield Reason("outbound.forward", Outcome.DENY, "Mail may not be forwarded.")
    if operation is Operation.FORWARD_RAW and rules.forward is not Forwarding.RAW:
        words = "Mail may not be forwarded as it came; forward what you may read of it."
        yield Reason("outbound.forward", Outcome.DENY, words)
