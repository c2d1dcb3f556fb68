"""The request that a call came with: what it is named in the log and the audit, and whether it could still be made."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from postroom.mailbox.waiting import Stands, always


def new_name() -> str:
    """What a request is called in the log and the audit."""
    return f"r_{secrets.token_hex(8)}"


@dataclass(frozen=True, slots=True)
class Visit:
    """`stands` is asked by calls that take their time: by then the token may be revoked, or bound otherwise."""

    stands: Stands = always
    name: str = field(default_factory=new_name)
