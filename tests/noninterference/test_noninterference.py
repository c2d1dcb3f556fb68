"""Two worlds that look the same to a bound caller answer it the same, octet by octet, whatever it asks."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.base.caller import Toolset
from tests.noninterference.policies import PROFILES
from tests.noninterference.programs import makers, offered
from tests.noninterference.running import Example, Loop, seeded
from tests.noninterference.watched import TOOL

EXAMPLES = int(os.environ.get("POSTROOM_WORLDS", "300"))
"""Set it to 1500 for the thorough run."""
_SEEDS = st.integers(0, 2**32 - 1)


def examples() -> st.SearchStrategy[Example]:
    """Slots and steps are seeds: what makes a failing example small is leaving some of them out."""
    return st.builds(
        Example,
        profile=st.sampled_from(sorted(PROFILES)),
        toolset=st.sampled_from(list(Toolset)),
        slots=st.lists(_SEEDS, min_size=2, max_size=14).map(tuple),
        steps=st.lists(_SEEDS, min_size=2, max_size=10).map(tuple),
    )


@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples())
def test_worlds_that_look_the_same_give_the_same_answers(loop: Loop, one: Example) -> None:
    run = loop.both(one)
    assert run.difference is None, str(run)


@pytest.mark.parametrize("toolset", list(Toolset))
def test_long_programs_cannot_tell_them_apart_and_every_operation_answers_some(loop: Loop, toolset: Toolset) -> None:
    """Without answers beside errors the same octets would say little."""
    answered = set[str]()
    for seed in range(EXAMPLES):
        run = loop.both(seeded(seed, toolset=toolset))
        assert run.difference is None, f"example {seed}\n{run}"
        answered |= run.answered
    assert answered == {TOOL, *(operation.name for operation in offered(toolset))}


@pytest.mark.parametrize("toolset", list(Toolset))
def test_every_argument_of_every_operation_has_values(toolset: Toolset) -> None:
    fields = {operation.name: operation.ask.model_fields.keys() for operation in offered(toolset)}
    assert {operation.name: makers(operation).keys() for operation in offered(toolset)} == fields
