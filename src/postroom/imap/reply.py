"""The answer to one command, and what the answer to a SELECT tells about a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from postroom.imap.wire import Garbled, Status, Token, Untagged, as_int


@dataclass(slots=True)
class Reply:
    """The answer to one command: the tagged status and what came before it."""

    status: Status
    untagged: list[Untagged] = field(default_factory=list)
    garbled: list[Garbled] = field(default_factory=list)

    def of(self, kind: str) -> list[Untagged]:
        return [response for response in self.untagged if response.kind == kind]


@dataclass(frozen=True, slots=True)
class Selected:
    """The folder a connection has open, by its name on the wire (RFC 9051 6.3.2)."""

    name: bytes
    read_only: bool
    """Nothing in it can be changed: it was opened so, or the server does not let this login."""
    examined: bool = False
    """It was opened for reading alone."""
    uid_validity: int = 0
    uid_next: int | None = None
    renumbered: bool = False
    """The numbering is not that of the SELECT: the server told of a new one since."""
    exists: int = 0
    permanent_flags: tuple[bytes, ...] | None = None
    """What can be changed for good, `\\*` for any keyword (RFC 9051 7.1); None if the server does not tell."""
    uids_stay: bool = True
    """False if the server says UIDNOTSTICKY (RFC 4315 3): the next session numbers the messages anew."""


def read_selected(pending: Selected, reply: Reply) -> Selected:
    """`pending` with what a SELECT or EXAMINE answered (RFC 9051 6.3.2)."""
    exists = [response.number or 0 for response in reply.of("EXISTS")]
    codes = {
        response.values[0].upper(): response.values[1:]
        for response in reply.of("OK")
        if response.values and isinstance(response.values[0], bytes)
    }
    permanent = codes.get(b"PERMANENTFLAGS", [])
    flags = permanent[0] if permanent and isinstance(permanent[0], list) else None
    return replace(
        pending,
        read_only=pending.read_only or reply.status.code == "READ-ONLY",
        uid_validity=_code_number(codes, b"UIDVALIDITY") or 0,
        uid_next=_code_number(codes, b"UIDNEXT"),
        exists=exists[-1] if exists else 0,
        permanent_flags=None if flags is None else tuple(flag for flag in flags if isinstance(flag, bytes)),
        uids_stay=not any(b"UIDNOTSTICKY" in response.values[:1] for response in (*reply.of("NO"), *reply.of("OK"))),
    )


def _code_number(codes: dict[bytes, list[Token]], name: bytes) -> int | None:
    return code_number(codes.get(name, []))


def code_number(values: Sequence[Token]) -> int | None:
    """The number of a response code such as UIDVALIDITY, or None if it has none that can be used."""
    number = as_int(values[0]) if values else None
    return number if number is not None and number < _LARGEST else None


_LARGEST = 2**63
"""Past the 32 bits that are allowed: some servers number their folders in milliseconds."""
