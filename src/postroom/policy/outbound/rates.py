"""How much was sent before, in windows that slide with the clock, and whether there is room for this message."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from postroom.base.kleene import Truth
from postroom.base.levels import Outcome
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.plan import SentRecord
from postroom.policy.outbound.rules import OutboundRules, Quantity, RateLimit


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """Every limit must have room; without records there is none."""
    for limit in rules.rates:
        if exceeds(case, limit) is not False:
            yield Reason(limit.rule, Outcome.DENY, f"{_told(limit)}; try again later.")


def exceeds(case: Case, limit: RateLimit) -> Truth:
    """Whether the sum with this message is more than the limit; None if it cannot be told."""
    total = _total(case, limit.quantity, limit.window)
    return None if total is None else total > limit.most


def within(case: Case, window: timedelta) -> tuple[SentRecord, ...] | None:
    """What was sent less than so long ago; a record from the future, by a clock set back, counts too."""
    evidence = case.evidence
    if evidence.sent is None:
        return None
    return tuple(one for one in evidence.sent if evidence.now - one.at < window)


def _total(case: Case, quantity: Quantity, window: timedelta) -> int | None:
    records, new = within(case, window), case.new_recipients
    if records is None:
        return None
    match quantity:
        case "messages":
            return len(records) + 1
        case "recipients":
            return sum(len(one.recipients) for one in records) + len(case.recipients)
        case "new_recipients":
            return None if new is None else sum(one.new_recipients for one in records) + new
        case "bytes":
            return sum(one.octets for one in records) + case.plan.octets
        case "same_recipient":
            return _most_to_one(case, records)


def _most_to_one(case: Case, records: tuple[SentRecord, ...]) -> int:
    counts = [sum(one.key in record.recipients for record in records) for one in case.recipients]
    return max(counts, default=0) + 1


_UNITS = {timedelta(minutes=1): "a minute", timedelta(hours=1): "an hour", timedelta(days=1): "a day"}
_THINGS: dict[Quantity, str] = {
    "messages": "messages",
    "recipients": "recipients",
    "new_recipients": "new recipients",
    "bytes": "octets",
    "same_recipient": "messages to one recipient",
}


def _told(limit: RateLimit) -> str:
    return f"At most {limit.most:,} {_THINGS[limit.quantity]} {_UNITS.get(limit.window, 'in a while')} are let through"
