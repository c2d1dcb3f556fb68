"""For globs: `?` one character, `*` any run, and over paths `**` any run that may pass a slash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from postroom.base.expression import literally_matching

LONGEST = 200
"""Characters of a glob; comparing two takes time with the product of their lengths."""
_SLASH = "/"
_ONE, _RUN, _ANY_RUN = "?", "*", "**"
_TOKEN = re.compile(r"\*\*+|[\s\S]")


@dataclass(frozen=True, slots=True)
class Glob:
    """A compiled glob, which the whole text must match; made by `path_glob` and `text_glob`."""

    text: str
    tokens: tuple[str, ...]
    compiled: Any

    def matches(self, text: str) -> bool:
        return self.compiled.fullmatch(text) is not None

    def intersects(self, other: Glob) -> bool:
        """Whether some text matches both: the product of the two is walked, place by place."""
        seen = {(0, 0)}
        open_ = [(0, 0)]
        while open_:
            here, there = open_.pop()
            if here == len(self.tokens) and there == len(other.tokens):
                return True
            for place in _steps(self.tokens, other.tokens, here, there):
                if place not in seen:
                    seen.add(place)
                    open_.append(place)
        return False


def path_glob(text: str) -> Glob:
    """A glob over canonical folder paths. ValueError if it is too long."""
    return _compiled(text, {_ONE: "[^/]", _RUN: "[^/]*", _ANY_RUN: ".*"})


def text_glob(text: str) -> Glob:
    """A glob over text, in which a slash is a character like others. ValueError if it is too long."""
    return _compiled(text, {_ONE: ".", _RUN: ".*", _ANY_RUN: ".*"})


def _compiled(text: str, meanings: dict[str, str]) -> Glob:
    if not text or len(text) > LONGEST:
        raise ValueError(f"a pattern has 1 to {LONGEST} characters")
    tokens = tuple(_ANY_RUN if token.startswith(_ANY_RUN) else token for token in _TOKEN.findall(text))
    expression = "".join(meanings.get(token) or re.escape(token) for token in tokens)
    return Glob(text, tokens, literally_matching(expression))


def _steps(ours: tuple[str, ...], theirs: tuple[str, ...], here: int, there: int) -> list[tuple[int, int]]:
    """Where a walk can go: past a run that takes nothing, or past one character that both take."""
    mine = ours[here] if here < len(ours) else None
    other = theirs[there] if there < len(theirs) else None
    steps = []
    if mine in (_RUN, _ANY_RUN):
        steps.append((here + 1, there))
    if other in (_RUN, _ANY_RUN):
        steps.append((here, there + 1))
    if mine is not None and other is not None and _share(mine, other):
        steps.append((here + (mine not in (_RUN, _ANY_RUN)), there + (other not in (_RUN, _ANY_RUN))))
    return steps


def _share(one: str, other: str) -> bool:
    """Whether two tokens of a path can take the same character."""
    wild = (_ONE, _RUN, _ANY_RUN)
    if one in wild and other in wild:
        return True
    if one not in wild and other not in wild:
        return one == other
    wildcard, letter = (one, other) if one in wild else (other, one)
    return letter != _SLASH or wildcard == _ANY_RUN
