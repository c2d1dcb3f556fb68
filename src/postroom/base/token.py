"""Access tokens: their form, how one is made, and the hash by which alone the gateway knows them."""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from dataclasses import dataclass

from postroom.base.secret import Secret

TOKEN_PATTERN = re.compile(r"psr_[aop]_[0-9A-Za-z]{10}_[0-9A-Za-z]{49}", re.ASCII)
"""What a token of ours looks like anywhere in a text: prefix, kind, id, then secret and check together."""

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ID_LENGTH = 10
_SECRET_BYTES = 32
_SECRET_LENGTH = 43  # the fewest base62 digits that hold 32 bytes
_CHECK_LENGTH = 6  # likewise for the 32 bits of a CRC


@dataclass(frozen=True, slots=True)
class Token:
    """A new token: `id` is public and may appear in logs, `text` is the whole token and is shown once."""

    id: str
    text: Secret


def mint() -> Token:
    """A new token for an agent: `psr_a_`, a random id, 256 random bits, and a check over all of it."""
    token_id = "".join(secrets.choice(_DIGITS) for _ in range(_ID_LENGTH))
    number = int.from_bytes(secrets.token_bytes(_SECRET_BYTES))
    body = f"psr_a_{token_id}_{_base62(number, _SECRET_LENGTH)}"
    return Token(token_id, Secret(body + _check(body)))


def token_hash(text: str) -> str:
    """`sha256:` and 64 hex digits over the whole token: a secret of 256 bits needs no slow hash."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def well_formed(text: str) -> bool:
    """Whether `text` has our form and a right check; this tells a slip of the hand, not a valid token."""
    if TOKEN_PATTERN.fullmatch(text) is None:
        return False
    return _check(text[:-_CHECK_LENGTH]) == text[-_CHECK_LENGTH:]


def _check(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
