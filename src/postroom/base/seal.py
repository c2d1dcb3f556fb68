"""Opaque ids and cursors: sealed values that open only for whom, and for what, they were made."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MASTER_BYTES = 32
_CIPHER_BYTES = 64  # AES-256-SIV takes two keys of 256 bits (RFC 5297 2.2)
_CACHED_CIPHERS = 256
_LONGEST = 512
_LONGER = {"a": 4096, "s": 4096}  # these hold a folder's name, or the places of many mailboxes
_SHAPE = re.compile(r"([a-z])1_([A-Za-z0-9_-]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The master keys (32 bytes) that still open, by key id (0 to 255); `current` is the one that seals."""

    current: int
    keys: Mapping[int, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        if self.current not in self.keys:
            raise ValueError("the current sealing key is not in the ring")
        for kid, key in self.keys.items():
            if not 0 <= kid <= 255 or len(key) != MASTER_BYTES:
                raise ValueError("a sealing key has an id of one byte and 32 bytes")


class SealError(Exception):
    """The text was not sealed by us for this use. Nothing says why: a reason would answer a guesser."""

    def __init__(self) -> None:
        super().__init__("this id or cursor does not open here")


class Seal:
    """Seals and opens with AES-256-SIV (RFC 5297), deterministically: the same value always has the same id.

    A key per identity is derived by HKDF-SHA256 (RFC 5869); kind, identity and `bound` are authenticated.
    """

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        self._cipher = lru_cache(maxsize=_CACHED_CIPHERS)(self._derive)

    def seal(self, kind: str, plaintext: bytes, *, identity: str, bound: Sequence[bytes]) -> str:
        """`<kind>1_<base64url(kid, ciphertext)>`, for one lower-case letter `kind`; at most 512 characters.

        `bound` is what must be the same when it is opened: mailbox, folder, query, policy. Kinds `a` and `s` may
        have 4,096 characters. Raises ValueError for a plaintext too long to be opened again.
        """
        kid = self._ring.current
        sealed = self._cipher(kid, identity).encrypt(plaintext, [_associated(kind, identity, bound)])
        text = f"{kind}1_{_encode(bytes([kid]) + sealed)}"
        if _SHAPE.fullmatch(text) is None or len(text) > _longest(kind):
            raise ValueError(f"a value of {len(plaintext)} bytes cannot be sealed as kind {kind!r}")
        return text

    def open(self, kind: str, text: str, *, identity: str, bound: Sequence[bytes]) -> bytes:
        """The plaintext, or SealError whatever is wrong: altered, foreign, of another kind, or made up."""
        data = _decode(kind, text)
        kid = data[0]
        if kid not in self._ring.keys:
            raise SealError
        try:
            return self._cipher(kid, identity).decrypt(data[1:], [_associated(kind, identity, bound)])
        except (InvalidTag, ValueError):
            raise SealError from None

    def _derive(self, kid: int, identity: str) -> AESSIV:
        info = b"sid/1|" + bytes([kid]) + identity.encode()
        hkdf = HKDF(algorithm=SHA256(), length=_CIPHER_BYTES, salt=None, info=info)
        return AESSIV(hkdf.derive(self._ring.keys[kid]))


def _associated(kind: str, identity: str, bound: Sequence[bytes]) -> bytes:
    """One string for them all, each with its length before it, so that no two lists look the same."""
    items = (b"sid/1", kind.encode(), identity.encode(), *bound)
    return b"".join(len(item).to_bytes(4) + item for item in items)


def _longest(kind: str) -> int:
    return _LONGER.get(kind, _LONGEST)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode(kind: str, text: str) -> bytes:
    """The bytes of a well-formed id of this kind; spare bits must be zero, so a value has one id only."""
    shape = _SHAPE.fullmatch(text) if len(text) <= _longest(kind) else None
    if shape is None or shape[1] != kind:
        raise SealError
    body = shape[2]
    try:
        data = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except binascii.Error:
        raise SealError from None
    if _encode(data) != body:
        raise SealError
    return data
