"""For Content-Type and Content-Disposition values: type and parameters (RFC 2045 5.1, RFC 2231), as mail has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise
from types import MappingProxyType
from typing import NamedTuple

from postroom.mail.charset import decode
from postroom.mail.header import decode_words, one_line
from postroom.mail.model import MimeType

MAX_PARAMETERS = 500
"""Parameters, or sections of them, of one value that are looked at."""
MAX_VALUE = 1 << 16
_SHORT = 200
_LONGEST_NAME = 1_000
"""Octets of a name in which quotes that nobody escaped are looked for."""

_TYPE = re.compile(
    rb"""(?:[\s;"]++|\([^()]*\))*+((?:[^\s;,()"=/]++(?:\s*+/\s*+[^\s;,()"=]*+)?+(?!\s*+=))?)"?""",
)
_GAP = re.compile(rb"(?:[\s;,]++|\([^()]*\))*+")
_NAME = re.compile(rb"([!#-'+-:<>-~]{1,100})(?:\*(\d{1,4}))?(\*)?\s*=\s*")
_QUOTED = re.compile(rb'"((?:[^"\\]++|\\[\x00-\xff])*+)"')
# A quote that is followed by more words was not meant to end the value: nobody escaped it.
_LOOSELY_QUOTED = re.compile(
    rb'"((?:[^"\\]++|\\[\x00-\xff]|"(?!\s{0,20}(?:[;,(]|\Z|[\w*-]{1,30}\s{0,5}=)))*+)"',
)
_TO_SEMICOLON = re.compile(rb"[^;]*")
_TO_BLANK = re.compile(rb"[^\s;]*")
_ESCAPED = re.compile(rb'\\(["\\])')
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_EXTENDED = re.compile(rb"([\w.:+-]*)'([A-Za-z0-9_-]*)'", re.ASCII)
_FREE_TEXT = frozenset(("filename", "name", "description"))


class _Section(NamedTuple):
    name: str
    number: int | None
    """Of `name*0=`; None for a value in one piece."""
    extended: bool
    """Written with a star at the end: percent-encoded."""
    octets: bytes


def parse_mime_value(value: bytes) -> MimeType:
    """Type, lower case, and parameters by lower-case name, decoded and in one line.

    Of a parameter given twice the first counts; of its forms `name*=` before `name*0=` before `name=`. The type
    may be empty. What cannot be read is passed over.
    """
    return _remembered(value) if len(value) <= _SHORT else _parsed(value[:MAX_VALUE])


@lru_cache(maxsize=1_000)
def _remembered(value: bytes) -> MimeType:
    """Mail says the same few things again and again."""
    return _parsed(value)


def _parsed(value: bytes) -> MimeType:
    type_ = _TYPE.match(value)
    forms: dict[str, dict[str, list[_Section]]] = {}
    for section in _sections(value, type_.end() if type_ else 0):
        form = "whole" if section.number is None else "split"
        form = "star" if form == "whole" and section.extended else form
        forms.setdefault(section.name, {}).setdefault(form, []).append(section)
    parameters = {name: one_line(_decoded(name, form)) for name, form in forms.items()}
    name = one_line(decode(b"".join(type_[1].split()) if type_ else b"", None)).lower()
    return MimeType(name, MappingProxyType(parameters))


def contradicts_itself(value: bytes, name: str) -> bool:
    """True when a parameter is given more than once with different values, so that readers may differ."""
    value = value[:MAX_VALUE]
    type_ = _TYPE.match(value)
    sections = [section for section in _sections(value, type_.end() if type_ else 0) if section.name == name]
    return any(
        one.number == other.number and one.extended == other.extended and one.octets != other.octets
        for one, other in pairwise(sections)
    )


def _sections(value: bytes, position: int) -> Iterator[_Section]:
    return islice(_all_sections(value, position), MAX_PARAMETERS)


def _all_sections(value: bytes, position: int) -> Iterator[_Section]:
    while position < len(value):
        if gap := _GAP.match(value, position):
            position = gap.end()
        name = _NAME.match(value, position)
        if name is None:
            following = value.find(b";", position)
            position = following if following >= 0 else len(value)
            continue
        label = name[1].decode("ascii", "replace").lower()
        octets, position = _value(value, name.end(), label)
        yield _Section(label, int(name[2]) if name[2] else None, bool(name[3]), octets)


def _value(value: bytes, position: int, name: str) -> tuple[bytes, int]:
    """A quoted value, or free text up to the next semicolon, or a word."""
    loosely = _LOOSELY_QUOTED.match(value, position, position + _LONGEST_NAME) if name in _FREE_TEXT else None
    if quoted := loosely or _QUOTED.match(value, position):
        return _ESCAPED.sub(rb"\1", quoted[1]), quoted.end()
    free = name in _FREE_TEXT or value[position : position + 1] == b'"'
    plain = (_TO_SEMICOLON if free else _TO_BLANK).match(value, position)
    octets = plain[0] if plain else b""
    return octets.strip().removeprefix(b'"'), position + len(octets)


def _decoded(name: str, forms: dict[str, list[_Section]]) -> str:
    star = _extended(forms["star"][:1]) if "star" in forms else ""
    if star or set(forms) == {"star"}:
        return star
    sections = _in_order(forms["split"]) if "split" in forms else []
    if any(section.extended for section in sections):
        return _extended(sections)
    whole = forms.get("whole")
    octets = b"".join(section.octets for section in sections or (whole or [])[:1])
    return decode_words(octets) if name in _FREE_TEXT else decode(octets, None)


def _in_order(sections: list[_Section]) -> list[_Section]:
    """Sections without a gap, from number 0 (or 1, as some count); the first of two with one number."""
    by_number: dict[int, _Section] = {}
    for section in sections:
        by_number.setdefault(section.number or 0, section)
    number = 0 if 0 in by_number else 1
    found: list[_Section] = []
    while number in by_number:
        found.append(by_number[number])
        number += 1
    return found


def _extended(sections: list[_Section]) -> str:
    """The octets of all sections joined, then decoded with the charset the first one names (RFC 2231 4.1)."""
    first = sections[0].octets if sections[0].extended else b""
    prefix = _EXTENDED.match(first)
    pieces = [_unpercent(section.octets) if section.extended else section.octets for section in sections]
    if prefix is None:
        return decode(b"".join(pieces), None)
    pieces[0] = _unpercent(first[prefix.end() :])
    return decode(b"".join(pieces), prefix[1].decode("ascii") or None)


def _unpercent(octets: bytes) -> bytes:
    return _PERCENT.sub(lambda match: bytes.fromhex(match[1].decode("ascii")), octets)
