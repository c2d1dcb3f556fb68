"""A word that stands everywhere in one mailbox never reaches a token that may not use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from postroom.operations.catalogue import CATALOGUE
from postroom.operations.operation import Operation
from tests.contract.asking import READING, choices, needed
from tests.contract.conftest import World
from tests.servers.gateway import Gateway
from tests.servers.mail import CANARY

STRANGERS = ("all", "read", "work", "triage", "admin", "none", "nowhere")
TELL_NOTHING_OF_A_MAILBOX = {"health_check", "identities", "audit_log", "webhook_deliveries"}
"""Operations whose answers hold neither mail nor names of folders nor a mailbox's description."""


def attacks(operation: Operation[Any, Any], world: World, token: str) -> Iterator[Mapping[str, Any]]:
    """Right calls with one hostile value, and with a hostile mailbox beside it."""
    for names in choices(operation):
        right = {name: world.of(token, operation)[name] for name in needed(names)}
        yield right
        for name in names:
            for value in world.hostile_to(operation)[name]:
                yield right | {name: value}
                if "mailbox" in names and name != "mailbox":
                    yield right | {name: value, "mailbox": "private"}


def test_the_strangers_are_all_tokens_but_the_owner_s(gateway: Gateway) -> None:
    assert {*STRANGERS, "owner"} == set(gateway.tokens)


def check_the_word_never_comes_back(world: World, token: str, name: str) -> None:
    for arguments in attacks(CATALOGUE[name], world, token):
        for told in world.asking[token].both(CATALOGUE[name], arguments):
            assert CANARY not in told.raw, f"{told.surface} {arguments}"
            assert told.code != "internal_error", f"{told.surface} {arguments}"


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("token", STRANGERS)
def test_the_word_never_comes_back(world: World, token: str, name: str) -> None:
    check_the_word_never_comes_back(world, token, name)


@pytest.mark.parametrize("name", READING)
def test_the_owner_does_get_it(world: World, name: str) -> None:
    operation = CATALOGUE[name]
    for names in choices(operation):
        arguments = {argument: world.of("owner", operation)[argument] for argument in needed(names)}
        for told in world.asking["owner"].both(operation, arguments):
            assert not told.failed, told.raw
            assert (CANARY in told.raw) is (name not in TELL_NOTHING_OF_A_MAILBOX), told.raw


ON_ONE_MAILBOX = [name for name in READING if "mailbox" in CATALOGUE[name].ask.model_fields]


def check_a_forbidden_mailbox_is_one_that_does_not_exist(world: World, token: str, name: str) -> None:
    operation = CATALOGUE[name]
    for names in choices(operation):
        right = {argument: world.of(token, operation)[argument] for argument in needed(names)}
        forbidden = [told.body for told in world.asking[token].both(operation, right | {"mailbox": "private"})]
        invented = [told.body for told in world.asking[token].both(operation, right | {"mailbox": "invented"})]
        assert forbidden == invented
        assert {body["error"]["code"] for body in forbidden} <= {"not_found", "permission_denied"}


@pytest.mark.parametrize("name", ON_ONE_MAILBOX)
@pytest.mark.parametrize("token", STRANGERS)
def test_a_forbidden_mailbox_is_one_that_does_not_exist(world: World, token: str, name: str) -> None:
    check_a_forbidden_mailbox_is_one_that_does_not_exist(world, token, name)


def test_no_page_without_a_token_has_the_word(gateway: Gateway) -> None:
    for path in ("/health", "/docs", "/openapi.json", "/mailboxes", "/mailboxes/private/messages"):
        assert CANARY not in gateway.get(path, None).text


def test_the_log_has_no_word_of_mail(world: World, gateway: Gateway) -> None:
    for operation in map(CATALOGUE.__getitem__, READING):
        for names in choices(operation):
            arguments = world.right("owner", operation, names)
            list(world.asking["owner"].both(operation, arguments))
    assert CANARY not in gateway.log.getvalue()
