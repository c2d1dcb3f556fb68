"""Three-valued logic (Kleene): yes, no, and unknown for what cannot be told from what is at hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Truth: TypeAlias = bool | None
"""Yes, no, or unknown."""


def all_of(truths: Iterable[Truth]) -> Truth:
    """The conjunction: one no is enough, whatever is unknown; yes for nothing at all."""
    outcome: Truth = True
    for truth in truths:
        if truth is False:
            return False
        outcome = outcome if truth else None
    return outcome


def any_of(truths: Iterable[Truth]) -> Truth:
    """The disjunction: one yes is enough, whatever is unknown; no for nothing at all."""
    outcome: Truth = False
    for truth in truths:
        if truth is True:
            return True
        outcome = None if truth is None else outcome
    return outcome


def negation(truth: Truth) -> Truth:
    """What is unknown stays so."""
    return None if truth is None else not truth


def agreed(truths: Iterable[Truth]) -> Truth:
    """Yes if all say so, no if all say no; unknown for nothing at all, and where they differ."""
    said = set(truths)
    return said.pop() if len(said) == 1 else None
