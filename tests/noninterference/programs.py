"""Programs of calls: every operation of a toolset, with arguments that somebody would try who suspects hidden mail."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from postroom.base.caller import Toolset
from postroom.operations.catalogue import CATALOGUES
from postroom.operations.operation import Operation, Surface
from tests.noninterference.arguments import ARGUMENTS, OF_MAIL, OFTEN, RARE, Choosing, Make
from tests.noninterference.history import Asked

_NO_HOLDER = frozenset({"audit_log", "health_check", "webhook_deliveries", "replay_webhook"})
"""Operations that no bound token can be offered: they want the scope `admin`."""


def offered(toolset: Toolset) -> list[Operation[Any, Any]]:
    """What a bound token of a toolset can call."""
    return [one for name, one in CATALOGUES[toolset].items() if name not in _NO_HOLDER]


def makers(operation: Operation[Any, Any]) -> Mapping[str, Make]:
    """How each argument of an operation is made. Raises `KeyError` for one that nobody thought of."""
    sends = operation.effect.open_world and not operation.effect.read_only
    is_mail = sends or "body_text" in operation.ask.model_fields
    return {name: (OF_MAIL if is_mail and name in OF_MAIL else ARGUMENTS)[name] for name in operation.ask.model_fields}


def call(toolset: Toolset, choosing: Choosing, tools: frozenset[str] = frozenset()) -> Asked:
    """Any call, or one that goes on where an earlier one ended; `tools` are those that are chosen among."""
    if choosing.history.pages and choosing.rng.random() < 0.2:
        return _going_on(choosing)
    operation = _operation(toolset, choosing, tools)
    if "draft" in operation.name and choosing.rng.random() < 0.8:
        choosing.about_drafts()
    if "attachment" in operation.name and choosing.rng.random() < 0.7:
        choosing.about_files()
    make = makers(operation)
    arguments = {name: make[name](choosing) for name in _given(operation, choosing.rng)}
    return Asked(operation.name, arguments, choosing.rng.choice((Surface.HTTP, Surface.MCP)))


def _going_on(choosing: Choosing) -> Asked:
    asked, argument, cursor = choosing.rng.choice(choosing.history.pages)
    kept = {name: value for name, value in asked.arguments.items() if name not in ("checkpoint", argument)}
    return Asked(asked.tool, {**kept, argument: cursor}, asked.surface)


def _operation(toolset: Toolset, choosing: Choosing, tools: frozenset[str]) -> Operation[Any, Any]:
    """Who knows no message lists some first, more often than not; who knows drafts does something with them."""
    rng, catalogue = choosing.rng, CATALOGUES[toolset]
    if not choosing.history.uids and rng.random() < 0.4:
        return catalogue["list_messages"]
    if not tools and toolset is Toolset.MAILBOX and choosing.knows_drafts() and rng.random() < 0.15:
        return catalogue[rng.choice(("send_draft", "update_draft", "delete_draft"))]
    return rng.choice([one for one in offered(toolset) if not tools or one.name in tools])


def _given(operation: Operation[Any, Any], rng: Random) -> list[str]:
    """The arguments that are given: seldom too few, or too many of those that exclude each other."""
    fields = operation.ask.model_fields
    given = [name for name in fields if fields[name].is_required() or rng.random() < _likely(name)]
    if {"uid", "uids"} <= fields.keys() and rng.random() < 0.95:
        given = [name for name in given if name not in ("uid", "uids")] + [rng.choice(("uid", "uids"))]
    if "reply_to_uid" in fields and "reply_to_uid" not in given:
        given = [name for name in given if name != "folder"]
    return given


def _likely(name: str) -> float:
    return 0.08 if name in RARE else 0.7 if name in OFTEN else 0.2
