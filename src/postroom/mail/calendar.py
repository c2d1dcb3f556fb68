"""For invitations: the fields of a calendar object that a person would read (RFC 5545, RFC 5546)."""

from __future__ import annotations

import re
from binascii import a2b_qp
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from postroom.mail.charset import decode
from postroom.mail.model import Invitation

_LARGEST = 512 * 1024
"""Octets of a calendar object that are looked at."""
_MOST_LINES = 20_000
_MOST_ATTENDEES = 100
_LONGEST = 2_000
"""Characters of one value."""
_FOLD, _TEXT_FOLD = re.compile(rb"\r?\n[ \t]"), re.compile(r"\r?\n[ \t]")
_CARET = re.compile(r"\^(['n^])")
_CARETS = {"'": '"', "n": " ", "^": "^"}
"""Letters that a parameter's value may not hold (RFC 6868)."""
_COMPONENTS = ("VEVENT", "VTODO", "VJOURNAL")
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_PARAMETER = re.compile(r';([A-Za-z0-9-]{1,64})=("[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*)){0,20}')
_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d))?([Zz]?))?\Z")
"""Also with the marks between that the standard leaves out and some programs write."""
_SPAN = re.compile(r"\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?\Z")
_ESCAPED = re.compile(r"\\([\\;,Nn])")


class _Property(NamedTuple):
    name: str
    parameters: Mapping[str, str]
    value: str


def read_invitation(octets: bytes, charset: str | None, method: str | None) -> Invitation | None:
    """The first event, task or journal entry of a calendar object, or None if it holds none.

    `method` is the type's parameter, for an object that does not say it itself. Lines are unfolded as octets, since
    a fold may part the octets of one letter (RFC 5545 3.1).
    """
    octets = octets[:_LARGEST]
    # Letters of two octets have no folds that could be found in octets.
    text = decode(octets if b"\0" in octets else _FOLD.sub(b"", octets), charset or "utf-8")
    text = _TEXT_FOLD.sub("", text)
    around, inner = _first_component(text)
    if inner is None:
        return None
    first: dict[str, _Property] = {}
    for one in inner:
        first.setdefault(one.name, one)
    named = next((one.value for one in around if one.name == "METHOD"), method)
    start = _moment(first.get("DTSTART"))
    return Invitation(
        method=named.strip().upper()[:40] if named else None,
        uid=_value(first.get("UID")),
        summary=_value(first.get("SUMMARY")),
        start=start,
        end=_moment(first.get("DTEND") or first.get("DUE")) or _after(first.get("DTSTART"), first.get("DURATION")),
        organizer=_person(first["ORGANIZER"]) if "ORGANIZER" in first else None,
        attendees=tuple(_person(one) for one in inner if one.name == "ATTENDEE")[:_MOST_ATTENDEES],
    )


def _first_component(text: str) -> tuple[list[_Property], list[_Property] | None]:
    """Properties of the calendar itself, and those of its first component without what is nested in that."""
    around: list[_Property] = []
    inner: list[_Property] | None = None
    nested: list[str] = []
    for one in _properties(text):
        if one.name == "BEGIN":
            nested.append(one.value.upper())
            if nested[-1] in _COMPONENTS and inner is None:
                inner = []
        elif one.name == "END":
            if nested and nested.pop() in _COMPONENTS:
                return around, inner
        elif nested and nested[-1] in _COMPONENTS and inner is not None:
            inner.append(one)
        elif len(nested) <= 1:
            around.append(one)
    return around, inner


def _properties(text: str) -> Iterator[_Property]:
    for line in text.split("\n")[:_MOST_LINES]:
        name = _NAME.match(line)
        if name is None:
            continue
        parameters, position = {}, name.end()
        while (match := _PARAMETER.match(line, position)) is not None:
            parameters[match[1].upper()] = match[2].strip('"')
            position = match.end()
        if line[position : position + 1] == ":":
            yield _Property(name[0].upper(), parameters, line[position + 1 :].strip("\r")[:_LONGEST])


def _value(one: _Property | None) -> str | None:
    """A text value without its escapes (RFC 5545 3.3.11)."""
    if one is None:
        return None
    text = one.value
    if one.parameters.get("ENCODING", "").upper() == "QUOTED-PRINTABLE":  # vCalendar 1.0
        text = decode(a2b_qp(text.encode("utf-8", "replace")), one.parameters.get("CHARSET") or "utf-8")
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], text).strip() or None


def _person(one: _Property) -> str:
    """`Name <address>`, or the address alone."""
    address = one.value.strip()
    if address[:7].lower() == "mailto:":
        address = address[7:]
    name = _CARET.sub(lambda match: _CARETS[match[1]], one.parameters.get("CN", "")).strip()
    return f"{name} <{address}>" if name and name != address else address


def _moment(one: _Property | None) -> str | None:
    """A date, a time in UTC with `Z`, or a local time with its zone's name behind it in brackets (RFC 9557)."""
    at = _parsed(one)
    if one is None or at is None:
        return None
    moment, is_date, is_utc = at
    if is_date:
        return moment.date().isoformat()
    zone = one.parameters.get("TZID", "")
    return f"{moment.isoformat()}Z" if is_utc else f"{moment.isoformat()}[{zone[:60]}]" if zone else moment.isoformat()


def _parsed(one: _Property | None) -> tuple[datetime, bool, bool] | None:
    match = _MOMENT.match(one.value.strip()) if one else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(digits or 0) for digits in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59))  # noqa: DTZ001 - RFC 5545 3.3.5, form 1
    except ValueError:
        return None
    return moment, match[4] is None, bool(match[7])


def _after(start: _Property | None, duration: _Property | None) -> str | None:
    """The end, of what tells its length instead (RFC 5545 3.3.6)."""
    at, span = _parsed(start), _SPAN.match(duration.value.strip()) if duration else None
    if start is None or at is None or span is None:
        return None
    weeks, days, hours, minutes, seconds = (int(digits or 0) for digits in span.groups())
    try:
        end = at[0] + timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return None
    spelled = end.strftime("%Y%m%d") if at[1] and not (hours or minutes or seconds) else end.strftime("%Y%m%dT%H%M%S")
    return _moment(start._replace(value=spelled + ("Z" if at[2] else "")))
