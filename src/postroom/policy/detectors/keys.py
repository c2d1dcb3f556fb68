"""Keys and signed tokens: blocks and strings whose form alone gives them away."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode

from postroom.policy.detectors.pattern import Span, pattern

_BEGIN = pattern(r"-+ ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-+", r"PuTTY-User-Key-File-\d")
_END = pattern(r"-+ ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-+", r"Private-(?:MAC|Hash): ?[0-9a-f]+")
_JWT = pattern(r"[A-Z0-9_-]{8,}(?:\.[A-Z0-9_-]*){2,4}")
_LONGEST_HEADER = 4_000


def private_keys(text: str, context: str = "") -> list[Span]:
    """Private keys in PEM (RFC 7468), OpenPGP, SSH or PuTTY form, to their last line, or the end of the text."""
    ends = [end.end() for end in _END.finditer(text)] if "-" in text else []
    found: list[Span] = []
    at = 0
    for begin in _BEGIN.finditer(text) if "-" in text else ():
        if found and begin.start() < found[-1].end:
            continue
        while at < len(ends) and ends[at] <= begin.end():
            at += 1
        found.append(Span(begin.start(), ends[at] if at < len(ends) else len(text)))
    return found


def jwts(text: str, context: str = "") -> list[Span]:
    """JSON Web Tokens (RFC 7519), signed or encrypted: the first of their runs is JSON with an `alg`."""
    return [Span(*match.span()) for match in _JWT.finditer(text) if _has_algorithm(match.group() or "")]


def _has_algorithm(token: str) -> bool:
    header = token.partition(".")[0][:_LONGEST_HEADER]
    try:
        told = json.loads(urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and "alg" in told
