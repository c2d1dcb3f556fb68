"""The gateway's own secrets in a text: its tokens by their form, passwords and canaries by keyed hashes alone."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from postroom.base.token import TOKEN_PATTERN, well_formed

SHORTEST = 8
"""Characters of a secret that is looked for. A shorter one stands in texts by chance, and a refusal would tell it."""
_LONGEST = 512
_PRIME = 2**61 - 1
_TOKEN = re.compile(rf"(?=({TOKEN_PATTERN.pattern}))", re.ASCII)
"""From every character on: what looks like the beginning of a token must not hide one that begins within."""


class OwnSecrets:
    """Secrets that must not leave, known by hashes under a key of this process. Made once, asked often."""

    def __init__(self, secrets: Iterable[str], key: bytes) -> None:
        self._key = key
        self._base = int.from_bytes(self._digest("base of the rolling hash")) % _PRIME
        self._by_length: dict[int, dict[int, set[bytes]]] = {}
        for secret in map(_composed, secrets):
            if SHORTEST <= len(secret) <= _LONGEST:
                known = self._by_length.setdefault(len(secret), {})
                known.setdefault(next(self._rolling(secret, len(secret))), set()).add(self._digest(secret))

    def found_in(self, text: str) -> bool:
        """Whether one of them stands in the text. Takes time with its length, whatever it holds."""
        composed = _composed(text)
        known = self._by_length.items()
        return self.holds_token(text) or any(self._stands(composed, length, hashes) for length, hashes in known)

    def holds_token(self, text: str) -> bool:
        """Whether a token of a gateway of this kind stands in the text, of whichever gateway."""
        return any(well_formed(match[1]) for match in _TOKEN.finditer(text))

    def _stands(self, text: str, length: int, known: dict[int, set[bytes]]) -> bool:
        for at, value in enumerate(self._rolling(text, length)):
            if value in known and self._digest(text[at : at + length]) in known[value]:
                return True
        return False

    def _rolling(self, text: str, length: int) -> Iterator[int]:
        """A hash of every window of that length, each made from the one before it (Karp and Rabin)."""
        codes: Sequence[int] = list(map(ord, text))
        if len(codes) < length:
            return
        base, first = self._base, pow(self._base, length - 1, _PRIME)
        value = 0
        for code in codes[:length]:
            value = (value * base + code) % _PRIME
        yield value
        for gone, come in zip(codes, codes[length:], strict=False):
            value = ((value - gone * first) * base + come) % _PRIME
            yield value

    def _digest(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(errors="surrogatepass"), key=self._key, digest_size=16).digest()


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
