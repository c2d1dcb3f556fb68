"""An invitation is read as its fields, whoever folded them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.calendar import read_invitation
from postroom.mail.model import Invitation


def calendar(*lines: str, method: str = "METHOD:REQUEST\r\n") -> bytes:
    event = "".join(f"{line}\r\n" for line in lines)
    return f"BEGIN:VCALENDAR\r\n{method}BEGIN:VEVENT\r\n{event}END:VEVENT\r\nEND:VCALENDAR\r\n".encode()


def read(*lines: str) -> Invitation:
    invitation = read_invitation(calendar(*lines), "utf-8", None)
    assert invitation is not None
    return invitation


def test_an_event_is_its_fields() -> None:
    assert read(
        "UID:ev-1@example.org",
        "DTSTART:20260310T140000Z",
        "DTEND:20260310T150000Z",
        "SUMMARY:Budget\\, second part\\nRoom 4",
        "ORGANIZER;CN=Dana Quill:mailto:dana@example.org",
        'ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;CN="Bo; of sales":MAILTO:bo@example.org',
        "ATTENDEE:mailto:cy@example.org",
    ) == Invitation(
        method="REQUEST",
        uid="ev-1@example.org",
        summary="Budget, second part\nRoom 4",
        start="2026-03-10T14:00:00Z",
        end="2026-03-10T15:00:00Z",
        organizer="Dana Quill <dana@example.org>",
        attendees=("Bo; of sales <bo@example.org>", "cy@example.org"),
    )


@pytest.mark.parametrize(
    ("lines", "start", "end"),
    [
        (["DTSTART;VALUE=DATE:20260310"], "2026-03-10", None),
        (["DTSTART;TZID=Europe/Vienna:20260310T140000"], "2026-03-10T14:00:00[Europe/Vienna]", None),
        (["DTSTART:20260310T140000"], "2026-03-10T14:00:00", None),
        (["DTSTART:20260310T140000Z", "DURATION:PT1H30M"], "2026-03-10T14:00:00Z", "2026-03-10T15:30:00Z"),
        (["DTSTART;VALUE=DATE:20260310", "DURATION:P2D"], "2026-03-10", "2026-03-12"),
        (["DTSTART:2026-03-10T14:00:00z", "DTEND:20260310T1500Z"], "2026-03-10T14:00:00Z", "2026-03-10T15:00:00Z"),
        (["DTSTART:20261340T990000Z"], None, None),
        (["DTSTART:99991231T235959Z", "DURATION:P99999D"], "9999-12-31T23:59:59Z", None),
    ],
)
def test_times_say_what_is_known_of_them(lines: list[str], start: str | None, end: str | None) -> None:
    invitation = read(*lines)
    assert (invitation.start, invitation.end) == (start, end)


def test_a_fold_may_part_the_octets_of_a_letter() -> None:
    octets = calendar("SUMMARY:Grüße").replace("ü".encode(), b"\xc3\r\n \xbc")
    invitation = read_invitation(octets, "utf-8", None)
    assert invitation is not None
    assert invitation.summary == "Grüße"


def test_a_fold_in_letters_of_two_octets_is_one_too() -> None:
    octets = calendar("SUMMARY:Bud", " get").decode().encode("utf-16")
    invitation = read_invitation(octets, "utf-16", None)
    assert invitation is not None
    assert invitation.summary == "Budget"


def test_names_and_words_are_read_in_older_and_newer_spellings() -> None:
    invitation = read(
        "SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:R=C3=A9union", "ATTENDEE;CN=A ^'B^':mailto:a@b.test"
    )
    assert invitation.summary == "Réunion"
    assert invitation.attendees == ('A "B" <a@b.test>',)


def test_what_is_nested_in_an_event_is_not_the_event_s() -> None:
    assert read("BEGIN:VALARM", "SUMMARY:Alarm", "END:VALARM", "SUMMARY:Event").summary == "Event"


def test_the_type_s_method_stands_in_for_one_that_is_not_said() -> None:
    invitation = read_invitation(calendar("UID:1", method=""), "utf-8", "cancel")
    assert invitation is not None
    assert invitation.method == "CANCEL"


def test_a_calendar_without_events_is_no_invitation() -> None:
    assert read_invitation(b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", None, "REQUEST") is None


LINES = st.sampled_from(
    [
        "BEGIN:VEVENT",
        "END:VEVENT",
        "BEGIN:VCALENDAR",
        "SUMMARY:x",
        "ATTENDEE;CN=:mailto:",
        "DTSTART;;;:2026",
        ":",
        "A;=:",
    ]
)


@given(st.lists(LINES | st.text(max_size=20), max_size=30).map("\r\n".join), st.sampled_from(["utf-8", "x-none", None]))
def test_no_calendar_is_too_broken_to_be_looked_at(text: str, charset: str | None) -> None:
    read_invitation(text.encode("utf-8", "replace"), charset, None)
