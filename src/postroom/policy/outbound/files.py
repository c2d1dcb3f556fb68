"""Which files may go with a message."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.base.levels import Outcome
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.rules import OutboundRules

_RULE = "outbound.attachments"


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """Each file must pass; one of which nothing is known does not."""
    known, given = case.plan.files, case.plan.outgoing.files
    if not known and not given:
        return
    if rules.files.mode is not Outcome.SEND:
        words = "Files may not be sent." if rules.files.mode is Outcome.DENY else "A message with files must wait."
        yield Reason(f"{_RULE}.mode", rules.files.mode, words)
    if len(known) < len(given) or not all(map(rules.files.passes, known)):
        sentence = "A file is of a kind or size that may not be sent, or there are too many."
        yield Reason(_RULE, Outcome.DENY, sentence)
