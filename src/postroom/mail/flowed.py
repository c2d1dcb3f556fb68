"""For text that was wrapped softly: format=flowed made into whole paragraphs (RFC 3676)."""

from __future__ import annotations

import re

_QUOTES = re.compile("(?:>(?: ?>)*)?")
"""Also `> >`, which by the letter is a line of depth one; nobody means that."""
_SIGNATURE = "-- "


def unflow(text: str, *, delsp: bool) -> str:
    """Text with LF line ends, its flowed lines joined with what follows at the same quote depth.

    `delsp` drops the blank that marks a flowed line (RFC 3676 4.2). The signature separator is never joined, nor is an
    empty line, which by the letter would only end a paragraph: mailers show it, and writers mean it.
    """
    lines: list[str] = []
    open_depth: int | None = None
    for line in text.split("\n"):
        depth, words = _unstuffed(line)
        flowed = words.endswith(" ") and words != _SIGNATURE
        piece = words[:-1] if flowed and delsp else words
        if open_depth == depth and words not in ("", _SIGNATURE):
            lines.append(piece)
        else:
            lines.append(("\n" if lines else "") + _quoted(depth, piece))
        open_depth = depth if flowed else None
    return "".join(lines)


def _unstuffed(line: str) -> tuple[int, str]:
    """Quote depth, and the line behind it without the blank of RFC 3676 4.4."""
    quotes = _QUOTES.match(line)
    end = quotes.end() if quotes else 0
    return line.count(">", 0, end), line[end:].removeprefix(" ")


def _quoted(depth: int, words: str) -> str:
    return f"{'>' * depth} {words}" if depth else words
