"""How large a base64 body is when decoded, told from its two ends: a listing need not fetch a file to name its size."""

from __future__ import annotations

_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def base64_size(length: int, first: bytes, last: bytes) -> int | None:
    """Decoded octets of `length` encoded ones whose lines are all as long as the first; None if it is not regular.

    `first` and `last` are both ends, each longer than a line. RFC 2045 6.8.
    """
    line = first.partition(b"\n")[0]
    end = b"\r\n" if line.endswith(b"\r") else b"\n"
    width = len(line.rstrip(b"\r"))
    tail = last.rstrip(b"\r\n")
    if not width or width % 4 or b"\n" not in first or not _regular(first, last, width, end):
        return None
    encoded = length - (len(last) - len(tail))
    full, rest = divmod(encoded, width + len(end))
    characters = full * width + rest
    padding = len(tail) - len(tail.rstrip(b"="))
    return None if characters % 4 or padding > 2 else characters // 4 * 3 - padding


def _regular(first: bytes, last: bytes, width: int, end: bytes) -> bool:
    """Every whole line at both ends is as wide as the first and holds base64 alone."""
    lines = first.split(end)[:-1] + last.rstrip(b"\r\n").split(end)[1:-1]
    return all(len(line) == width and _ALPHABET.issuperset(line) for line in lines)
