"""For undoing Content-Transfer-Encoding (RFC 2045 section 6), as damaged as mail brings it."""

from __future__ import annotations

import binascii
import re

_BASE64_LINE = re.compile(rb"[A-Za-z0-9+/]*={0,3}")
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/]{2,}")
_NOT_BASE64 = bytes(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="))
_BLANKS = b" \t\r\n\v\f"
_ESCAPE = re.compile(rb"=([0-9A-Fa-f]{2})")
_DIGITS = "0123456789abcdefABCDEF"
_OCTETS = {(high + low).encode("ascii"): bytes.fromhex(high + low) for high in _DIGITS for low in _DIGITS}
# The look-behind makes each run of blanks be tried once, so that a megabyte of them is no attack.
_TRAILING_BLANKS = re.compile(rb"(?<![ \t])[ \t]++(?=\r?(?:\n|\Z))")
_STRAY_ESCAPE = re.compile(rb"==|=\r(?!\n)")
_SOFT_BREAK = re.compile(rb"=\r?(?:\n|\Z)")
_UU_BEGIN = re.compile(rb"^begin(?:-base64)?[ \t]+[0-7]{3,4}\b[^\n]*\n", re.MULTILINE)
_UU_END = re.compile(rb"^(?:end|={4})[ \t]*\r?$", re.MULTILINE)
_COMMENT = re.compile(rb"\([^()]*+\)")
_UU_NAMES = frozenset(("x-uuencode", "uuencode", "x-uue", "uue"))


def encoding_name(value: bytes | None) -> str:
    """The name in a Content-Transfer-Encoding value: lower case, trimmed, `7bit` when there is none."""
    text = _COMMENT.sub(b" ", (value or b"")[:200]).decode("ascii", "ignore").lower()
    words = text.replace('"', " ").replace(";", " ").split()
    return words[0] if words else "7bit"


def decode_transfer(octets: bytes, encoding: str) -> bytes:
    """Octets as they were before transfer encoding `encoding` (any case, blanks around it); identity if unknown."""
    name = encoding.strip().lower()
    if name == "base64":
        return decode_base64(octets)
    if name == "quoted-printable":
        return decode_quoted_printable(octets)
    return decode_uuencode(octets) if name in _UU_NAMES else octets


def decode_base64(octets: bytes) -> bytes:
    """RFC 2045 6.8, tolerant: no padding, padding in the middle, foreign octets, a half last quantum.

    A footer that somebody hung below the encoded text is left out: lines that are not base64 after an empty line,
    after padding or after a signature line.
    """
    packed = octets.translate(None, _BLANKS)
    if not _BASE64_LINE.fullmatch(packed):
        packed = _without_footer(octets).translate(None, _NOT_BASE64)
    return b"".join(_quanta(run) for run in _BASE64_RUN.findall(packed))


def _quanta(run: bytes) -> bytes:
    if len(run) % 4 == 1:
        run = run[:-1]
    return binascii.a2b_base64(run + b"=" * (-len(run) % 4))


def _without_footer(octets: bytes) -> bytes:
    ended = False
    position = 0
    for line in octets.split(b"\n"):
        bare = line.strip()
        if ended and bare and not _BASE64_LINE.fullmatch(bare):
            return octets[:position]
        ended = bare in (b"", b"--") or bare.endswith(b"=") or (ended and not bare)
        position += len(line) + 1
    return octets


def decode_quoted_printable(octets: bytes) -> bytes:
    """RFC 2045 6.7, tolerant: lower-case digits, escapes without meaning kept, blanks before a line end dropped."""
    stripped = _TRAILING_BLANKS.sub(b"", octets)
    if _STRAY_ESCAPE.search(stripped):
        return unescape(_SOFT_BREAK.sub(b"", stripped))
    return binascii.a2b_qp(stripped)


def unescape(octets: bytes) -> bytes:
    """`=XX` made octets; an equals sign without two hexadecimal digits stays."""
    return _ESCAPE.sub(_octet, octets)


def _octet(match: re.Match[bytes]) -> bytes:
    return _OCTETS[match[1]]


def decode_uuencode(octets: bytes) -> bytes:
    """uuencode (POSIX 1003.1): the lines between `begin` and `end`, or all when there is no `begin`."""
    begin = _UU_BEGIN.search(octets)
    start = begin.end() if begin else 0
    ending = _UU_END.search(octets, start)
    lines = octets[start : ending.start() if ending else len(octets)].split(b"\n")
    if begin and begin[0].startswith(b"begin-base64"):
        return decode_base64(b"\n".join(lines))
    return b"".join([_uu_line(line) for line in lines if line.strip()])


def _uu_line(line: bytes) -> bytes:
    """A line says its own length, which is not believed beyond the characters it holds."""
    line = line.rstrip(b"\r")
    held = (len(line) + 2) // 4
    count = min((line[0] - 0x20) & 0x3F, 3 * held)
    try:
        return binascii.a2b_uu(bytes((count + 0x20,)) + line[1 : 1 + 4 * held].ljust(4 * held))[:count]
    except binascii.Error:
        return b""
