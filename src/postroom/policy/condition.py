"""A compiled condition on a message, and how conditions are put together (POLICY: all, any, not)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from postroom.base.kleene import Truth, all_of, any_of, negation
from postroom.mail.signals import Household
from postroom.policy.evidence import Evidence
from postroom.policy.people import People

Test = Callable[[Evidence], Truth]


@dataclass(frozen=True, slots=True)
class Condition:
    """What is asked of a message, and what must be at hand to answer."""

    test: Test
    fields: frozenset[str] = frozenset()
    """Header fields that are looked at, lower case."""
    needs_body: bool = False
    detectors: frozenset[str] = frozenset()
    """Names of detectors that must have looked."""
    asks_records: bool = False
    """It asks what the gateway's records and other mail tell."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the words of a rule mean where it stands."""

    people: People
    scan_chars: int
    tags: bool
    """The rule, or this part of it, restricts: `bob@x` is also `bob+anything@x`."""
    internal_without_dmarc: bool
    trusts_results: bool
    """The mailbox trusts some server's Authentication-Results."""
    household: Household
    """Who belongs to the mailbox, for the signs by which a sender may deceive."""


def every(conditions: Iterable[Condition]) -> Condition:
    """All of them hold."""
    return _joined(tuple(conditions), all_of)


def some(conditions: Iterable[Condition]) -> Condition:
    """At least one of them holds."""
    return _joined(tuple(conditions), any_of)


def opposite(condition: Condition) -> Condition:
    """It does not hold; what is unknown stays so."""
    test = condition.test
    return _with(lambda evidence: negation(test(evidence)), (condition,))


def wanted(condition: Condition, value: bool) -> Condition:
    """It holds, or with False it does not."""
    return condition if value else opposite(condition)


def _joined(conditions: tuple[Condition, ...], join: Callable[[Iterable[Truth]], Truth]) -> Condition:
    tests = tuple(condition.test for condition in conditions)
    return _with(lambda evidence: join(test(evidence) for test in tests), conditions)


def _with(test: Test, conditions: tuple[Condition, ...]) -> Condition:
    return Condition(
        test,
        frozenset[str]().union(*(condition.fields for condition in conditions)),
        any(condition.needs_body for condition in conditions),
        frozenset[str]().union(*(condition.detectors for condition in conditions)),
        any(condition.asks_records for condition in conditions),
    )
