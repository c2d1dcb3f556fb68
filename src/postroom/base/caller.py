"""Who is asking: the one source of identity that every decision below the surfaces rests on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """What a token of the mailbox toolset may do; `admin` does not imply `read`."""

    READ = "read"
    DRAFT = "draft"
    ORGANIZE = "organize"
    DELETE = "delete"
    SEND = "send"
    ADMIN = "admin"


class Toolset(StrEnum):
    """Which operations a token is offered."""

    MAILBOX = "mailbox"
    RELAY = "relay"


@dataclass(frozen=True, slots=True)
class Binding:
    """The profile that a caller is bound to, and whose it is."""

    user: str
    profile: str
    restrict: tuple[str, ...] = ()
    """Restrictions of the token's own."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A token resolved by the surface, never by an argument of the call.

    `token` is the token's public name, the one that logs and the audit may show. `mailboxes` are the names it
    may use; a name outside does not exist for it.
    """

    token: str
    scopes: frozenset[Scope]
    mailboxes: frozenset[str]
    toolset: Toolset = Toolset.MAILBOX
    binding: Binding | None = None
    """None of a caller whose mailboxes are whole."""

    @property
    def identity(self) -> str:
        """What sealed ids and cursors are bound to: not the token, so that a new one goes on with them."""
        if self.binding is not None:
            return f"{self.binding.user}/{self.binding.profile}"
        return f"token/{self.token}"
