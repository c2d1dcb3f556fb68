"""Windows of the week: which minutes lie in them."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from postroom.config.policies.quiethours import WeekWindow

MON, FRI, SAT, SUN = 0, 4, 5, 6


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        ("22:00-07:00", [(MON, 1320), (MON, 419), (SUN, 1439)], [(MON, 1319), (MON, 420)]),
        ("Sat 00:00-24:00", [(SAT, 0), (SAT, 1439)], [(FRI, 1439), (SUN, 0)]),
        ("Fri 22:00-07:00", [(FRI, 1320), (SAT, 419)], [(FRI, 419), (SAT, 1320), (SAT, 420)]),
        ("sat,Sun 08:00-09:00", [(SAT, 480), (SUN, 539)], [(MON, 480), (SUN, 540)]),
        ("Fri-Mon 08:00-09:00", [(FRI, 480), (SUN, 480), (MON, 480)], [(1, 480), (3, 480)]),
        ("Sun 23:00-01:00", [(SUN, 1380), (MON, 59)], [(SUN, 59), (MON, 60)]),
    ],
)
def test_which_minutes_lie_in_a_window(
    window: str, inside: list[tuple[int, int]], outside: list[tuple[int, int]]
) -> None:
    read = TypeAdapter(WeekWindow).validate_python(window)
    assert [moment for moment in inside + outside if read.holds(*moment)] == inside


@pytest.mark.parametrize(
    "text",
    ["22-07", "22:00-22:00", "24:00-01:00", "22:00-24:01", "22:60-23:00", "Someday 22:00-23:00", "Mon- 22:00-23:00"],
)
def test_what_is_no_window(text: str) -> None:
    with pytest.raises(ValueError, match="must be HH:MM-HH:MM"):
        TypeAdapter(WeekWindow).validate_python(text)
