"""For CSS lengths in pixels of the reference environment: units, percentages, calc()."""

from __future__ import annotations

import re

WIDTH, HEIGHT = 1024.0, 768.0
"""The reference viewport, in CSS pixels."""
SIZE = 16.0
"""The reference font size, in CSS pixels."""

_FIXED = {"": 1, "px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "rem": 16}
_FIXED |= {f"{kind}{axis}": px for kind in ("", "s", "l", "d") for axis, px in (("vw", 10.24), ("vh", 7.68))}
_FIXED |= {"vmin": 7.68, "vmax": 10.24, "vi": 10.24, "vb": 7.68, "rlh": 19.2}
_OF_FONT = {"em": 1.0, "ex": 0.5, "ch": 0.5, "ic": 1.0, "cap": 0.7, "lh": 1.2}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)")
_TOKEN = re.compile(r"\s*(?:((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)|(-?[a-z-]*\(|[)+*/,-]))")
_LARGEST = {"min(": min, "max(": max}
_MAX_TOKENS = 100
"""Of one calc(); nobody writes longer ones by hand."""


def pixels(value: str, em: float = SIZE, whole: float = WIDTH) -> float | None:
    """A length in pixels; `em` is the font size it is relative to, `whole` what 100% means. None if it is none.

    A number without a unit counts as pixels, as it does in quirks mode.
    """
    match = _NUMBER.fullmatch(value)
    if match:
        return _scaled(float(match[1]), match[2], em, whole)
    if value.endswith(")") and "(" in value:
        return _calculated(value, em, whole)
    return None


def _scaled(number: float, unit: str, em: float, whole: float) -> float | None:
    if unit == "%":
        return number * whole / 100
    factor = _FIXED.get(unit)
    if factor is None:
        relative = _OF_FONT.get(unit)
        factor = None if relative is None else relative * em
    return None if factor is None else number * factor


def _calculated(value: str, em: float, whole: float) -> float | None:
    """CSS Values 4 section 10 without its types: + - * / and calc, min, max, clamp."""
    tokens: list[float | str] = []
    at = 0
    while at < len(value) and len(tokens) < _MAX_TOKENS:
        match = _TOKEN.match(value, at)
        if not match:
            return None
        scaled = _scaled(float(match[1]), match[2], em, whole) if match[1] else match[3]
        if scaled is None:
            return None
        tokens.append(scaled)
        at = match.end()
    try:
        result = _Sum(tokens).argument() if at >= len(value) else None
    except (IndexError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return 0.0 if result is not None and result != result else result  # not a number is zero (CSS Values 4, 10.9)


class _Sum:
    """A reader of calc() tokens; as deep as there are tokens, which are few."""

    def __init__(self, tokens: list[float | str]) -> None:
        self._tokens = tokens[::-1]

    def argument(self) -> float:
        total = self._product()
        while self._tokens and self._tokens[-1] in ("+", "-"):
            sign = 1 if self._tokens.pop() == "+" else -1
            total += sign * self._product()
        return total

    def _product(self) -> float:
        total = self._term()
        while self._tokens and self._tokens[-1] in ("*", "/"):
            multiply = self._tokens.pop() == "*"
            term = self._term()
            total = total * term if multiply else total / term
        return total

    def _term(self) -> float:
        first = self._tokens.pop()
        if isinstance(first, float | int):
            return float(first)
        if first in ("+", "-"):
            return self._term() * (-1 if first == "-" else 1)
        if not first.endswith("("):
            raise ValueError(first)
        return self._function(first)

    def _function(self, name: str) -> float:
        arguments = [self.argument()]
        while self._tokens[-1] == ",":
            self._tokens.pop()
            arguments.append(self.argument())
        if self._tokens.pop() != ")":
            raise ValueError(name)
        if name == "clamp(":
            low, middle, high = arguments
            return max(low, min(middle, high))
        if name in _LARGEST:
            return _LARGEST[name](arguments)
        if name not in ("(", "calc(", "-webkit-calc(", "-moz-calc("):
            raise ValueError(name)
        return arguments[0]
