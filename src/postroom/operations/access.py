"""Who may call an operation: one description that offers, narrows and enforces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from postroom.base.caller import Caller, Scope
from postroom.base.errors import Code, GatewayError


@dataclass(frozen=True, slots=True)
class Access:
    """The scope that a call needs; None lets any valid token call."""

    scope: Scope | None
    every_mailbox: bool = False
    """A call that names no mailbox is about all of the token's."""

    def offered(self, caller: Caller) -> bool:
        """May this caller see the operation at all?"""
        return self.scope is None or self.scope in caller.scopes

    def narrow(self, schema: dict[str, Any], caller: Caller) -> dict[str, Any]:
        """The argument schema as this caller needs it: a token with one mailbox need not name it."""
        required = [name for name in schema.get("required", []) if name != "mailbox"]
        if "mailbox" in schema["properties"] and len(caller.mailboxes) != 1 and not self.every_mailbox:
            required.insert(0, "mailbox")
        narrowed = {key: value for key, value in schema.items() if key != "required"}
        return narrowed | {"required": required} if required else narrowed

    def refusal(self) -> GatewayError:
        """What a caller without the scope is told."""
        return GatewayError(
            Code.PERMISSION_DENIED,
            f"This token lacks the scope {self.scope}; use another token or ask the operator for it.",
            required_scope=str(self.scope),
        )
