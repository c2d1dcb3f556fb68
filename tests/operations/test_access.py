"""Who is offered an operation, with which arguments, and what the others are told."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types of its own
from pydantic import ValidationError

from postroom.base.caller import Caller, Scope
from postroom.operations.access import Access
from postroom.operations.ask import Ask, Boolean
from postroom.operations.schema import argument_schema

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


class Reply(Ask):
    """As the operation that needs `send`, or `draft` for a draft; `permanent` needs `delete` too."""

    uid: str
    draft: Boolean = False
    permanent: Boolean = False


REPLY = Access(Scope.SEND, also={"permanent": Scope.DELETE}, instead={"draft": Scope.DRAFT})
SPELLINGS = st.sampled_from(
    [True, False, "true", "True", " FALSE ", "false", "1", "0", 1, 0, None, "no", "", 2, [], "t"]
)
HELD = [frozenset(held) for size in range(len(Scope) + 1) for held in itertools.combinations(Scope, size)]


@given(st.sampled_from(HELD), st.dictionaries(st.sampled_from(["draft", "permanent"]), SPELLINGS))
def test_what_is_offered_is_what_is_allowed_however_it_is_spelled(
    held: frozenset[Scope], spelled: dict[str, object]
) -> None:
    asking = caller(*held)
    try:
        ask = Reply.model_validate({"uid": "1", **spelled})
    except ValidationError:
        return  # refused before anybody looks at scopes
    allowed = REPLY.offered(asking) and REPLY.missing(ask, asking) is None
    schema = REPLY.narrow(argument_schema(Reply), asking)
    # What is hidden from a token it may still say no to: that asks for nothing.
    said = {name: True for name in spelled if getattr(ask, name) is True}
    offered = REPLY.offered(asking) and Draft202012Validator(schema).is_valid({"uid": "1", **said})
    assert allowed is offered
    needs = {Scope.SEND} if not ask.draft or Scope.SEND in held else {Scope.DRAFT}
    needs |= {Scope.DELETE} if ask.permanent else set()
    assert allowed is (needs <= held)


@pytest.mark.parametrize(
    ("held", "said", "message", "scope"),
    [
        ({Scope.DRAFT}, {}, "send; use another token or ask the operator for it, or call it with draft: true.", "send"),
        ({Scope.DRAFT}, {"draft": "false"}, "send; use another token or ask the operator for it, or call", "send"),
        ({Scope.SEND}, {"permanent": True}, "delete for permanent: true; use another token or ask the", "delete"),
        ({Scope.READ}, {"draft": True}, "send; use another token or ask the operator for it.", "send"),
    ],
)
def test_who_lacks_a_scope_is_told_which_and_what_would_do(
    held: set[Scope], said: dict[str, object], message: str, scope: str
) -> None:
    missing = REPLY.missing(Reply.model_validate({"uid": "1", **said}), caller(*held))
    assert missing is not None
    assert message in missing.message
    assert missing.details == {"required_scope": scope}


def test_a_draft_token_is_offered_a_draft_alone() -> None:
    schema = REPLY.narrow(argument_schema(Reply), caller(Scope.DRAFT))
    assert schema["properties"] == {"uid": {"type": "string"}, "draft": {"type": "boolean", "const": True}}
    assert schema["required"] == ["uid", "draft"]
    assert REPLY.narrow(argument_schema(Reply), caller(Scope.SEND))["required"] == ["uid"]
