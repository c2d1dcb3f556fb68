"""How much of each field there is room for: a program gets all of it, a model what it can use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
_LINES = 20
_FEWEST = 10
"""Characters that one line always has."""
TIGHTEST = 16
"""How many times less room than usual there is at the least."""
LONGEST_ADDRESS = 254
"""Characters past which an address can be nobody's (RFC 5321 4.5.3.1.3)."""


@dataclass(slots=True)
class Room:
    """Cuts lists to `entries` and one-line values to `characters`, and keeps account of what it cut."""

    entries: int | None = None
    characters: int | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    """Entries or characters left out, by field."""

    @property
    def is_endless(self) -> bool:
        """Nothing is ever cut."""
        return self.entries is None and self.characters is None

    def some(self, name: str, values: Sequence[T]) -> list[T]:
        if self.entries is not None and len(values) > self.entries:
            self.left_out[name] = len(values) - self.entries
            return list(values[: self.entries])
        return list(values)

    def line(self, name: str, text: str | None) -> str | None:
        if text is not None and self.characters is not None and len(text) > self.characters:
            self.left_out[name] = len(text) - self.characters
            return text[: self.characters]
        return text

    def fitting(self, name: str, values: Sequence[T], length: Callable[[T], int]) -> list[T]:
        """Values that are never cut, as many as `_LINES` times `characters` hold."""
        if self.characters is None:
            return list(values)
        left = self.characters * _LINES
        for count, value in enumerate(values):
            left -= length(value)
            if left < 0:
                self.left_out[name] = len(values) - count
                return list(values[:count])
        return list(values)

    def short(self, text: str, most: int = 120) -> str:
        """A value within a list, where an ellipsis tells of the cut."""
        if self.characters is None or len(text) <= (most := min(most, self.characters)):
            return text
        return text[: most - 1] + "…"

    def lines(self, name: str, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs of short texts, as many as `_LINES` times `characters` hold."""
        if self.characters is None:
            return list(values)
        kept: list[tuple[str, str]] = []
        left = self.characters * _LINES
        for first, second in values:
            pair = (self.short(first), self.short(second, self.characters))
            left -= len(pair[0]) + len(pair[1])
            if left < 0:
                self.left_out[name] = len(values) - len(kept)
                break
            kept.append(pair)
        return kept


def for_model(messages: int, tight: int = 1) -> Room:
    """Room in one of so many messages of an answer; `tight` is how many times less than usual."""
    entries, characters = max(5, 20 // messages), max(150, 600 // messages)
    return Room(entries=entries // tight, characters=max(_FEWEST, characters // tight))
