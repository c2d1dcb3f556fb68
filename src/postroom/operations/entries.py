"""What the trail says of a call: who, what, where and how it ended; never what a message says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from postroom.base.errors import Code, GatewayError
from postroom.operations.ask import Ask
from postroom.operations.operation import Call, Operation, Surface
from postroom.store.audit import Event

_FAILED = (Code.IMAP_ERROR, Code.SMTP_ERROR, Code.INTERNAL_ERROR, Code.UNAVAILABLE)


def intent(operation: Operation[Any, Any], call: Call, mailbox: str | None, ask: Ask, at: datetime) -> Event:
    """Before the effect: with what the validated arguments say of it."""
    action, facts = action_of(operation, call.surface), _writable(operation.audited(ask))
    return Event("intent", action, at, call.request, call.caller.token, mailbox, facts=facts)


def outcome(begun: Event, call: Call, error: GatewayError | None, at: datetime) -> Event:
    """After it: with what the intent said and what the handler noted."""
    code = None if error is None else error.code.value
    ended = replace(begun, phase="outcome", at=at, outcome=how(error), code=code)
    return replace(ended, facts={**begun.facts, **_writable(call.facts)})


def refusal(action: str, token: str, mailbox: str | None, error: GatewayError, at: datetime) -> Event:
    """Instead of it. Which argument was wrong is not told: its name is the caller's word."""
    return Event("outcome", action, at, None, token, mailbox, "refused", error.code.value)


def action_of(operation: Operation[Any, Any], surface: Surface) -> str:
    """Such as `mcp.send`."""
    return f"{surface}.{operation.name}"


def how(error: GatewayError | None) -> str:
    """ok, refused by us, failed on the way, or unknown: the server may have done it."""
    if error is None:
        return "ok"
    if error.details.get("outcome") == "unknown":
        return "unknown"
    stopped = error.details.get("reason") == "stopped"
    return "failed" if error.code in _FAILED and not stopped else "refused"


def _writable(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts, unless they cannot be written as JSON: one bad value must not keep the trail from being written."""
    try:
        orjson.dumps(facts)
    except TypeError:
        return {"unwritable": True}
    return facts
