"""What finds codes, keys and numbers in a text that are nobody's business but their owner's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from postroom.policy.detectors.keys import jwts, private_keys
from postroom.policy.detectors.links import links
from postroom.policy.detectors.numbers import cards, ibans
from postroom.policy.detectors.otp import codes
from postroom.policy.detectors.passwords import passwords
from postroom.policy.detectors.pattern import Span
from postroom.policy.detectors.personal import mail_addresses, national_ids, phones
from postroom.policy.detectors.recovery import recovery_codes, seeds
from postroom.policy.detectors.secrets import secrets
from postroom.policy.detectors.shadow import shadow

__all__ = ["DETECTORS", "DETECTORS_VERSION", "Detector", "Found", "Span", "find", "resolved"]

DETECTORS_VERSION = "1"
"""Part of a policy's hash: another set of detectors is another policy."""


class Finder(Protocol):
    """Ranges of a shadow text in ascending order; words for them may stand in the `context`."""

    def __call__(self, text: str, context: str = "") -> list[Span]: ...


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of thing that is found."""

    name: str
    spans: Finder


DETECTORS = (
    Detector("otp", codes),
    Detector("reset_link", links),
    Detector("secret", secrets),
    Detector("private_key", private_keys),
    Detector("jwt", jwts),
    Detector("password", passwords),
    Detector("card", cards),
    Detector("iban", ibans),
    # Off unless a policy asks for them.
    Detector("phone", phones),
    Detector("email_address", mail_addresses),
    Detector("national_id", national_ids),
    Detector("crypto_seed", seeds),
    Detector("recovery_codes", recovery_codes),
)
"""All of them, by the names that policies use."""


class Found(NamedTuple):
    """A half-open range of a text, and what was found there."""

    start: int
    end: int
    name: str


def find(text: str, names: Collection[str], context: str = "") -> list[Found]:
    """What these detectors find in a filtered text, in order and apart from each other.

    `context` is text in which words may stand that tell what a number in this one is, such as the subject.
    """
    return resolved(text, found(text, names, context))


def found(text: str, names: Collection[str], context: str = "") -> list[Found]:
    """As `find`, with everything that overlaps."""
    if not text:
        return []
    seen, beside = shadow(text), shadow(context)
    return [Found(*span, one.name) for one in DETECTORS if one.name in names for span in _spans(one, seen, beside)]


@lru_cache(maxsize=64)
def _spans(detector: Detector, text: str, context: str) -> tuple[Span, ...]:
    """What one detector finds: a message is asked first what is in it, and then where."""
    return tuple(detector.spans(text, context))


def resolved(text: str, finds: Iterable[Found]) -> list[Found]:
    """Ranges apart from each other: those of one name that touch are one; of others the earliest, then the longest.

    What of a later one sticks out is a part of the earlier.
    """
    kept: list[Found] = []
    for one in sorted(_merged(text, finds), key=lambda found: (found.start, -found.end)):
        if kept and one.start < kept[-1].end:
            last = kept[-1]
            if one.end > last.end:  # what sticks out is to be found too
                kept[-1] = last._replace(end=one.end)
            continue
        kept.append(one)
    return kept


def _merged(text: str, finds: Iterable[Found]) -> list[Found]:
    by_name: dict[str, list[Found]] = {}
    for one in sorted(finds):
        spans = by_name.setdefault(one.name, [])
        if spans and one.start <= spans[-1].end:
            spans[-1] = spans[-1]._replace(end=max(one.end, spans[-1].end))
        else:
            spans.append(one)
    return [one for spans in by_name.values() for one in spans]


def names_of(finds: Sequence[Found]) -> frozenset[str]:
    """The names of what was found."""
    return frozenset(one.name for one in finds)
