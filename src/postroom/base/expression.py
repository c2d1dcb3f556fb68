"""For regular expressions that an operator writes: RE2, whose time is linear in what it looks through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

LONGEST = 512
"""Characters of an expression."""
_MOST_INSTRUCTIONS = 5_000
_MEMORY = 8 << 20


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression, not anchored; made by `compile_expression`."""

    text: str
    case: bool
    """Case matters."""
    compiled: Any

    def found_in(self, text: str) -> bool:
        return self.compiled.search(text) is not None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where it is found, as half-open ranges of characters in ascending order; empty ones are left out."""
        return [found.span() for found in self.compiled.finditer(text) if found.end() > found.start()]


def compile_expression(text: str, *, case: bool = False) -> Expression:
    """The expression in RE2's syntax, in which `.` is no line end. ValueError says what is wrong with it."""
    if len(text) > LONGEST:
        raise ValueError(f"a regular expression has at most {LONGEST} characters")
    try:
        compiled = re2.compile(text, _options(case=case))
    except re2.error as error:
        raise ValueError(f"is no regular expression of RE2: {_words(error)}") from None
    if compiled.programsize > _MOST_INSTRUCTIONS:
        raise ValueError("the regular expression is too large; repeat less in it")
    return Expression(text, case, compiled)


@lru_cache(maxsize=1_000)
def literally_matching(pattern: str) -> Any:
    """The whole-text matcher of a pattern that we wrote ourselves, as `base.glob` does."""
    options = _options(case=True)
    options.dot_nl = True
    return re2.compile(pattern, options)


def _options(*, case: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = case
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def _words(error: Exception) -> str:
    """RE2's own words, which name the piece that it does not take; they come as octets."""
    told = error.args[0] if error.args else ""
    return told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
