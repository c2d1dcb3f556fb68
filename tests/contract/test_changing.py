"""What holds of every operation that changes something, on mailboxes that may be changed."""

from __future__ import annotations

import pytest

from postroom.operations.catalogue import CATALOGUE
from tests.contract.asking import CHANGING, choices
from tests.contract.conftest import World
from tests.contract.test_canary import (
    STRANGERS,
    check_a_forbidden_mailbox_is_one_that_does_not_exist,
    check_the_word_never_comes_back,
)
from tests.contract.test_surfaces_agree import check_failures_are_told_alike
from tests.servers.gateway import Gateway
from tests.servers.mail import CANARY


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("token", STRANGERS)
def test_the_word_never_comes_back(changing_world: World, token: str, name: str) -> None:
    check_the_word_never_comes_back(changing_world, token, name)


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("token", STRANGERS)
def test_a_forbidden_mailbox_is_one_that_does_not_exist(changing_world: World, token: str, name: str) -> None:
    check_a_forbidden_mailbox_is_one_that_does_not_exist(changing_world, token, name)


def test_strangers_have_left_the_forbidden_mailbox_as_it_was(changing_gateway: Gateway) -> None:
    listed = changing_gateway.get("/mailboxes/private/messages", "owner").json()["messages"]
    assert len(listed) == 6
    assert all(row["flags"] == [] for row in listed)


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("token", ["all", "work", "none", "nowhere"])
def test_a_failure_is_told_alike(changing_world: World, token: str, name: str) -> None:
    check_failures_are_told_alike(changing_world, token, name)


def test_the_log_has_no_word_of_mail(changing_world: World, changing_gateway: Gateway) -> None:
    for operation in map(CATALOGUE.__getitem__, CHANGING):
        for names in choices(operation):
            arguments = changing_world.right("owner", operation, names)
            list(changing_world.asking["owner"].both(operation, arguments))
    assert CANARY not in changing_gateway.log.getvalue()
