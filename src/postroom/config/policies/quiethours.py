"""For quiet hours: windows of the week by the clock of a place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WINDOW = re.compile(r"(?:([A-Za-z,-]{3,27}) )?([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})", re.ASCII)
_WANTED = "must be HH:MM-HH:MM, with days before it if meant, such as 22:00-07:00 or Sat,Sun 00:00-24:00"


@dataclass(frozen=True, slots=True)
class Window:
    """Minutes from midnight, half open, on days from Monday 0; an end before the start is on the next day."""

    days: tuple[int, ...]
    """Those on which it starts, in order."""
    start: int
    end: int

    def holds(self, weekday: int, minute: int) -> bool:
        """Whether a minute of a day lies in it."""
        if self.start < self.end:
            return weekday in self.days and self.start <= minute < self.end
        begun = weekday in self.days and minute >= self.start
        return begun or ((weekday - 1) % 7 in self.days and minute < self.end)


def _window(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = _WINDOW.fullmatch(value)
    if match is None:
        raise ValueError(_WANTED)
    days = tuple(range(7)) if match[1] is None else _days(match[1].lower())
    start, end = (60 * int(match[at]) + int(match[at + 1]) for at in (2, 4))
    if not days or start >= 1440 or end > 1440 or start == end or int(match[3]) > 59 or int(match[5]) > 59:
        raise ValueError(_WANTED)
    return Window(days, start, end)


def _days(text: str) -> tuple[int, ...]:
    """Of `sat`, `sat,sun` and `mon-fri`; () for anything else."""
    found: set[int] = set()
    for piece in text.split(","):
        first, dash, last = piece.partition("-")
        if first not in _DAYS or (dash and last not in _DAYS):
            return ()
        start, end = _DAYS.index(first), _DAYS.index(last or first)
        found |= {day % 7 for day in range(start, end + 1 if end >= start else end + 8)}
    return tuple(sorted(found))


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("must be a time zone of the IANA database, such as Europe/Berlin") from None
    return text


WeekWindow = Annotated[Window, BeforeValidator(_window)]
ZoneName = Annotated[str, AfterValidator(_zone)]
