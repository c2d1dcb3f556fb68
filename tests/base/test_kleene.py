"""Three-valued logic: every pair of truths, and what holds of any number of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.kleene import Truth, agreed, all_of, any_of, negation

TRUTHS = (True, None, False)


@pytest.mark.parametrize(
    ("one", "other", "both", "either"),
    [
        (True, True, True, True),
        (True, None, None, True),
        (True, False, False, True),
        (None, True, None, True),
        (None, None, None, None),
        (None, False, False, None),
        (False, True, False, True),
        (False, None, False, None),
        (False, False, False, False),
    ],
)
def test_the_truth_tables_of_all_and_any(one: Truth, other: Truth, both: Truth, either: Truth) -> None:
    assert all_of((one, other)) is both
    assert any_of((one, other)) is either


def test_what_is_unknown_stays_unknown_when_negated() -> None:
    assert [negation(truth) for truth in TRUTHS] == [False, None, True]


def test_of_nothing_all_hold_and_none_holds_and_nobody_agrees() -> None:
    assert (all_of(()), any_of(()), agreed(())) == (True, False, None)


@given(st.lists(st.sampled_from(TRUTHS), min_size=1))
def test_all_is_the_least_and_any_the_greatest_and_each_the_others_opposite(truths: list[Truth]) -> None:
    order = {False: 0, None: 1, True: 2}
    assert order[all_of(truths)] == min(order[truth] for truth in truths)
    assert order[any_of(truths)] == max(order[truth] for truth in truths)
    assert any_of(truths) is negation(all_of(map(negation, truths)))
    assert agreed(truths) is (truths[0] if len(set(truths)) == 1 else None)
