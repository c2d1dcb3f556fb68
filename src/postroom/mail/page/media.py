"""For media queries, asked of the reference environment: a screen of 1024 by 768 pixels, light."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from postroom.mail.page.css import lower, names
from postroom.mail.page.lengths import HEIGHT, WIDTH, pixels

Truth = bool | None
"""None where it cannot be told: a feature that we do not know."""

_TYPES = {"all": True, "screen": True} | dict.fromkeys(
    names("print speech tv tty projection handheld braille embossed aural"), False
)
_SIZES = {"width": WIDTH, "device-width": WIDTH, "height": HEIGHT, "device-height": HEIGHT}
_NUMBERS = {
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
    "aspect-ratio": 4 / 3,
    "device-aspect-ratio": 4 / 3,
    "color": 8.0,
    "color-index": 0.0,
    "monochrome": 0.0,
    "grid": 0.0,
}
_WORDS = {
    "orientation": "landscape",
    "prefers-color-scheme": "light",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "scripting": "none",
    "update": "fast",
    "scan": "progressive",
    "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference",
    "forced-colors": "none",
    "prefers-reduced-transparency": "no-preference",
    "prefers-reduced-data": "no-preference",
    "inverted-colors": "none",
    "display-mode": "browser",
    "-ms-high-contrast": "none",
    "dynamic-range": "standard",
    "overflow-inline": "scroll",
    "overflow-block": "scroll",
}
_NEVER = names("none no-preference")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
}
_RANGE = re.compile(r"(?:([^<>=]+)(<=?|>=?|=))?\s*([a-z-]+)\s*(?:(<=?|>=?|=)([^<>=]+))?")
_SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
_INNERMOST = re.compile(r"\(([^()]*)\)")
_UNIT = re.compile(r"(?<=[\d.])(dppx|dpi|dpcm|x)$")
_TRUTHS = {"⊤": True, "⊥": False, "?": None}
_MARKS: dict[Truth, str] = {truth: mark for mark, truth in _TRUTHS.items()}
_LONGEST = 1000
"""Characters of a query that are looked at."""
_DEEP = 8
"""Brackets in each other that are judged."""


def applies(query: str) -> Truth:
    """Whether a list of media queries (Media Queries 4) holds for a human before an ordinary screen."""
    query = lower(" ".join(query.split()))
    if not query:
        return True
    if len(query) > _LONGEST or set(query) & set(_TRUTHS):
        return None
    for _ in range(_DEEP):  # from the inside out
        query = _INNERMOST.sub(lambda match: f" {_MARKS[_inner(match[1])]} ", query)
    return _or([_condition(one) for one in query.split(",")])


def _inner(text: str) -> Truth:
    """What stands in brackets: a feature, or a condition whose own brackets are judged already."""
    return _condition(text) if set(text) & set(_TRUTHS) else _feature(text.strip())


def _condition(text: str) -> Truth:
    words = text.split()
    negated = words[:1] == ["not"]
    words = [word for word in words[negated:] if word != "only"]
    if "or" in words:
        found = _or([_condition(" ".join(part)) for part in _parted(words, "or")])
    else:
        found = _and([_term(part) for part in _parted(words, "and")])
    return found if found is None or not negated else not found


def _parted(words: list[str], at: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == at:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _term(words: list[str]) -> Truth:
    if words[:1] == ["not"]:
        found = _term(words[1:2])
        return None if found is None else not found
    if len(words) != 1:
        return None
    word = words[0]
    return _TRUTHS[word] if word in _TRUTHS else _TYPES.get(word)


def _and(truths: list[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def _or(truths: list[Truth]) -> Truth:
    return True if True in truths else None if None in truths else False


def _feature(text: str) -> Truth:
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not colon:
        return _ranged(text)
    name = name.removeprefix("-webkit-").removeprefix("-moz-")
    for prefix, sign in (("min-", ">="), ("max-", "<="), ("min--moz-", ">="), ("max--moz-", "<="), ("", "=")):
        actual = _actual(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if actual is not None:
            wanted = _number(value)
            return None if wanted is None else _COMPARE[sign](actual, wanted)
    return _WORDS[name] == value if name in _WORDS else None


def _actual(name: str) -> float | None:
    return _SIZES.get(name, _NUMBERS.get(name))


def _ranged(text: str) -> Truth:
    """`width >= 600px`, `400px < width < 700px`, or a bare feature."""
    match = _RANGE.fullmatch(text)
    if not match:
        return None
    low, below, name, sign, high = match.groups()
    actual = _actual(name)
    if not below and not sign:
        return bool(actual) if actual is not None else _WORDS[name] not in _NEVER if name in _WORDS else None
    wanted = [(_SWAPPED[below], low)] if below else []
    wanted += [(sign, high)] if sign else []
    numbers = [(sign, _number(value.strip())) for sign, value in wanted]
    return _and(
        [None if actual is None or number is None else _COMPARE[sign](actual, number) for sign, number in numbers]
    )


def _number(value: str) -> float | None:
    unit = _UNIT.search(value)
    if unit:
        number = pixels(value[: unit.start()])
        return None if number is None else number / {"dpi": 96, "dpcm": 96 / 2.54}.get(unit[1], 1)
    over, slash, under = value.partition("/")
    if slash:
        one, other = pixels(over.strip()), pixels(under.strip())
        return one / other if one is not None and other else None
    return pixels(value)
