"""What stands in a text under one layer of base64, hexadecimal digits or percent signs."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}+(?:\r?\n[A-Za-z0-9+/_-]{4,}+)*+")
"""A run of 24 digits or more, and lines of more of them."""
_HEX = re.compile(r"[0-9A-Fa-f]{24,}+(?:\r?\n[0-9A-Fa-f]{4,}+)*+")
_STANDARD = str.maketrans("-_", "+/", "\r\n")
_LINE_ENDS = str.maketrans("", "", "\r\n")


def decoded(text: str) -> Iterator[str]:
    """What the encoded runs of a text say, each read from every digit that it may begin with.

    Words before a run, glued to it, shift where its digits begin. Octets that are no UTF-8 become U+FFFD.
    """
    for run in _BASE64.finditer(text):
        digits = run[0].translate(_STANDARD)
        yield from (_base64(digits[start:]) for start in range(4))
    for run in _HEX.finditer(text):
        digits = run[0].translate(_LINE_ENDS)
        yield from (_hexadecimal(digits[start:]) for start in range(2))
    if "%" in text:
        yield unquote(text, errors="replace")


def _base64(digits: str) -> str:
    """Whole octets of as many digits as make some; one digit alone makes none (RFC 4648 4)."""
    kept = digits[: len(digits) - (len(digits) % 4 == 1)]
    return binascii.a2b_base64(kept + "=" * (-len(kept) % 4)).decode(errors="replace")


def _hexadecimal(digits: str) -> str:
    return binascii.unhexlify(digits[: len(digits) // 2 * 2]).decode(errors="replace")
