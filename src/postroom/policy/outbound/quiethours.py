"""Whether it is a time at which nothing goes out without a person, by the clock of a place."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.rules import OutboundRules


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """Windows are of the clock on the wall: of an hour that comes twice, both lie in it, and one left out does not."""
    quiet = rules.quiet_hours
    if quiet is None:
        return
    local = case.evidence.now.astimezone(quiet.zone)
    minute = 60 * local.hour + local.minute
    if any(window.holds(local.weekday(), minute) for window in quiet.windows):
        sentence = f"It is a quiet hour in {quiet.zone.key}: nothing goes out now without a person."
        yield Reason("outbound.quiet_hours", quiet.action, sentence)
