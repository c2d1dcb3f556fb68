"""For what text may hold: values of one line without controls, and bodies with plain line ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

_REMOVED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]+")
_BREAK = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_BREAK_RUN = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029 ]+")
_SURROGATES = re.compile("[\ud800-\udfff]+")


def one_line(text: str) -> str:
    """Text for a one-line value: line ends and separators become one space, other controls are removed.

    Holds no C0 or C1 control, DEL, U+2028, U+2029 or surrogate, and no white space at its ends.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    text = _REMOVED.sub("", text)
    if _BREAK.search(text):
        text = _BREAK_RUN.sub(_one_space, text)
    return text.strip()


def _one_space(match: re.Match[str]) -> str:
    return " " if _BREAK.search(match[0]) else match[0]


def joined(texts: Sequence[str]) -> str:
    """Texts one below the other."""
    return texts[0] if len(texts) == 1 else "\n".join(text.rstrip("\n") for text in texts)


def plain_lines(text: str) -> str:
    """Text for a body: its lines end with LF, and it holds no surrogates and no NUL; other controls are still there."""
    text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return text if text.isascii() else _SURROGATES.sub("", text)
