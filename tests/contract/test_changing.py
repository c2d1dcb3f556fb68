"""What holds of every operation that changes something, on mailboxes that may be changed."""

from __future__ import annotations

import pytest

from postroom.operations.catalogue import CATALOGUE
from tests.contract.asking import CHANGING, choices, needed
from tests.contract.conftest import World
from tests.contract.test_canary import STRANGERS, attacks
from tests.servers.gateway import Gateway
from tests.servers.mail import CANARY


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("token", STRANGERS)
def test_the_word_never_comes_back(changing_world: World, token: str, name: str) -> None:
    for arguments in attacks(CATALOGUE[name], changing_world, token):
        for told in changing_world.asking[token].both(CATALOGUE[name], arguments):
            assert CANARY not in told.raw, f"{told.surface} {arguments}"
            assert told.code != "internal_error", f"{told.surface} {arguments}"


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("token", STRANGERS)
def test_a_forbidden_mailbox_is_one_that_does_not_exist(changing_world: World, token: str, name: str) -> None:
    operation = CATALOGUE[name]
    for names in choices(operation):
        right = {argument: changing_world.of(token, operation)[argument] for argument in needed(names)}
        asking = changing_world.asking[token]
        forbidden = [told.body for told in asking.both(operation, right | {"mailbox": "private"})]
        invented = [told.body for told in asking.both(operation, right | {"mailbox": "invented"})]
        assert forbidden == invented
        assert {body["error"]["code"] for body in forbidden} <= {"not_found", "permission_denied"}


def test_strangers_have_left_the_forbidden_mailbox_as_it_was(changing_gateway: Gateway) -> None:
    listed = changing_gateway.get("/mailboxes/private/messages", "owner").json()["messages"]
    assert len(listed) == 6
    assert all(row["flags"] == [] for row in listed)


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("token", ["all", "work", "none", "nowhere"])
def test_a_failure_is_told_alike(changing_world: World, token: str, name: str) -> None:
    operation = CATALOGUE[name]
    for names in choices(operation):
        right = {argument: changing_world.of(token, operation)[argument] for argument in needed(names)}
        for argument in (*names, "no_such_argument"):
            for wrong in ("", "no-such", "9" * 20, "*"):
                arguments = right | {argument: wrong}
                mcp, *http = changing_world.asking[token].both(operation, arguments)
                for told in http:
                    if mcp.failed or told.failed:
                        assert told.body == mcp.body, f"{told.surface} {arguments}"


def test_the_log_has_no_word_of_mail(changing_world: World, changing_gateway: Gateway) -> None:
    for operation in map(CATALOGUE.__getitem__, CHANGING):
        for names in choices(operation):
            arguments = changing_world.right("owner", operation, names)
            list(changing_world.asking["owner"].both(operation, arguments))
    assert CANARY not in changing_gateway.log.getvalue()
