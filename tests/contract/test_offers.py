"""What a token is offered follows from its scopes, and what it is not offered it cannot call."""

from __future__ import annotations

import asyncio
import io
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from postroom.base.caller import Caller, Scope
from postroom.base.clock import HandClock
from postroom.base.logs import Log
from postroom.base.seal import KeyRing, Seal
from postroom.config import LimitsConfig
from postroom.mailbox.directory import Directory
from postroom.operations.catalogue import CATALOGUE
from postroom.operations.perform import Corridor
from postroom.operations.schema import argument_schema
from postroom.surfaces.toolbox import Toolbox
from tests.contract.conftest import World
from tests.servers.gateway import Gateway

SUBSETS = [frozenset(held) for size in range(len(Scope) + 1) for held in itertools.combinations(Scope, size)]
BOXES = (frozenset[str](), frozenset({"work"}), frozenset({"work", "down"}))
HELD = {
    "all": frozenset(Scope),
    "read": frozenset({Scope.READ}),
    "work": frozenset({Scope.READ}),
    "triage": frozenset({Scope.READ, Scope.DRAFT, Scope.ORGANIZE}),
    "admin": frozenset({Scope.ADMIN}),
    "none": frozenset[Scope](),
    "nowhere": frozenset({Scope.READ}),
    "owner": frozenset(Scope),
}
SEED = {
    "mailboxes": (None, "read-only"),
    "inbox": ("read", "read-only"),
    "list_folders": ("read", "read-only"),
    "list_messages": ("read", "read-only"),
    "search": ("read", "read-only"),
    "get_message": ("read", "read-only"),
    "get_raw_message": ("read", "read-only"),
    "get_attachment": ("read", "read-only"),
    "get_thread": ("read", "read-only"),
    "list_threads": ("read", "read-only"),
    "identities": ("read", "read-only"),
    "list_drafts": ("read", "read-only"),
    "mailbox_stats": ("read", "read-only"),
    "create_draft": ("draft", "none"),
    "update_draft": ("draft", "destructive"),
    "delete_draft": ("draft", "destructive"),
    "delete_message": ("organize", "destructive"),
    "mark_seen": ("organize", "idempotent"),
    "set_labels": ("organize", "idempotent"),
    "move_messages": ("organize", "idempotent"),
    "create_folder": ("organize", "idempotent"),
    "reply": ("send", "destructive, open-world"),
    "send": ("send", "destructive, open-world"),
    "send_draft": ("send", "destructive, open-world"),
    "audit_log": ("admin", "read-only"),
    "health_check": ("admin", "read-only, open-world"),
    "webhook_deliveries": ("admin", "read-only"),
    "replay_webhook": ("admin", "open-world"),
}
"""The contract's table: the tools in their order, each with its scope and its annotations."""


REQUIRED = {name: argument_schema(operation.ask).get("required", []) for name, operation in CATALOGUE.items()}


@pytest.fixture(scope="module")
def corridor() -> Corridor:
    clock = HandClock()
    directory = Directory((), Seal(KeyRing(0, {0: bytes(32)})), clock)
    return Corridor(directory, clock, Log(clock, io.StringIO()), LimitsConfig())


def toolbox(corridor: Corridor, scopes: Iterable[Scope], boxes: Iterable[str] = ("work",)) -> Toolbox:
    return Toolbox(corridor, Caller("tester", frozenset(scopes), frozenset(boxes)))


def names(tools: Iterable[dict[str, Any]]) -> list[str]:
    return [tool["name"] for tool in tools]


def lists(corridor: Corridor) -> Iterator[list[dict[str, Any]]]:
    for scopes, boxes in itertools.product(SUBSETS, BOXES):
        yield toolbox(corridor, scopes, boxes).list()


def test_the_catalogue_is_the_contract_s_in_its_order() -> None:
    assert list(CATALOGUE) == [name for name in SEED if name in CATALOGUE]
    assert [operation.name for operation in CATALOGUE.values()] == list(CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE)
def test_scope_and_annotations_are_those_of_the_contract(corridor: Corridor, name: str) -> None:
    scope, words = SEED[name]
    assert CATALOGUE[name].access.scope == scope
    (tool,) = [tool for tool in toolbox(corridor, Scope).list() if tool["name"] == name]
    assert tool["annotations"] == {
        "readOnlyHint": "read-only" in words,
        "destructiveHint": "destructive" in words,
        "idempotentHint": "idempotent" in words or "read-only" in words,
        "openWorldHint": "open-world" in words,
    }


