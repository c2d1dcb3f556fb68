"""A date is the moment its writer meant, or nothing; never the present."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail import date
from postroom.mail.date import format_utc, parse_date

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1901, 1, 1), datetime(2999, 1, 1), timezones=ZONES).map(
    lambda d: d.replace(microsecond=0)
)


def read(text: str) -> str | None:
    moment = parse_date(text.encode())
    return None if moment is None else format_utc(moment)


@pytest.mark.parametrize(
    "text",
    [
        "Tue, 03 Mar 2026 09:15:00 +0100",
        "Tue, 3 Mar 2026 09:15 +0100",
        "3 Mar 26 09:15:00 +0100",
        "3 Mar 126 09:15:00 +0100",
        "03-Mar-2026 09:15:00 +0100",
        "Tue,03 Mar 2026 09:15:00+0100",
        "Tue (a (b)), 03 (c) Mar 2026 09 : 15 : 00 +0100 (CET)",
        "Tuesday, 03 March 2026 09:15:00 +01:00",
        "Mardi, 03 Mar 2026 09:15:00 +0100",
        "Tue, 03 Mar 2026 09:15:00 GMT+0100",
        'Tue, 03 Mar 2026 09:15:00 "+0100"',
        "Tue, 03 Mar 2026 09:15:00 UTC+1",
        "Tue, 03 Mar 2026 03:15:00 EST",
        "Tue, 03 Mar 2026 01:15:00 pdt",
        "Tue, 03 Mar 2026 08:15:00 GMT",
        "Tue, 03 Mar 2026 08:15:00 -0000",
        "Tue, 03 Mar 2026 08:15:00 Q",
        "Tue, 03 Mar 2026 08:15:00 CET",
        "Tue, 03 Mar 2026 08:15:00",
        "Tue Mar  3 08:15:00 2026",
        "Tue Mar  3 03:15:00 EST 2026",
        "Tue Mar  3 09:15:00 2026 +0100",
        "March 3, 2026 8:15 AM",
        "2026-03-03T09:15:00+01:00",
        "2026-03-03 08:15:00.250Z",
        "Tue, 03 Mar 2026 09:15:00 +0100    Precedence: bulk",
        "Tue, 03 Mar 2026 08:14:60 +0000",
    ],
)
def test_every_way_of_writing_it_is_the_same_moment(text: str) -> None:
    assert read(text) == "2026-03-03T08:15:00Z"


def test_two_digits_of_a_year_are_of_this_or_the_last_century() -> None:
    assert read("7 Apr 21 23:50 EST") == "2021-04-08T04:50:00Z"
    assert read("7 Apr 49 00:00 Z") == "2049-04-07T00:00:00Z"
    assert read("7 Apr 50 00:00 Z") == "1950-04-07T00:00:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "yesterday",
        "2026-03-03",
        "Tue, 03 Mar 2026",
        "jue mar 3 13:05:11 26",
        "Di, 03 Mrz 2026 09:15:00 +0100",
        "Fri, 31 Dec 491972 23:59:59 +0000",
        "Mon, 01 Jan 0001 00:00:00 +0000",
        "Tue, 31 Feb 2026 09:15:00 +0000",
        "Tue, 03 Mar 2026 25:15:00 +0000",
        "Tue, 03 Mar 2026 09:75:00 +0000",
        "Tue, 03 Mar 2026 09:15:00 +9999",
        "Fri, 31 Dec 9999 23:59:59 -1200",
        "(((",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_date(text.encode()) is None


@given(MOMENTS)
def test_dates_that_python_writes_are_read(moment: datetime) -> None:
    assert parse_date(format_datetime(moment).encode()) == moment
    assert parse_date(moment.isoformat().encode()) == moment


@given(MOMENTS)
def test_a_moment_written_in_utc_is_read_back(moment: datetime) -> None:
    assert parse_date(format_utc(moment).encode()) == moment


@given(st.one_of(st.binary(max_size=80), st.from_regex(r"[\d :+\-,.()TZamp]{0,40}").map(str.encode)))
def test_any_octets_give_a_moment_in_utc_or_nothing(value: bytes) -> None:
    moment = parse_date(value)
    assert moment is None or moment.utcoffset() == timedelta(0)


def test_the_year_is_written_with_four_digits() -> None:
    assert format_utc(datetime(1900, 1, 2, 3, 4, 5, 678, tzinfo=UTC)) == "1900-01-02T03:04:05Z"


PLAIN = st.builds(
    "{}{} {} {} {}:{}:{} {}{}".format,
    *(st.sampled_from(["Tue, ", "Xyz, ", ""]), st.integers(0, 40), st.sampled_from(["Jan", "Sep", "Dec", "Foo"])),
    *(st.integers(1800, 2100), *[st.integers(0, 70).map("{:02}".format)] * 3, st.sampled_from("+-")),
    st.integers(0, 9999).map("{:04}".format),
)


@given(PLAIN)
def test_what_is_read_in_one_go_is_what_a_closer_look_finds(text: str) -> None:
    at_once = date._ordinary(text.encode())
    assert at_once is None or at_once == date._unusual(text.encode())
