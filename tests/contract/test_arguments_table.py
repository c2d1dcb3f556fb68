"""The tables of arguments cover every argument there is."""

from __future__ import annotations

from postroom.operations.catalogue import CATALOGUE
from tests.contract.conftest import World


def test_every_argument_of_the_catalogue_has_right_and_hostile_values_here(world: World) -> None:
    arguments = {name for operation in CATALOGUE.values() for name in operation.ask.model_fields}
    for token, good in world.good.items():
        assert good.keys() == arguments, f"give the arguments of {token} right values in tests/contract/conftest.py"
    assert world.hostile.keys() == arguments, "give the arguments hostile values in tests/contract/conftest.py"
