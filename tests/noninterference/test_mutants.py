"""Each leak that is planted is found: what these tests cannot see would be a hole in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.noninterference.mutants import MUTANTS, Mutant
from tests.noninterference.running import Loop, seeded

_MOST = 300
"""Examples within which a leak must be found."""
_TABLE: dict[str, str] = {}


@pytest.fixture(scope="module", autouse=True)
def table(request: pytest.FixtureRequest) -> Iterator[None]:
    """What killed which mutant, told at the end."""
    yield
    capture = request.config.pluginmanager.getplugin("capturemanager")
    lines = [f"  {name:<18} {how}" for name, how in _TABLE.items()]
    with capture.global_and_fixture_disabled():
        print("", "planted leak       killed by", *lines, sep="\n")


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_a_planted_leak_is_found(loop: Loop, mutant: Mutant) -> None:
    with mutant.planted():
        for seed in range(_MOST):
            run = mutant.runs(loop, seeded(seed, mutant.profiles, mutant.toolset, mutant.tools))
            if run.difference is not None:
                _TABLE[mutant.name] = f"{run.difference.asked.tool} in example {seed}: {mutant.what}"
                return
    pytest.fail(f"nothing tells {mutant.what}")