@pytest.mark.parametrize("scopes", SUBSETS, ids=lambda held: "+".join(sorted(held)) or "no scope")
def test_a_token_is_offered_what_its_scopes_allow_and_can_call_nothing_else(
    corridor: Corridor, scopes: frozenset[Scope]
) -> None:
    tools = toolbox(corridor, scopes)
    held = {None, *scopes}
    allowed = [name for name in CATALOGUE if SEED[name][0] in held or (name == "reply" and Scope.DRAFT in held)]
    assert names(tools.list()) == allowed
    for name in CATALOGUE:
        for arguments in ({}, {"mailbox": 5, "no such": []}):
            answer, failed = asyncio.run(tools.call(name, arguments))
            code = answer["error"]["code"] if failed else None
            assert (code == "permission_denied") is (name not in allowed)
            if code == "permission_denied":
                assert answer["error"]["details"] == {"required_scope": SEED[name][0]}


@pytest.mark.parametrize("scopes", SUBSETS, ids=lambda held: "+".join(sorted(held)) or "no scope")
def test_the_list_is_the_same_whatever_the_mailboxes_but_for_naming_one(
    corridor: Corridor, scopes: frozenset[Scope]
) -> None:
    none, one, several = (toolbox(corridor, scopes, boxes).list() for boxes in BOXES)
    other_one = toolbox(corridor, scopes, {"private"}).list()
    other_several = toolbox(corridor, scopes, {"a", "b", "c"}).list()
    assert none == several == other_several
    assert one == other_one
    for tool, narrow in zip(several, one, strict=True):
        schema, narrower = tool.pop("inputSchema"), narrow.pop("inputSchema")
        assert tool == narrow
        if "mailbox" not in schema["properties"]:
            assert schema == narrower
            continue
        assert CATALOGUE[tool["name"]].access.every_mailbox or schema["required"][0] == "mailbox"
        required = [name for name in schema.pop("required", []) if name != "mailbox"]
        assert required == narrower.get("required", [])
        assert "mailbox" not in narrower.pop("required", [])
        assert schema == narrower


def test_the_list_is_the_same_each_time_and_nobody_s_to_change(corridor: Corridor) -> None:
    first = toolbox(corridor, Scope).list()
    for tool in toolbox(corridor, Scope).list():
        tool["inputSchema"]["properties"].clear()
        tool["inputSchema"]["x"] = tool["annotations"].pop("readOnlyHint")
    assert toolbox(corridor, Scope).list() == first


@pytest.mark.parametrize("token", HELD)
def test_over_the_wire_a_token_sees_and_may_just_that(
    gateway: Gateway, world: World, corridor: Corridor, token: str
) -> None:
    one = token in ("work", "triage", "admin", "none", "owner")
    expected = toolbox(corridor, HELD[token], {"work"} if one else {"work", "down"}).list()
    assert gateway.mcp("tools/list", token=token) == {"tools": expected}
    for operation in CATALOGUE.values():
        if operation.name in names(expected):
            continue
        arguments = {"mailbox": "work", "uid": "1"} if "uid" in operation.ask.model_fields else {"mailbox": "work"}
        for told in world.asking[token].both(operation, arguments):
            assert told.code == "permission_denied"
            assert told.status == (200 if told.surface == "mcp" else 403)
            assert told.body["error"]["details"] == {"required_scope": SEED[operation.name][0]}


@pytest.mark.parametrize(
    "name", ["no_such_tool", "", "list_message", "List_messages", "search_messages", "__init__", "x" * 10_000]
)
@pytest.mark.parametrize("scopes", [frozenset(Scope), frozenset[Scope]()], ids=["all", "none"])
def test_an_unknown_tool_is_not_found_and_only_offered_ones_are_named(
    corridor: Corridor, name: str, scopes: frozenset[Scope]
) -> None:
    tools = toolbox(corridor, scopes)
    answer, failed = asyncio.run(tools.call(name, {"bad": 1}))
    assert failed
    assert answer["error"]["code"] == "not_found"
    assert answer["error"]["details"] == {"tools": names(tools.list())}
    message = answer["error"]["message"]
    unnamed = set(CATALOGUE) - set(names(tools.list()))
    assert not [hidden for hidden in unnamed if hidden in message]


def test_the_nearest_tool_is_suggested(corridor: Corridor) -> None:
    answer, _ = asyncio.run(toolbox(corridor, Scope).call("list_message", {}))
    assert answer["error"]["message"] == "There is no such tool. Did you mean list_messages?"


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_wrong_call_is_checked_in_the_contract_s_order(corridor: Corridor, name: str) -> None:
    wrong = {"no such argument": 1} | dict.fromkeys(REQUIRED[name], "1")
    if SEED[name][0] is not None:
        answer, _ = asyncio.run(toolbox(corridor, ()).call(name, wrong))
        assert answer["error"]["code"] == "permission_denied"
    answer, _ = asyncio.run(toolbox(corridor, Scope).call(name, wrong))
    assert answer["error"]["code"] == "validation_error"
    assert answer["error"]["details"]["argument"] == "no such argument"
