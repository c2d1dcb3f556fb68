"""How much of what they are for the detectors find, and how often they find it where it is not."""

from __future__ import annotations

import pytest

from postroom.policy.detectors import find
from tests.policy.detectors.benign import benign
from tests.policy.detectors.corpus import KINDS, positives

EACH, BENIGN = 400, 2_400


def is_found(text: str, hidden: str, name: str) -> bool:
    """Whether every letter and figure of what is to be hidden is in what was found."""
    start = text.index(hidden)
    covered = {at for one in find(text, [name]) for at in range(one.start, one.end)}
    return all(at in covered for at in range(start, start + len(hidden)) if text[at].isalnum())


def recall(name: str, half: int) -> float:
    samples = positives(name, EACH // 2, half)
    return sum(is_found(*sample, name) for sample in samples) / len(samples)


def false_positives(half: int) -> float:
    messages = benign(BENIGN // 2, half)
    return sum(bool(find(text, KINDS)) for text in messages) / len(messages)


def test_detectors_find_what_they_are_for_and_hardly_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    found = {name: (recall(name, 0), recall(name, 1)) for name in KINDS}
    wrong = false_positives(0), false_positives(1)
    lines = [f"{name:12} {one:8.1%} {other:8.1%}" for name, (one, other) in found.items()]
    head = f"\n{EACH} samples each, {BENIGN} benign messages; templates of two halves\n{'recall':12}    first   second"
    with capsys.disabled():
        print("\n".join([head, *lines, f"{'benign hit':12} {wrong[0]:8.2%} {wrong[1]:8.2%}"]))
    assert min(share for shares in found.values() for share in shares) >= 0.98
    assert max(wrong) <= 0.01
