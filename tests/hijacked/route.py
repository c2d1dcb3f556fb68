"""A route that a hijacked agent tries, and what each preset must make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.hijacked.standing import ALLOWED, Answer, World

Try = Callable[[World], Sequence[Answer]]
"""Its answers all end alike."""
COLUMNS = ("reader", "triage", "drafter", "replier", "notifier", "sender")
"""The presets, and a replier whose mode is `send`."""
ENDS = {
    "-": "not offered",
    "x": "refused",
    "r": "read",
    "d": "a draft",
    "D": "a draft for anybody",
    "c": "flags changed",
    "s": "sent",
}


@dataclass(frozen=True)
class Route:
    """`ends` has a letter of ENDS for each of COLUMNS; a sender for which there is none is like a replier."""

    name: str
    ends: str
    go: Try

    def end(self, column: str) -> str:
        letters = self.ends.split()
        at = COLUMNS.index(column)
        return letters[at] if at < len(letters) else letters[COLUMNS.index("replier")]


def call(tool: str, *several: dict[str, Any], **arguments: Any) -> Try:
    """One call, or one for each of `several` beside the arguments they have in common."""
    return lambda world: [world.ask(tool, **arguments, **one) for one in several or ({},)]


def send(*several: dict[str, Any], tool: str = "send") -> Try:
    """An innocent message but for these."""
    innocent = {"to": [ALLOWED], "subject": "Note", "body_text": "Hello."}
    return lambda world: [world.ask(tool, **innocent | one) for one in several or ({},)]


def draft(*several: dict[str, Any]) -> Try:
    """The same as a draft."""
    return send(*several, tool="create_draft")
