"""Folder names: modified UTF-7 (RFC 3501 5.1.3) to text and back."""

from __future__ import annotations

import base64
import binascii
import re

_SHIFTED = re.compile(r"&([^&-]*)-")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]+")


def decode_name(raw: bytes) -> str:
    """The folder's name for people; octets that are no valid name are shown, replaced, never raised on."""
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")
    return _SHIFTED.sub(_unshift, text)


def _unshift(match: re.Match[str]) -> str:
    if not match[1]:
        return "&"
    packed = match[1].replace(",", "/")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True).decode("utf-16-be")
    except (binascii.Error, ValueError):
        return match[0]


def encode_name(text: str) -> bytes:
    """A name as the server spells it."""
    return _UNPRINTABLE.sub(_shift, text.replace("&", "&-")).encode("ascii")


def _shift(match: re.Match[str]) -> str:
    packed = base64.b64encode(match[0].encode("utf-16-be", "surrogatepass")).decode("ascii")
    return "&" + packed.rstrip("=").replace("/", ",") + "-"
