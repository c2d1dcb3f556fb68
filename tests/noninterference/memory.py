"""A mail server without a wire: folders and messages in memory, and what is sent kept."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from postroom.mail.outgoing.model import Cleared
from postroom.smtp import Accepted

APPENDED_AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
"""When everything arrives that is filed here."""


@dataclass(slots=True)
class Stored:
    """A message as it lies in a folder."""

    octets: bytes
    flags: frozenset[str]
    received_at: datetime


@dataclass(slots=True)
class MemoryFolder:
    """`changes` counts whatever another session would be told of."""

    raw: bytes
    attribute: str
    messages: dict[int, Stored] = field(default_factory=dict)
    uid_next: int = 1
    changes: int = 0

    @property
    def uid_validity(self) -> int:
        """By the name alone, so that a folder has the same in any world that has it."""
        return zlib.crc32(self.raw) % 1_000_000 + 1

    def put(self, message: Stored, uid: int | None = None) -> int:
        uid = uid or self.uid_next
        self.uid_next = max(self.uid_next, uid + 1)
        self.messages[uid] = message
        self.changes += 1
        return uid

    def take(self, uid: int) -> Stored | None:
        self.changes += 1
        return self.messages.pop(uid, None)

    def flag(self, uid: int, flags: frozenset[str]) -> None:
        self.changes += 1
        self.messages[uid].flags = flags


class MemoryServer:
    """One login's mail. Names are as a server spells them, which for these is as people do."""

    def __init__(self) -> None:
        self.folders: dict[bytes, MemoryFolder] = {}

    def create(self, name: str, attribute: str = "") -> MemoryFolder:
        return self.folders.setdefault(name.encode(), MemoryFolder(name.encode(), attribute))

    def folder(self, name: str) -> MemoryFolder:
        return self.folders[name.encode()]


class Outbox:
    """Stands for `smtp.Submitter`: takes everything, and keeps it."""

    def __init__(self) -> None:
        self.sent: list[tuple[tuple[str, ...], bytes]] = []

    async def submit(self, cleared: Cleared, *, partial: bool, before_message: Any) -> Accepted:
        accepted = Accepted(cleared.recipients, ())
        await before_message(accepted)
        self.sent.append((cleared.recipients, cleared.octets))
        return accepted

    async def probe(self) -> None:
        """It is always there."""

    def close(self) -> None:
        """Nothing is open."""
