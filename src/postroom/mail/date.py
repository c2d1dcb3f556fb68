"""For dates of mail: read as people's programs really write them, never guessed (RFC 5322 sections 3.3 and 4.3)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_LOOKED_AT = 1_000
_MONTHS = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
_ZONES = {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
_MARK = re.compile(r"\\.|[()]", re.DOTALL)
_TIME = r"(?P<hour>\d{1,2})\s?[:.]\s?(?P<minute>\d{1,2})(?:\s?[:.]\s?(?P<second>\d{1,2})(?:[.,]\d{1,9})?)?"
_MERIDIEM = r"(?:\s?(?P<meridiem>[AaPp][Mm])\b)?"
_DAY_MONTH = re.compile(
    rf"(?:[^\d\s,]{{1,20}}\s?,?\s?)?(?P<day>\d{{1,2}})[\s\-]\s?(?P<month>[A-Za-z]{{3,9}})\.?[\s\-,]\s?"
    rf"(?P<year>\d{{2,}})\s?,?\s{_TIME}{_MERIDIEM}(?P<zone>.*)",
    re.ASCII,
)
_ASCTIME = re.compile(
    rf"(?:[^\d\s,]{{1,20}}\s?,?\s)?(?P<month>[A-Za-z]{{3,9}})\.?\s(?P<day>\d{{1,2}})\s?,?\s{_TIME}"
    rf"(?:\s(?P<named>[A-Z]{{1,5}}|[+-]\d{{4}}))?\s(?P<year>\d{{4,}})\b(?P<zone>.*)",
    re.ASCII,
)
_MONTH_DAY = re.compile(
    rf"(?:[^\d\s,]{{1,20}}\s?,?\s)?(?P<month>[A-Za-z]{{3,9}})\.?\s(?P<day>\d{{1,2}})\s?,?\s"
    rf"(?P<year>\d{{4,}})\s?,?\s{_TIME}{_MERIDIEM}(?P<zone>.*)",
    re.ASCII,
)
_ISO = re.compile(rf"(?P<year>\d{{4}})-(?P<month>\d{{2}})-(?P<day>\d{{2}})(?:T|t|\s){_TIME}(?P<zone>.*)", re.ASCII)
_FORMS = (_DAY_MONTH, _ASCTIME, _MONTH_DAY, _ISO)
_OFFSET = re.compile(
    r"\s?\"?(?:(?:GMT|UTC?|Z)\s?)?(?P<sign>[+-])(?:(?P<hours>\d{1,2}?)(?::?(?P<minutes>\d{2}))?(?!\d))?",
    re.ASCII | re.IGNORECASE,
)
_SHORT_MONTHS = {month[:3].capitalize().encode(): number for number, month in enumerate(_MONTHS, 1)}
_ORDINARY = re.compile(
    rb"(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)\Z"
)
_NAMED = re.compile(r"\s?([A-Za-z]+)")


def parse_date(value: bytes) -> datetime | None:
    """The moment of a Date value, aware and in UTC, or None when it cannot be understood.

    Also reads asctime, `March 3, 2026 9:15 PM` and ISO 8601. Without a zone, or with a name that RFC 5322 4.3 does
    not define, UTC is meant. What follows a full date is passed over.
    """
    written = _written(value)
    if written is None:
        return None
    local, offset = written
    try:
        return local - offset
    except OverflowError:
        return None


def parse_day(value: bytes) -> date | None:
    """The calendar day that a Date value names, whatever its time and zone (RFC 9051 6.4.4, SENTON)."""
    written = _written(value)
    return written[0].date() if written else None


def _written(value: bytes) -> tuple[datetime, timedelta] | None:
    """The moment as its writer's clock showed it, and how far east of UTC that clock was."""
    return _ordinary(value) or _unusual(value)


def _ordinary(value: bytes) -> tuple[datetime, timedelta] | None:
    """A value just as RFC 5322 3.3 has it, read in one go; None for what needs a closer look."""
    match = _ORDINARY.match(value)
    if match is None:
        return None
    day, month, year, hour, minute, second, sign, hours, minutes = match.groups()
    if second > b"59" or hours > b"23" or minutes > b"59" or not year >= b"1900":
        return None
    try:
        local = datetime(
            int(year), _SHORT_MONTHS.get(month, 0), int(day), int(hour), int(minute), int(second), tzinfo=UTC
        )
    except ValueError:
        return None
    east = timedelta(hours=int(hours), minutes=int(minutes))
    return local, east if sign == b"+" else -east


def _unusual(value: bytes) -> tuple[datetime, timedelta] | None:
    text = " ".join(_without_comments(value[:_LOOKED_AT].decode("utf-8", "replace")).split())
    match = next(filter(None, (form.match(text) for form in _FORMS)), None)
    if match is None:
        return None
    parts = match.groupdict()
    offset = _offset(parts["zone"] if parts["zone"].strip() else parts.get("named") or "")
    month, year = _month(parts["month"]), _year(parts["year"])
    if offset is None or month is None or year is None:
        return None
    local = _local(parts, year, month)
    return (local, offset) if local else None


def format_utc(moment: datetime) -> str:
    """An aware moment as `YYYY-MM-DDTHH:MM:SSZ` (RFC 3339, whole seconds)."""
    there = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return there.isoformat(timespec="seconds")[: -len("+00:00")] + "Z"


def _local(parts: dict[str, str | None], year: int, month: int) -> datetime | None:
    """A leap second (60) is the first second of the next minute."""
    second = int(parts["second"] or 0)
    leap = second == 60
    hour = _hour(int(parts["hour"] or 0), parts.get("meridiem"))
    try:
        local = datetime(
            year, month, int(parts["day"] or 0), hour, int(parts["minute"] or 0), second - leap, tzinfo=UTC
        )
        return local + timedelta(seconds=leap)
    except (ValueError, OverflowError):
        return None


def _hour(hour: int, meridiem: str | None) -> int:
    if meridiem is None or hour > 12:
        return hour
    return hour % 12 + (12 if meridiem.lower() == "pm" else 0)


def _month(name: str) -> int | None:
    if name.isdigit():
        return int(name)
    return next((number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower())), None)


def _year(digits: str) -> int | None:
    """Two and three digits as RFC 5322 4.3 has it; None before 1900 and after 9999."""
    year = int(digits[:5])
    if len(digits) == 2:
        return year + (2000 if year < 50 else 1900)
    if len(digits) == 3:
        return year + 1900
    return year if 1900 <= year <= 9999 else None


def _offset(zone: str) -> timedelta | None:
    """East of UTC; zero for no zone and for names without a meaning, None for digits that are no offset."""
    if match := _OFFSET.match(zone):
        hours, minutes = int(match["hours"] or 24), int(match["minutes"] or 0)
        if hours > 23 or minutes > 59:
            return None
        east = timedelta(hours=hours, minutes=minutes)
        return east if match["sign"] == "+" else -east
    name = _NAMED.match(zone)
    return timedelta(hours=_ZONES.get(name[1].upper(), 0) if name else 0)


def _without_comments(text: str) -> str:
    """Text with each outermost comment made a space (RFC 5322 3.2.2)."""
    pieces: list[str] = []
    depth, position = 0, 0
    for mark in _MARK.finditer(text):
        if mark[0] == "(":
            if depth == 0:
                pieces.append(text[position : mark.start()])
            depth += 1
        elif mark[0] == ")" and depth:
            depth -= 1
            position = mark.end()
    if depth == 0:
        pieces.append(text[position:])
    return " ".join(pieces)
