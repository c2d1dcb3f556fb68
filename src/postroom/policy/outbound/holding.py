"""The conditions that hold a message until a person has looked: `hold_when`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

from postroom.base.kleene import Truth, all_of, any_of
from postroom.base.levels import Outcome
from postroom.config.policies.matching import TextPattern
from postroom.config.policies.outbound import HoldConfig, RollingConfig
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.rates import exceeds
from postroom.policy.outbound.rules import HoldRule, OutboundRules, Quantity, RateLimit
from postroom.policy.textpatterns import compile_texts

Condition = Callable[[Case], Truth]
_PER = {"1h": timedelta(hours=1), "1d": timedelta(days=1), "7d": timedelta(days=7)}
_SUMS: tuple[Quantity, ...] = ("messages", "recipients", "new_recipients", "bytes")
_SENTENCES = {
    "external": "it goes outside",
    "new_recipient": "it goes to somebody new",
    "recipients_over": "it goes to many",
    "attachments": "it has files",
    "detector": "of what it seems to hold",
    "pattern": "of what it says",
    "links": "it has links",
    "subject": "of its subject",
    "rolling": "much was sent before it",
    "always": "every message does",
}


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """An element holds if all of its conditions do; what is unknown holds too."""
    for at, hold in enumerate(rules.holds):
        if all_of(condition(case) for condition in hold.conditions) is not False:
            yield Reason(f"outbound.hold_when[{at}]", Outcome.HOLD, hold.sentence)


def compile_hold(config: HoldConfig, scan_chars: int) -> HoldRule:
    """All keys of the element must hold."""
    said = [_SENTENCES[key] for key in _SENTENCES if getattr(config, key) is not None]
    return HoldRule(
        (*_conditions(config), *_textual(config, scan_chars)),
        f"The message waits for a person, because {' and '.join(said)}.",
    )


def _conditions(config: HoldConfig) -> Iterator[Condition]:
    """Those that ask for numbers, and for what there is."""
    if config.external is not None:
        yield _is(lambda case: bool(case.beyond(thread=False, internal=True)), config.external)
    if config.new_recipient is not None:
        yield _is(_has_new_recipient, config.new_recipient)
    if config.recipients_over is not None:
        most = config.recipients_over
        yield lambda case: len(case.recipients) > most
    if config.attachments is not None:
        yield _is(lambda case: bool(case.plan.files or case.plan.outgoing.files), config.attachments)
    if config.links is not None:
        yield _is(lambda case: bool(case.hosts), config.links)
    if config.rolling is not None:
        limit = _limit(config.rolling)
        yield lambda case: exceeds(case, limit)
    if config.always is not None:
        yield _is(lambda case: True, config.always)


def _textual(config: HoldConfig, scan_chars: int) -> Iterator[Condition]:
    """Those that look through what the message says."""
    if config.detector is not None:
        names = config.detector
        yield lambda case: any_of(case.found(names, scan_chars).values())
    if config.pattern is not None:
        yield _fits(config.pattern, scan_chars, lambda case: case.scanned)
    if config.subject is not None:
        yield _fits(config.subject, scan_chars, lambda case: (case.plan.outgoing.subject,))


def _is(condition: Callable[[Case], Truth], wanted: bool) -> Condition:
    def test(case: Case) -> Truth:
        truth = condition(case)
        return None if truth is None else truth is wanted

    return test


def _has_new_recipient(case: Case) -> Truth:
    return None if case.new_recipients is None else case.new_recipients > 0


def _fits(patterns: tuple[TextPattern, ...], scan_chars: int, pieces: Callable[[Case], tuple[str, ...]]) -> Condition:
    test = compile_texts(patterns, scan_chars)
    return lambda case: any_of(map(test.fits, pieces(case)))


def _limit(config: RollingConfig) -> RateLimit:
    quantity = next(one for one in _SUMS if getattr(config, one) is not None)
    return RateLimit("outbound.hold_when", quantity, getattr(config, quantity), _PER[config.per])
