"""For undoing Content-Transfer-Encoding piece by piece: a file of any size in bounded memory."""

from __future__ import annotations

import binascii
import re
from typing import Protocol

from postroom.mail.transfer import (
    NOT_BASE64,
    UU_NAMES,
    UU_SEARCHED,
    decode_base64,
    decode_quoted_printable,
    is_footer,
    uu_bounds,
    uu_ending,
    uu_line,
)

LONGEST_LINE = 64 * 1024
"""Octets of a line that are waited for; what is longer is decoded before its end is seen."""
_CLEAN = re.compile(rb"[A-Za-z0-9+/\r\n]*")
_QP_HELD = re.compile(rb"[ \t]*(?:=(?:[0-9A-Fa-f]|[ \t]*))?\r?\Z")


class Decoder(Protocol):
    """Takes a body in pieces as it lies in the message, and gives it as it was before its encoding."""

    def feed(self, octets: bytes) -> bytes:
        """What can be told after this piece."""

    def finish(self) -> bytes:
        """What was held back."""


def decoder_for(encoding: str) -> Decoder:
    """A new decoder; the pieces together are what `decode_transfer` makes of the whole, save in lines that are longer
    than `LONGEST_LINE`. An unknown encoding is none.
    """
    name = encoding.strip().lower()
    if name == "base64":
        return _Base64()
    if name == "quoted-printable":
        return _QuotedPrintable()
    return _UUEncode() if name in UU_NAMES else _Identity()


class _Identity:
    def feed(self, octets: bytes) -> bytes:
        return octets

    def finish(self) -> bytes:
        return b""


class _Lines:
    """Whole lines of what comes in pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def _whole(self, octets: bytes) -> bytes:
        """All up to the last line end, and more if the last line grows too long."""
        octets = self._rest + octets
        end = octets.rfind(b"\n") + 1
        if len(octets) - end > LONGEST_LINE:
            end = self._cut(octets)
        self._rest = octets[end:]
        return octets[:end]

    def _cut(self, octets: bytes) -> int:
        return len(octets)


class _Base64(_Lines):
    def __init__(self) -> None:
        super().__init__()
        self._ended, self._over = False, False
        self._run = b""

    def feed(self, octets: bytes) -> bytes:
        return b"" if self._over else self._decoded(self._whole(octets))

    def finish(self) -> bytes:
        last = b"" if self._over else self._decoded(self._rest)
        run, self._run, self._rest = self._run, b"", b""
        return last + decode_base64(run)

    def _decoded(self, lines: bytes) -> bytes:
        if not lines:
            return b""
        if _CLEAN.fullmatch(lines):
            self._ended = (lines[:-1] if lines.endswith(b"\n") else lines).rpartition(b"\n")[2].strip() == b""
            return self._quanta(lines.translate(None, b"\r\n"))
        decoded = []
        for line in lines.removesuffix(b"\n").split(b"\n"):
            over, self._ended = is_footer(line, self._ended)
            if over:
                self._over, self._rest = True, b""
                break
            decoded.append(self._padded(line.translate(None, NOT_BASE64)))
        return b"".join(decoded)

    def _padded(self, letters: bytes) -> bytes:
        """Padding ends a quantum, wherever it stands."""
        first, *others = letters.split(b"=")
        decoded = [self._quanta(first)]
        for letters in others:
            decoded.append(decode_base64(self._run))
            self._run = b""
            decoded.append(self._quanta(letters))
        return b"".join(decoded)

    def _quanta(self, letters: bytes) -> bytes:
        letters = self._run + letters
        whole = len(letters) // 4 * 4
        self._run = letters[whole:]
        return binascii.a2b_base64(letters[:whole])


class _QuotedPrintable(_Lines):
    def feed(self, octets: bytes) -> bytes:
        return decode_quoted_printable(self._whole(octets))

    def finish(self) -> bytes:
        rest, self._rest = self._rest, b""
        return decode_quoted_printable(rest)

    def _cut(self, octets: bytes) -> int:
        """Not within an escape, nor before blanks that may stand at the end of the line."""
        held = _QP_HELD.search(octets, len(octets) - LONGEST_LINE)
        return held.start() if held else len(octets)


class _UUEncode(_Lines):
    def __init__(self) -> None:
        super().__init__()
        self._head: bytes | None = b""
        self._base64: _Base64 | None = None
        self._over = False

    def feed(self, octets: bytes) -> bytes:
        if self._head is None:
            return self._decoded(self._whole(octets))
        self._head += octets
        return self._begun() if len(self._head) >= UU_SEARCHED else b""

    def finish(self) -> bytes:
        first = self._begun() if self._head is not None else b""
        rest, self._rest = self._rest, b""
        last = self._decoded(rest)
        return first + last + (self._base64.finish() if self._base64 else b"")

    def _begun(self) -> bytes:
        head, self._head = self._head or b"", None
        start, is_base64 = uu_bounds(head)
        self._base64 = _Base64() if is_base64 else None
        return self._decoded(self._whole(head[start:]))

    def _decoded(self, lines: bytes) -> bytes:
        ending = None if self._over else uu_ending(lines)
        if ending is not None:
            lines = lines[:ending]
        elif self._over:
            return b""
        self._over = ending is not None
        if self._base64:
            return self._base64.feed(lines)
        return b"".join([uu_line(line) for line in lines.split(b"\n") if line.strip()])
