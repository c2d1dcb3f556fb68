"""The fuzzing targets over every message of the corpus, cut and joined at random: nothing raises, nothing is slow."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.targets import LONGEST, TARGETS, run
from tests.cases.case import all_cases

MESSAGES = [raw[:LONGEST] for case in all_cases() for raw in case.raw_messages]


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_passes(target: str) -> None:
    for raw in MESSAGES:
        run(target, raw)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=200, deadline=None)
@given(dice=st.randoms(use_true_random=False))
def test_pieces_of_the_corpus_put_together_pass(target: str, dice: random.Random) -> None:
    pieces = []
    for _ in range(dice.randint(1, 5)):
        raw = dice.choice(MESSAGES)
        start = dice.randrange(len(raw) + 1)
        pieces.append(raw[start : start + dice.choice((1, 20, 400, LONGEST))])
    run(target, b"".join(pieces)[:LONGEST])
