"""For undoing Content-Transfer-Encoding (RFC 2045 section 6), as damaged as mail brings it."""

from __future__ import annotations

import binascii
import re

_BASE64_LINE = re.compile(rb"[A-Za-z0-9+/]*={0,3}")
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/]{2,}")
NOT_BASE64 = bytes(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="))
_ESCAPE = re.compile(rb"=([0-9A-Fa-f]{2})")
_DIGITS = "0123456789abcdefABCDEF"
_OCTETS = {(high + low).encode("ascii"): bytes.fromhex(high + low) for high in _DIGITS for low in _DIGITS}
# The look-behind makes each run of blanks be tried once, so that a megabyte of them is no attack.
_TRAILING_BLANKS = re.compile(rb"(?<![ \t])[ \t]++(?=\r?(?:\n|\Z))")
_STRAY_ESCAPE = re.compile(rb"==|=\r(?!\n)")
_SOFT_BREAK_OR_ESCAPE = re.compile(rb"=\r?(?:\n|\Z)|=([0-9A-Fa-f]{2})")
_UU_BEGIN = re.compile(rb"^begin(?:-base64)?[ \t]+[0-7]{3,4}\b[^\n]*\n", re.MULTILINE)
_UU_END = re.compile(rb"^(?:end|={4})[ \t]*\r?$", re.MULTILINE)
_COMMENT = re.compile(rb"\([^()]*+\)")
UU_NAMES = frozenset(("x-uuencode", "uuencode", "x-uue", "uue"))


def encoding_name(value: bytes | None) -> str:
    """The name in a Content-Transfer-Encoding value: lower case, trimmed, `7bit` when there is none."""
    text = _COMMENT.sub(b" ", (value or b"")[:200]).decode("ascii", "ignore").lower()
    words = text.replace('"', " ").replace(";", " ").split()
    return words[0] if words else "7bit"


def is_known_encoding(name: str) -> bool:
    """Octets in it can be decoded, or need not be (RFC 2045 6.2)."""
    return name in UU_NAMES or name in ("7bit", "8bit", "binary", "base64", "quoted-printable")


def decode_transfer(octets: bytes, encoding: str) -> bytes:
    """Octets as they were before transfer encoding `encoding` (any case, blanks around it); identity if unknown."""
    name = encoding.strip().lower()
    if name == "base64":
        return decode_base64(octets)
    if name == "quoted-printable":
        return decode_quoted_printable(octets)
    return decode_uuencode(octets) if name in UU_NAMES else octets


def decode_base64(octets: bytes) -> bytes:
    """RFC 2045 6.8, tolerant: no padding, padding in the middle, foreign octets, a half last quantum.

    A footer that somebody hung below the encoded text is left out: lines that are not base64 after an empty line,
    after padding or after a signature line.
    """
    packed = octets.translate(None, b"\r\n")
    if not _BASE64_LINE.fullmatch(packed):
        packed = _without_footer(octets).translate(None, NOT_BASE64)
    return b"".join(_quanta(run) for run in _BASE64_RUN.findall(packed))


def _quanta(run: bytes) -> bytes:
    if len(run) % 4 == 1:
        run = run[:-1]
    return binascii.a2b_base64(run + b"=" * (-len(run) % 4))


def _without_footer(octets: bytes) -> bytes:
    ended = False
    position = 0
    for line in octets.split(b"\n"):
        footer, ended = is_footer(line, ended)
        if footer:
            return octets[:position]
        position += len(line) + 1
    return octets


def is_footer(line: bytes, ended: bool) -> tuple[bool, bool]:
    """Whether a line begins a footer, if the encoded text may have `ended` before it; and whether it may have after."""
    bare = line.strip().replace(b"\r", b"")
    if ended and bare and not _BASE64_LINE.fullmatch(bare):
        return True, True
    return False, bare in (b"", b"--") or bare.endswith(b"=")


def decode_quoted_printable(octets: bytes) -> bytes:
    """RFC 2045 6.7, tolerant: lower-case digits, escapes without meaning kept, blanks before a line end dropped."""
    stripped = _TRAILING_BLANKS.sub(b"", octets)
    if _STRAY_ESCAPE.search(stripped):
        return _SOFT_BREAK_OR_ESCAPE.sub(lambda match: _OCTETS[match[1]] if match[1] else b"", stripped)
    return binascii.a2b_qp(stripped)


def unescape(octets: bytes) -> bytes:
    """`=XX` made octets; an equals sign without two hexadecimal digits stays."""
    return _ESCAPE.sub(_octet, octets)


def _octet(match: re.Match[bytes]) -> bytes:
    return _OCTETS[match[1]]


def decode_uuencode(octets: bytes) -> bytes:
    """uuencode (POSIX 1003.1): the lines between `begin` and `end`, or all when there is no `begin`."""
    start, is_base64 = uu_bounds(octets)
    body = octets[start:]
    body = body[: uu_ending(body)]
    if is_base64:
        return decode_base64(body)
    return b"".join([uu_line(line) for line in body.split(b"\n") if line.strip()])


UU_SEARCHED = 64 * 1024
"""Octets within which `begin` must end."""


def uu_bounds(octets: bytes) -> tuple[int, bool]:
    """Where the lines behind `begin` start, 0 without one; and whether they are base64."""
    begin = _UU_BEGIN.search(octets, 0, UU_SEARCHED)
    return (begin.end(), begin[0].startswith(b"begin-base64")) if begin else (0, False)


def uu_ending(lines: bytes) -> int | None:
    """Where the line that ends the file begins; None if it is not there."""
    ending = _UU_END.search(lines)
    return ending.start() if ending else None


def uu_line(line: bytes) -> bytes:
    """A line says its own length, which is not believed beyond the characters it holds."""
    line = line.rstrip(b"\r")
    held = (len(line) + 2) // 4
    count = min((line[0] - 0x20) & 0x3F, 3 * held)
    try:
        return binascii.a2b_uu(bytes((count + 0x20,)) + line[1 : 1 + 4 * held].ljust(4 * held))[:count]
    except binascii.Error:
        return b""
