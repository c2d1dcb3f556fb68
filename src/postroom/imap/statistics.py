"""How many messages folders hold and how full a mailbox is: STATUS, LIST-STATUS (RFC 5819), QUOTA (RFC 9208)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from postroom.imap.connection import Connection
from postroom.imap.faults import RefusedFault
from postroom.imap.reply import Reply
from postroom.imap.wire import Atom, Token, as_int, as_text

_KIB = 1024
_LARGEST = 2**53 - 1
_ASKED = "(MESSAGES UNSEEN)"


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one folder; None for what the server does not tell."""

    messages: int | None = None
    unseen: int | None = None

    @property
    def known(self) -> bool:
        return self.messages is not None and self.unseen is not None


@dataclass(frozen=True, slots=True)
class Quota:
    """Octets and messages, used and allowed; None for what is not limited or not told."""

    used_bytes: int | None = None
    limit_bytes: int | None = None
    used_messages: int | None = None
    limit_messages: int | None = None


async def count_all(connection: Connection) -> Mapping[bytes, Counts] | None:
    """Counts by the server's own folder names, in one command; None if the server has no such command."""
    if "LIST-STATUS" not in connection.capabilities:
        return None
    try:
        return _counts(await connection.run("LIST", Atom('"" "*"'), Atom(f"RETURN (STATUS {_ASKED})")))
    except RefusedFault:
        return None


async def count(connection: Connection, name: bytes) -> Counts:
    """Counts of one folder; empty if the server refuses, as it does for one that was just deleted."""
    try:
        reply = await connection.run("STATUS", name, Atom(_ASKED))
    except RefusedFault:
        return Counts()
    # One folder was asked for: a server that spells its name in another way, or without quotes, means the same.
    told = [_told(response.values[-1]) for response in reply.of("STATUS") if response.values]
    return _counts(reply).get(name) or next(iter(told), Counts())


def _counts(reply: Reply) -> dict[bytes, Counts]:
    found = {}
    for response in reply.of("STATUS"):
        if len(response.values) == 2 and isinstance(response.values[0], bytes):
            found[response.values[0]] = _told(response.values[1])
    return found


def _told(token: Token) -> Counts:
    told = _pairs(token)
    return Counts(told.get("MESSAGES"), told.get("UNSEEN"))


def _pairs(token: Token) -> dict[str, int]:
    values = token if isinstance(token, list) else []
    named = zip(values[::2], values[1::2], strict=False)
    numbers = {(as_text(name) or "").upper(): as_int(value) for name, value in named}
    return {name: number for name, number in numbers.items() if number is not None and number <= _LARGEST}


async def quota(connection: Connection) -> Quota | None:
    """The quota that INBOX counts against; None if the server has none, or does not tell it."""
    if not any(name == "QUOTA" or name.startswith("QUOTA=") for name in connection.capabilities):
        return None
    try:
        reply = await connection.run("GETQUOTAROOT", b"INBOX")
    except RefusedFault:
        return None
    roots = [_limits(response.values[-1] if response.values else None) for response in reply.of("QUOTA")]
    storage, messages = _tightest("STORAGE", roots), _tightest("MESSAGE", roots)
    if storage is None and messages is None:
        return None
    return Quota(
        used_bytes=storage[0] * _KIB if storage else None,
        limit_bytes=storage[1] * _KIB if storage else None,
        used_messages=messages[0] if messages else None,
        limit_messages=messages[1] if messages else None,
    )


def _tightest(resource: str, roots: Sequence[dict[str, tuple[int, int]]]) -> tuple[int, int] | None:
    """Usage and limit of the root that leaves the least: INBOX counts against each of them."""
    told = [limits[resource] for limits in roots if resource in limits]
    return min(told, key=lambda pair: pair[1] - pair[0], default=None)


def _limits(token: Token) -> dict[str, tuple[int, int]]:
    """Usage and limit by resource, storage in units of 1,024 octets."""
    values: Sequence[Token] = token if isinstance(token, list) else []
    limits = {}
    for name, used, most in zip(values[::3], values[1::3], values[2::3], strict=False):
        usage, limit = as_int(used), as_int(most)
        if usage is not None and limit is not None and max(usage, limit) <= _LARGEST // _KIB:
            limits[(as_text(name) or "").upper()] = (usage, limit)
    return limits
