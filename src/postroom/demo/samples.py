"""The sample mail of the demonstration, dated so that the newest arrived a few minutes before the start."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypedDict

import yaml

_MAIL = files("postroom.demo") / "mail"
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_MOMENT = re.compile(
    rb"\{\{(?P<form>date|wrote|day|ics)"
    rb"(?: (?P<shift>[+-](?:\d+[dhm])+))?"
    rb"(?: (?P<clock>\d{4}))?"
    rb"(?: (?P<zone>[+-]\d{4}))?\}\}"
)


class _Entry(TypedDict):
    ago: str
    flags: list[str]


@dataclass(frozen=True, slots=True)
class Sample:
    """One message as the demo's mail server shall hold it; `message` has CRLF line ends."""

    mailbox: str
    folder: str
    name: str
    flags: frozenset[str]
    """System flags (RFC 9051, 2.3.2) in lower case, without their backslash."""
    arrived: datetime
    message: bytes


def samples(start: datetime) -> list[Sample]:
    """Every sample message, oldest first, with arrival and Date laid relative to `start` (aware)."""
    index: Mapping[str, Mapping[str, Mapping[str, _Entry]]] = yaml.safe_load((_MAIL / "index.yaml").read_bytes())
    found = [
        sample
        for mailbox, folders in index.items()
        for folder, entries in folders.items()
        for sample in _in_folder(mailbox, folder, entries, start)
    ]
    return sorted(found, key=lambda sample: sample.arrived)


def _in_folder(mailbox: str, folder: str, entries: Mapping[str, _Entry], start: datetime) -> Iterator[Sample]:
    for name, entry in entries.items():
        arrived = start - span(entry["ago"])
        raw = _file(mailbox, name).read_bytes()
        message = _MOMENT.sub(partial(_moment, start=start, arrived=arrived), raw)
        yield Sample(mailbox, folder, name, frozenset(entry["flags"]), arrived, message)


def _file(mailbox: str, name: str) -> Traversable:
    return _MAIL / mailbox / f"{name}.eml"


def span(text: str) -> timedelta:
    """The length of time that `1d6h30m` means; its sign, if it has one, counts for all of it."""
    parts = {_UNITS[unit]: int(count) for count, unit in re.findall(r"(\d+)([dhm])", text)}
    length = timedelta(**parts)
    return -length if text.startswith("-") else length


def _moment(found: re.Match[bytes], *, start: datetime, arrived: datetime) -> bytes:
    """What stands for a placeholder.

    `{{date}}` is the arrival of the message itself; a shift (`{{day +3d}}`) counts from the start instead, a
    clock (`{{ics +3d 0900}}`) sets hour and minute, and a zone (`{{date +0900}}`) says in which it is told.
    """
    parts = {name: text.decode("ascii") if text else None for name, text in found.groupdict().items()}
    when = start + span(parts["shift"]) if parts["shift"] else arrived
    if clock := parts["clock"]:
        when = when.replace(hour=int(clock[:2]), minute=int(clock[2:]), second=0)
    zoned = when.astimezone(_zone(parts["zone"] or "+0000"))
    return _FORMS[str(parts["form"])](zoned).encode("ascii")


def _zone(text: str) -> timezone:
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[3:]))
    return timezone(-offset if text[0] == "-" else offset)


def _day(when: datetime) -> str:
    return f"{when:%A} {when.day} {when:%B}"


def _wrote(when: datetime) -> str:
    return f"{when:%a}, {when.day} {when:%b %Y} at {when:%H:%M}"


def _ics(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y%m%dT%H%M%SZ}"


_FORMS: Mapping[str, Callable[[datetime], str]] = {
    "date": format_datetime,
    "day": _day,
    "wrote": _wrote,
    "ics": _ics,
}
