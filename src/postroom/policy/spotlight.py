"""How untrusted text is cut to a length and marked as what it is."""

from __future__ import annotations

import hmac
import re
from base64 import b32encode

from postroom.policy.contentrules import Spotlight

_BOUNDARY = 10
"""Characters of a boundary that no sender can guess."""
_HALF_MARKER = re.compile(r"(?:\[redacted:[a-z0-9_-]{0,40}|\[redact\w{0,2}|‹link[^›\n]{0,300})\Z")


def cut(text: str, most: int | None) -> tuple[str, bool]:
    """The first characters of a text, without half a marker or half a character; and whether there were more."""
    if most is None or len(text) <= most:
        return text, False
    end = most
    while end and _goes_on(text[end]):
        end -= 1
    return _HALF_MARKER.sub("", text[:end]).rstrip(), True


def _goes_on(character: str) -> bool:
    """What stands on the letter before it, or joins it with the next."""
    return character in "\u200c\u200d\ufe0e\ufe0f" or "\u0300" <= character <= "\u036f"


def marked(text: str, how: Spotlight, key: bytes, message_id: str) -> str:
    """Text between two lines that no sender can write, or with a mark for each blank. No security control."""
    if how is Spotlight.DATAMARK:
        return text.replace(" ", "^")
    if how is Spotlight.FIELDS or not text:
        return text
    boundary = _boundary(f"{message_id}\0{text}", key)
    while boundary in text:
        boundary = _boundary(boundary, key)
    return f"<<<MAIL-{boundary}\n{text}\nMAIL-{boundary}>>>"


def _boundary(text: str, key: bytes) -> str:
    return b32encode(hmac.digest(key, text.encode("utf-8", "replace"), "sha256"))[:_BOUNDARY].decode().lower()
