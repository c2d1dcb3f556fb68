"""For looking at a text as if it were written plainly: a copy of the same length in ASCII digits and simple forms."""

from __future__ import annotations

import unicodedata

_MOST_KEPT = 20_000
_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")


class _Forms(dict[int, int]):
    """The simple form of each character that was met."""

    def __missing__(self, code: int) -> int:
        form = ord(_simple(chr(code)))
        if len(self) < _MOST_KEPT:
            self[code] = form
        return form


def _simple(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    folded = folded if len(folded) == 1 else character
    digit = unicodedata.digit(folded, None)
    if digit is not None:
        return str(digit)
    return "-" if folded in _DASHES else folded


_FORMS = _Forms()


def shadow(text: str) -> str:
    """The text with each character in its compatibility form (NFKC) where that is one character, digits in ASCII.

    Places in it are places in the text.
    """
    return text if text.isascii() else text.translate(_FORMS)
