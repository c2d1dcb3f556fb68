"""What may still be sent after something from outside was read: `after_untrusted_read`."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.base.levels import Outcome
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.rules import OutboundRules, UntrustedReads

_SENTENCE = "Mail from outside was read shortly before: a message to others than its thread or colleagues must wait."


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """Recipients that are not excepted hold the message back, also where it is unknown what was read."""
    rule = rules.untrusted
    if rule is None or not _was_read(case, rule):
        return
    if case.beyond(thread=rule.except_thread, internal=rule.except_internal):
        yield Reason("outbound.after_untrusted_read", rule.action, _SENTENCE)


def note(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """For the audit of a draft, which stays where it is until a person sends it."""
    if any(True for _ in reasons(case, rules)):
        yield Reason("drafted_after_untrusted_read", Outcome.SEND, "Mail from outside was read shortly before.")


def _was_read(case: Case, rule: UntrustedReads) -> bool:
    evidence = case.evidence
    if not evidence.reads_known:
        return True
    return evidence.untrusted_read is not None and evidence.now - evidence.untrusted_read < rule.window
