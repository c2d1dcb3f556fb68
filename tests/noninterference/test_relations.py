"""What a policy says holds in company, twice and in any order of its rules, and restricted it lets no more through."""

from __future__ import annotations

from random import Random

import pytest

from tests.noninterference.policies import PROFILES, RESTRICTIONS, TEXT
from tests.noninterference.relations import (
    alone_and_in_company,
    in_another_order,
    shuffled,
    twice,
    under_other_numbers,
)
from tests.noninterference.restricting import both_views
from tests.noninterference.running import Loop, looping, seeded
from tests.noninterference.test_noninterference import EXAMPLES

_SOME = EXAMPLES // 3


def test_hidden_mail_that_moves_the_numbers_of_others_changes_no_answer(loop: Loop) -> None:
    for seed in range(EXAMPLES):
        run = under_other_numbers(loop, seeded(seed))
        assert run.difference is None, f"example {seed}\n{run}"


def test_no_answer_depends_on_what_another_caller_asks(loop: Loop) -> None:
    for seed in range(_SOME):
        run = alone_and_in_company(loop, seeded(seed))
        assert run.difference is None, f"example {seed}\n{run}"


def test_the_same_request_has_the_same_answer_again(loop: Loop) -> None:
    for seed in range(_SOME):
        run = twice(loop, seeded(seed))
        assert run.difference is None, f"example {seed}\n{run}"


def test_the_order_of_rules_changes_no_answer(tmp_path_factory: pytest.TempPathFactory) -> None:
    for order in range(2):
        with looping(tmp_path_factory.mktemp("orders"), TEXT, shuffled(TEXT, order)) as orders:
            for seed in range(order, _SOME, 2):
                run = in_another_order(orders, seeded(seed))
                assert run.difference is None, f"example {seed}\n{run}"


def test_a_restriction_never_lets_more_through(loop: Loop) -> None:
    for seed in range(_SOME // 2):
        rng = Random(seed)
        profile, restrict = rng.choice(sorted(PROFILES)), tuple(rng.sample(RESTRICTIONS, rng.randint(1, 2)))
        wide, narrow = both_views(loop, profile, restrict, seeded(seed).slots)
        more = list(narrow.beyond(wide))
        assert not more, f"example {seed}: {profile} under {restrict}\n" + "\n".join(more)
