"""For cutting an address field into words and marks (RFC 5322 section 3.2), in one pass over the octets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

WORD, QUOTED, BROKEN = "word", "quoted", "broken"

_TOKEN = re.compile(
    rb"""(?P<blank>[ \t\r\n]+)
    |(?P<word>=\?[^?\s"<>]{1,75}\?(?:[bBqQ]\?[^?\s"<>]*|[qQ]\?[^?"<>@]{0,998})\?=
        |[^ \t\r\n()<>@,;:\\".\[\]]+|\[[^\[\]\\\s]*\])
    |(?P<mark>[<>@,;:.])
    |(?P<other>["()\\\[\]])""",
    re.VERBOSE,
)
_QUOTED = re.compile(rb'"((?:[^"\\]++|\\[\x00-\xff])*+)"')
_ESCAPED = re.compile(rb"\\([\x00-\xff])")
_COMMENT_MARK = re.compile(rb"\\[\x00-\xff]|[()]")
_DEPTH = {b"(": 1, b")": -1}
_MARKS = {octet: chr(octet) for octet in b"<>@,;:."}


class Token(NamedTuple):
    """A word, a quoted string without its quotes, a mark (its own kind), or what has no right to stand there."""

    kind: str
    octets: bytes
    spaced: bool
    """White space or a comment stood before it."""


def tokens(value: bytes) -> Iterator[Token]:
    """Tokens of a field value without its comments. A quote or bracket without its partner is `BROKEN`."""
    position, spaced = 0, False
    # What never closes is looked for once: a second search could only fail again, at the same price.
    closing = {0x22, 0x28}
    while found := _TOKEN.match(value, position):
        start, position = position, found.end()
        if found.lastgroup == "word":
            token = Token(WORD, found[0], spaced)
        elif found.lastgroup == "mark":
            token = Token(_MARKS[value[start]], found[0], spaced)
        elif found.lastgroup == "blank" or (end := _comment_end(value, start, closing)) > start:
            position, spaced = position if found.lastgroup == "blank" else end, True
            continue
        else:
            token, position = _quoted(value, start, spaced, closing)
        yield token
        spaced = False


def _comment_end(value: bytes, start: int, closing: set[int]) -> int:
    """The offset behind a nested comment (RFC 5322 3.2.2), or `start` when none ends that begins here."""
    if value[start] != 0x28 or 0x28 not in closing:
        return start
    depth = 0
    for mark in _COMMENT_MARK.finditer(value, start):
        depth += _DEPTH.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    closing.discard(0x28)
    return start


def _quoted(value: bytes, start: int, spaced: bool, closing: set[int]) -> tuple[Token, int]:
    if value[start] == 0x22 and 0x22 in closing:
        if quoted := _QUOTED.match(value, start):
            return Token(QUOTED, _ESCAPED.sub(rb"\1", quoted[1]), spaced), quoted.end()
        closing.discard(0x22)
    return Token(BROKEN, value[start : start + 1], spaced), start + 1
