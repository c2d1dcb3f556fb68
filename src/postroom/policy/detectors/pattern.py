"""Patterns of the detectors: RE2, so that no text makes them take more than linear time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import re2


class Span(NamedTuple):
    """A half-open range of characters."""

    start: int
    end: int


class Match(Protocol):
    """What is used of a match."""

    def start(self, group: int = 0) -> int: ...

    def end(self, group: int = 0) -> int: ...

    def span(self, group: int = 0) -> tuple[int, int]: ...

    def group(self, group: int = 0) -> str | None: ...


class Pattern(Protocol):
    """What is used of a compiled pattern. `\\d`, `\\w` and `\\b` know ASCII alone; `(?i)` knows every alphabet."""

    def finditer(self, text: str) -> Iterator[Match]: ...

    def search(self, text: str) -> Match | None: ...


_OPTIONS = re2.Options()
_OPTIONS.max_mem = 64 << 20
_OPTIONS.log_errors = False


def pattern(*alternatives: str, any_case: bool = True) -> Pattern:
    """One pattern that finds any of these."""
    body = "|".join(f"(?:{one})" for one in alternatives) if len(alternatives) > 1 else alternatives[0]
    compiled: Pattern = re2.compile(f"(?i){body}" if any_case else body, _OPTIONS)
    return compiled


def is_letter_or_digit(character: str) -> bool:
    """Of a script that parts its words: what stands beside a code in Chinese or Thai is no part of it.

    The empty string, as found before the first and behind the last character, is none.
    """
    return (character.isalnum() or character == "_") and not "\u0e00" <= character <= "\u0e7f" and character < "\u2e80"


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a range is no part of a longer word."""
    before = text[start - 1] if start else ""
    return not is_letter_or_digit(before) and not is_letter_or_digit(text[end : end + 1])
