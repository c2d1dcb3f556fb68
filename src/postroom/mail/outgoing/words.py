"""For header text beyond ASCII: encoded words (RFC 2047), whole letters, as short as they can be."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

MAX_WORD = 75
"""Characters of an encoded word (RFC 2047 2)."""
_FRAME = len("=?utf-8?q??=")
_LITERAL = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/")
"""What may stand for itself in every place where an encoded word may (RFC 2047 5 (3))."""
_Q = [chr(octet) if octet in _LITERAL else f"={octet:02X}" for octet in range(256)]
_Q[0x20] = "_"


def encoded_words(text: str, first: int = MAX_WORD) -> list[str]:
    """Encoded words in UTF-8 that decode to the text, by B or Q, whichever is shorter; the first of at most `first`.

    No letter is split between words. White space between them is not part of the text.
    """
    octets = text.encode()
    quoted = sum(len(_Q[octet]) for octet in octets)
    if quoted <= 4 * -(-len(octets) // 3):
        return [f"=?utf-8?q?{_quoted(piece)}?=" for piece in _pieces(text, first, _quoted_length, 1)]
    return [f"=?utf-8?b?{_packed(piece)}?=" for piece in _pieces(text, first, _octets, 4)]


def _quoted(text: str) -> str:
    return "".join([_Q[octet] for octet in text.encode()])


def _packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def _quoted_length(letter: str) -> int:
    return sum(len(_Q[octet]) for octet in letter.encode())


def _octets(letter: str) -> int:
    return len(letter.encode())


def _pieces(text: str, first: int, cost: Callable[[str], int], quantum: int) -> Iterator[str]:
    """The text cut between letters; with a `quantum` of 4 every four characters of a word hold three octets."""
    start = used = 0
    room = _room(first, quantum)
    for at, letter in enumerate(text):
        needed = cost(letter)
        if used + needed > room:
            yield text[start:at]
            start, used, room = at, 0, _room(MAX_WORD, quantum)
        used += needed
    yield text[start:]


def _room(length: int, quantum: int) -> int:
    room = length - _FRAME
    return room if quantum == 1 else room // 4 * 3
