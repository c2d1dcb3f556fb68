"""Who may call an operation: one description that offers, narrows and enforces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from postroom.base.caller import Caller, Scope
from postroom.base.errors import Code, GatewayError
from postroom.operations.ask import Ask


@dataclass(frozen=True, slots=True)
class Access:
    """The scope that a call needs; None lets any valid token call.

    `also` names boolean arguments that need another scope beside it when they are true, `instead` those with which
    another scope is enough when they are true. Only validated values are judged: what is spelled like true, and is
    not, opens nothing.
    """

    scope: Scope | None
    every_mailbox: bool = False
    """A call that names no mailbox is about all of the token's."""
    also: Mapping[str, Scope] = field(default_factory=dict)
    instead: Mapping[str, Scope] = field(default_factory=dict)

    def offered(self, caller: Caller) -> bool:
        """May this caller see the operation at all?"""
        return self._holds(caller) or any(scope in caller.scopes for scope in self.instead.values())

    def narrow(self, schema: dict[str, Any], caller: Caller) -> dict[str, Any]:
        """The argument schema as this caller needs it: with what it may say, and without what it need not."""
        hidden = {name for name, scope in self.also.items() if scope not in caller.scopes}
        properties = {name: value for name, value in schema["properties"].items() if name not in hidden}
        required = [name for name in schema.get("required", []) if name != "mailbox"]
        if "mailbox" in properties and len(caller.mailboxes) != 1 and not self.every_mailbox:
            required.insert(0, "mailbox")
        if not self._holds(caller):
            fixed = [name for name, scope in self.instead.items() if scope in caller.scopes]
            properties |= {name: properties[name] | {"const": True} for name in fixed}
            required += fixed
        narrowed = {key: value for key, value in schema.items() if key != "required"} | {"properties": properties}
        return narrowed | {"required": required} if required else narrowed

    def missing(self, ask: Ask, caller: Caller) -> GatewayError | None:
        """What a caller is told whose validated arguments need a scope that it lacks, or None."""
        if not self._holds(caller):
            enough = [name for name, scope in self.instead.items() if scope in caller.scopes]
            if not any(getattr(ask, name) is True for name in enough):
                return self.refusal(f", or call it with {' or '.join(enough)}: true" if enough else "")
        for name, scope in self.also.items():
            if getattr(ask, name) is True and scope not in caller.scopes:
                return lacks(scope, f" for {name}: true")
        return None

    def refusal(self, otherwise: str = "") -> GatewayError:
        """What a caller without the scope is told."""
        return lacks(self.scope, otherwise=otherwise)

    def _holds(self, caller: Caller) -> bool:
        return self.scope is None or self.scope in caller.scopes


def lacks(scope: Scope | None, what: str = "", otherwise: str = "") -> GatewayError:
    """What a caller without a scope is told; `what` it is needed for, and what would do otherwise."""
    return GatewayError(
        Code.PERMISSION_DENIED,
        f"This token lacks the scope {scope}{what}; use another token or ask the operator for it{otherwise}.",
        required_scope=str(scope),
    )
