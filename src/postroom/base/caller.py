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


@dataclass(frozen=True, slots=True)
class Caller:
    """A token resolved by the surface, never by an argument of the call.

    `token` is the token's public name, the one that logs and the audit may show. `mailboxes` are the names it
    may use; a name outside does not exist for it.
    """

    token: str
    scopes: frozenset[Scope]
    mailboxes: frozenset[str]

    @property
    def identity(self) -> str:
        """What sealed ids and cursors are bound to."""
        return f"token/{self.token}"
