"""Quiet hours by the clock on the wall of a place: across midnight, and where an hour comes twice or not at all."""

from __future__ import annotations

from datetime import datetime

import pytest

from postroom.base.levels import Outcome
from tests.policy.outbound.sending import CAROL, judged, opened, plan


def outcome(windows: str, moment: str, zone: str = "Europe/Berlin", action: str = "hold") -> Outcome:
    rule = opened(f"quiet_hours: {{timezone: {zone}, windows: [{windows}], action: {action}}}")
    return judged(plan(CAROL), rule, now=datetime.fromisoformat(f"{moment}+00:00")).outcome


@pytest.mark.parametrize(
    ("windows", "moment", "quiet"),
    [
        ('"22:00-07:00"', "2026-03-04T20:59:59.999999", False),  # 21:59:59 on a winter's Wednesday
        ('"22:00-07:00"', "2026-03-04T21:00:00", True),
        ('"22:00-07:00"', "2026-03-04T23:00:00", True),
        ('"22:00-07:00"', "2026-03-05T05:59:59", True),
        ('"22:00-07:00"', "2026-03-05T06:00:00", False),
        ('"22:00-07:00"', "2026-07-01T19:59:59", False),  # in summer an hour earlier in UTC
        ('"22:00-07:00"', "2026-07-01T20:00:00", True),
        ('"Sat 00:00-24:00"', "2026-03-06T22:59:59", False),
        ('"Sat 00:00-24:00"', "2026-03-06T23:00:00", True),
        ('"Sat 00:00-24:00"', "2026-03-07T22:59:59", True),
        ('"Sat 00:00-24:00"', "2026-03-07T23:00:00", False),
        ('"Sun 22:00-06:00"', "2026-03-09T04:59:59", True),  # Monday morning belongs to Sunday's window
        ('"Sun 22:00-06:00"', "2026-03-08T04:00:00", False),  # and Sunday morning to Saturday's, which has none
        ('"02:00-03:00"', "2026-03-29T00:59:59", False),  # 01:59:59, and the next second is 03:00:00
        ('"02:00-03:00"', "2026-03-29T01:00:00", False),
        ('"02:00-03:00"', "2026-10-25T00:00:00", True),  # 02:00 for the first time
        ('"02:00-03:00"', "2026-10-25T01:59:59", True),  # 02:59:59 for the second time
        ('"02:00-03:00"', "2026-10-25T02:00:00", False),
        ('"08:00-09:00", "13:00-14:00"', "2026-03-04T12:30:00", True),
    ],
)
def test_a_window_is_of_the_clock_on_the_wall(windows: str, moment: str, quiet: bool) -> None:
    assert outcome(windows, moment) is (Outcome.HOLD if quiet else Outcome.SEND)


def test_what_is_done_then_is_the_policys_to_say() -> None:
    assert outcome('"00:00-24:00"', "2026-03-04T12:00:00", action="deny") is Outcome.DENY


def test_two_policies_have_a_clock_each() -> None:
    morning = '"08:00-09:00"'
    assert outcome(morning, "2026-03-04T07:30:00") is Outcome.HOLD
    assert outcome(morning, "2026-03-04T07:30:00", zone="America/New_York") is Outcome.SEND
    assert outcome(morning, "2026-03-04T13:30:00", zone="America/New_York") is Outcome.HOLD
