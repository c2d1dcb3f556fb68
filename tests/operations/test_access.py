"""Who is offered an operation, with which arguments, and what the others are told."""

from __future__ import annotations

import itertools

import pytest

from postroom.base.caller import Caller, Scope
from postroom.operations.access import Access

SCHEMA = {"type": "object", "properties": {"mailbox": {"type": "string"}, "uid": {}}, "required": ["uid"]}


def caller(*scopes: Scope, boxes: tuple[str, ...] = ("work",)) -> Caller:
    return Caller("tester", frozenset(scopes), frozenset(boxes))


@pytest.mark.parametrize(("needed", "held"), list(itertools.product(Scope, Scope)))
def test_a_scope_is_held_or_not_and_none_stands_for_another(needed: Scope, held: Scope) -> None:
    assert Access(needed).offered(caller(held)) is (needed is held)
    assert not Access(needed).offered(caller())


def test_what_needs_no_scope_is_offered_to_every_token() -> None:
    assert Access(None).offered(caller())


@pytest.mark.parametrize(
    ("boxes", "required"),
    [((), ["mailbox", "uid"]), (("work",), ["uid"]), (("work", "down"), ["mailbox", "uid"])],
)
def test_a_mailbox_must_be_named_unless_there_is_exactly_one(boxes: tuple[str, ...], required: list[str]) -> None:
    narrowed = Access(None).narrow(SCHEMA, caller(boxes=boxes))
    assert narrowed == SCHEMA | {"required": required}
    assert SCHEMA["required"] == ["uid"]


def test_nothing_required_leaves_the_word_out() -> None:
    schema = {"type": "object", "properties": {"mailbox": {}}, "required": ["mailbox"]}
    assert Access(None).narrow(schema, caller()) == {"type": "object", "properties": {"mailbox": {}}}
    assert Access(None).narrow({"properties": {}}, caller(boxes=())) == {"properties": {}}


def test_the_refusal_names_the_scope_and_who_can_give_it() -> None:
    assert Access(Scope.SEND).refusal().body() == {
        "error": {
            "code": "permission_denied",
            "message": "This token lacks the scope send; use another token or ask the operator for it.",
            "details": {"required_scope": "send"},
        }
    }
