"""Points in time as the database keeps them: ISO 8601 in UTC, so that their order is that of their text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

SKEW = timedelta(minutes=1)
"""Clocks of hosts may differ by as much; what is noted from further ahead was noted before a clock was set back."""

LEAP = timedelta(minutes=10)
"""The same where a mistake is dear: what another host holds is not taken from it for its clock alone."""


def to_text(moment: datetime) -> str:
    """Such as `2026-03-03T09:00:00.000000Z`; `moment` must be aware."""
    if moment.tzinfo is None:
        raise ValueError("a stored time needs its zone")
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """The aware time in UTC that `to_text` wrote."""
    return datetime.fromisoformat(text)
