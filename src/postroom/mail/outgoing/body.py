"""For bodies of mail that leaves: text and files as lines of ASCII that no server has to change (RFC 2045 6)."""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")
_LONG_LINE = re.compile(rb"[^\r\n]{79}")
_UNSAFE = re.compile(rb"[^\t\r\n -~]|[\t ]\r\n|^From |^\.", re.MULTILINE)
"""Must not stand for itself: controls, blanks that get lost, lines that mailbox files and SMTP take for their own."""
_NOT_LITERAL = bytes(set(range(256)) - set(b"=") - set(range(0x20, 0x7F)) - set(b"\t\r\n"))
_FROM_OR_DOT = re.compile(rb"^(?:F(?=rom )|\.)", re.MULTILINE)
MAX_LINE = 998
"""Octets of a line without its end (RFC 5322 2.1.1)."""


class Encoded(NamedTuple):
    """A body as it stands on the wire."""

    encoding: str
    """Content-Transfer-Encoding: 7bit, quoted-printable or base64."""
    octets: bytes
    """ASCII with CRLF line ends."""


def encode_text(text: str) -> Encoded:
    """A text in UTF-8, its line ends CRLF and one at its end, as 7bit if its lines are short and plain.

    Otherwise quoted-printable or base64, whichever is shorter. ValueError for NUL and lone surrogates.
    """
    if "\x00" in text:
        raise ValueError("a text must not hold NUL characters")
    octets = _LINE_END.sub("\r\n", text).encode()
    if octets and not octets.endswith(b"\r\n"):
        octets += b"\r\n"
    if not _UNSAFE.search(octets) and not _LONG_LINE.search(octets):
        return Encoded("7bit", octets)
    escaped = len(octets) - len(octets.translate(None, _NOT_LITERAL)) + octets.count(b"=")
    if 2 * escaped > len(octets) // 3:
        return encode_octets(octets)
    return Encoded("quoted-printable", _quoted_printable(octets))


def encode_octets(octets: bytes) -> Encoded:
    """Octets as they are, by base64."""
    return Encoded("base64", base64.encodebytes(octets).replace(b"\n", b"\r\n"))


def _quoted_printable(octets: bytes) -> bytes:
    return _FROM_OR_DOT.sub(lambda start: b"=%02X" % start[0][0], binascii.b2a_qp(octets))


def stands_for_itself(octets: bytes) -> bool:
    """The octets are lines of ASCII as they may go on the wire: CRLF line ends, none too long, no NUL."""
    return octets.isascii() and is_wire_safe(octets)


def is_wire_safe(octets: bytes) -> bool:
    """Every line ends with CRLF and has at most `MAX_LINE` octets; no CR or LF stands alone, and no NUL."""
    ends = octets.count(b"\r\n")
    if octets.count(b"\n") != ends or octets.count(b"\r") != ends or b"\x00" in octets:
        return False
    return octets.endswith(b"\r\n") and max(map(len, octets.split(b"\r\n"))) <= MAX_LINE
