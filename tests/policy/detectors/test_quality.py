"""How much of what they are for the detectors find, and how often they find it where it is not."""

from __future__ import annotations

import pytest

from postroom.policy.detectors import find
from tests.policy.detectors.benign import benign
from tests.policy.detectors.corpus import KINDS, positives
from tests.policy.detectors.handwritten import BENIGN as BENIGN_BY_HAND
from tests.policy.detectors.handwritten import POSITIVES

EACH, BENIGN = 400, 2_400


def is_found(text: str, hidden: str, name: str) -> bool:
    """Whether every letter and figure of what is to be hidden is in what was found."""
    start = text.index(hidden)
    covered = {at for one in find(text, [name]) for at in range(one.start, one.end)}
    return all(at in covered for at in range(start, start + len(hidden)) if text[at].isalnum())


def recall(name: str, half: int) -> float:
    samples = positives(name, EACH // 2, half)
    return sum(is_found(*sample, name) for sample in samples) / len(samples)


def recall_by_hand(name: str) -> float:
    found = [any(said in text[one.start : one.end] for one in find(text, [name])) for kind, text, said in POSITIVES
             if kind == name]  # fmt: skip
    return sum(found) / len(found) if found else 1.0


def false_positives(half: int) -> float:
    messages = benign(BENIGN // 2, half) + BENIGN_BY_HAND[half::2]
    return sum(bool(find(text, KINDS)) for text in messages) / len(messages)


def test_detectors_find_what_they_are_for_and_hardly_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    found = {name: (recall(name, 0), recall(name, 1), recall_by_hand(name)) for name in KINDS}
    wrong = false_positives(0), false_positives(1)
    lines = [f"{name:12} {one:8.1%} {other:8.1%} {hand:8.1%}" for name, (one, other, hand) in found.items()]
    head = (
        f"\n{EACH} samples each, {BENIGN + len(BENIGN_BY_HAND)} benign messages; templates of two halves, and by hand\n"
    )
    head += f"{'recall':12} {'first':>8} {'second':>8} {'by hand':>8}"
    with capsys.disabled():
        print("\n".join([head, *lines, f"{'benign hit':12} {wrong[0]:8.2%} {wrong[1]:8.2%}"]))
    assert min(share for shares in found.values() for share in shares) >= 0.98
    assert max(wrong) <= 0.01
