"""For what is inside a file: members of an archive, programs and locks of a document; looked at within bounds."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from postroom.mail.sniff import LOOKED_AT, sniff

MAX_MEMBERS = 100
MAX_EXPANDED = 50 * 1024 * 1024
"""Octets that may come out of a file, counted while they do: what its directory says is not believed."""
MAX_RATIO = 100
_PIECE = 64 * 1024
_LOCAL_HEADER = 30
"""Octets of a member's own header, without its name."""
_ENCRYPTED = 0x1
_MACROS = re.compile(r"(?:^|/)(?:vbaproject\.bin|vbadata\.xml|macrosheets/|scripts/|basic/)", re.IGNORECASE)
_PDF_STREAM = re.compile(rb"stream\r?\n")
_PDF_ACTIVE = re.compile(rb"/(?:JavaScript|JS|OpenAction|AA|Launch|RichMedia|XFA|EmbeddedFile)(?![A-Za-z])")
_PDF_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
_PDF_OTHER_FILTERS = (b"/LZWDecode", b"/ASCII85Decode", b"/ASCIIHexDecode", b"/RunLengthDecode")
_MOST_STREAMS = 20_000


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive."""

    name: str
    size: int
    """Octets, as they came out."""
    sniffed: str
    """The media type that its first octets give away."""


@dataclass(frozen=True, slots=True)
class Inside:
    """None is unknown: it could not be told within the bounds."""

    members: tuple[Member, ...] | None = None
    """Of an archive that was looked into whole."""
    encrypted: bool | None = None
    macros: bool | None = None
    """There are programs in it, or what starts some."""


class _TooMuch(Exception):
    """The file is over a bound, or not what it should be."""


def look_inside(octets: bytes, sniffed: str) -> Inside:
    """What is inside a file of this type, given whole. Never raises; takes time with its length, and bounded memory."""
    if sniffed == "application/pdf":
        return _inside_pdf(octets)
    if octets.startswith(b"PK"):
        return _inside_zip(octets)
    return Inside()


# -- zip archives, and documents that are some


def _inside_zip(octets: bytes) -> Inside:
    try:
        with zipfile.ZipFile(io.BytesIO(octets)) as archive:
            infos = archive.infolist()
            if any(info.flag_bits & _ENCRYPTED for info in infos):
                return Inside(encrypted=True)
            _check_directory(infos, len(octets))
            members = tuple(_members(archive, infos))
    except (zipfile.BadZipFile, _TooMuch, NotImplementedError, zlib.error, EOFError, OSError, ValueError):
        return Inside()
    return Inside(members, encrypted=False, macros=any(_MACROS.search(member.name) for member in members))


def _check_directory(infos: list[zipfile.ZipInfo], length: int) -> None:
    """Few members, each with a name and a place of its own."""
    if len(infos) > MAX_MEMBERS:
        raise _TooMuch
    spans = sorted((info.header_offset, info.header_offset + _LOCAL_HEADER + info.compress_size) for info in infos)
    overlap = any(end > start for (_, end), (start, _) in pairwise(spans))
    if overlap or (spans and spans[-1][1] > length):
        raise _TooMuch
    if any(_is_unsafe(info) for info in infos):
        raise _TooMuch


def _is_unsafe(info: zipfile.ZipInfo) -> bool:
    """A path that leads elsewhere, or a link."""
    steps = info.filename.replace("\\", "/").split("/")
    return steps[0] == "" or ".." in steps or ":" in steps[0] or stat.S_ISLNK(info.external_attr >> 16)


def _members(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo]) -> Iterator[Member]:
    left = MAX_EXPANDED
    for info in infos:
        if info.is_dir():
            continue
        size, beginning = 0, b""
        with archive.open(info) as file:
            while piece := file.read(_PIECE):
                beginning += piece[: LOOKED_AT - len(beginning)]
                size += len(piece)
                left -= len(piece)
                if left < 0 or size > MAX_RATIO * max(info.compress_size, 1):
                    raise _TooMuch
        yield Member(info.filename, size, sniff(beginning))


# -- PDF


def _inside_pdf(octets: bytes) -> Inside:
    """By names of ISO 32000-1: what opens itself, runs a script or holds files; also where they are compressed."""
    if _has(octets, b"/Encrypt"):
        return Inside(encrypted=True)
    if _is_active(octets):
        return Inside(encrypted=False, macros=True)
    try:
        active = any(_is_active(stream) for stream in _streams(octets))
    except _TooMuch:
        return Inside(encrypted=False)
    if not active and any(name in octets for name in _PDF_OTHER_FILTERS) and b"/ObjStm" in octets:
        return Inside(encrypted=False)  # objects may hide in an encoding that nobody looks through
    return Inside(encrypted=False, macros=active)


def _streams(octets: bytes) -> Iterator[bytes]:
    """What can be inflated, each within what is left of the bound."""
    left, view = MAX_EXPANDED, memoryview(octets)
    for count, match in enumerate(_PDF_STREAM.finditer(octets)):
        if count > _MOST_STREAMS:
            raise _TooMuch
        text = _inflated(view[match.end() :], left)
        left -= len(text)
        if left <= 0:
            raise _TooMuch
        yield text


def _inflated(octets: memoryview, most: int) -> bytes:
    """What a stream that begins here holds, as far as it is one; in pieces, since nobody knows where it ends."""
    inflating, text = zlib.decompressobj(), bytearray()
    for start in range(0, len(octets), _PIECE):
        try:
            text += inflating.decompress(octets[start : start + _PIECE], most - len(text))
        except zlib.error:
            break
        if inflating.eof or len(text) >= most:
            break
    return bytes(text)


def _is_active(octets: bytes) -> bool:
    return _PDF_ACTIVE.search(_unescaped(octets)) is not None


def _has(octets: bytes, name: bytes) -> bool:
    return name in _unescaped(octets)


def _unescaped(octets: bytes) -> bytes:
    """Names as they are meant: any of their letters may be written as # and two digits."""
    return _PDF_ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), octets) if b"#" in octets else octets
