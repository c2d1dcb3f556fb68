"""How handing over a message ended: accepted, rejected, or not known. What the server said stays in its codes."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_ENHANCED = re.compile(r"([245])\.\d{1,3}\.\d{1,3}(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's reply to one command, without its words."""

    code: int
    """RFC 5321 4.2; 0 for what is no reply."""
    enhanced: str | None
    """RFC 3463, such as `5.1.1`; None where the server gives none, or one of another class than its code."""

    @classmethod
    def read(cls, code: int, text: str) -> Answer:
        """From a reply's code and text."""
        found = _ENHANCED.match(text)
        believed = found is not None and found[1] == str(code)[0]
        return cls(code if 200 <= code <= 599 else 0, found[0] if found and believed else None)

    @property
    def is_positive(self) -> bool:
        return 200 <= self.code < 300

    @property
    def is_refusal(self) -> bool:
        return 400 <= self.code <= 599

    @property
    def is_temporary(self) -> bool:
        return 400 <= self.code < 500


@dataclass(frozen=True, slots=True)
class Refusal:
    """A recipient that the server does not take."""

    address: str
    code: int
    enhanced: str | None
    temporary: bool


@dataclass(frozen=True, slots=True)
class Accepted:
    """The server has taken the message for `recipients`; the only success."""

    recipients: tuple[str, ...]
    refused: tuple[Refusal, ...]
    """Recipients it goes to nothing for; only where that was allowed."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The server has refused, so nobody gets the message."""

    stage: str
    """`sender`, `recipients`, `data` (the command), or `message` (its octets)."""
    code: int
    enhanced: str | None
    temporary: bool
    """The same message may be taken later."""
    refused: tuple[Refusal, ...] = ()
    """Of the recipients, where the stage is that."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The final dot was sent and no reply understood: the message may be on its way. Never to be sent again."""

    reason: str
    """`lost`, `timeout` or `protocol`."""


Outcome = Accepted | Rejected | Unknown
BeforeMessage = Callable[[Accepted], Awaitable[None]]
"""Awaited right before the first octet of a message is written, with what it comes to if the server takes it."""
