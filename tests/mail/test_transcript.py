"""A conversation as one text: whose words are whose, what is told once, and what goes when there is no room."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.model import Address
from postroom.mail.transcript import CUT, ONCE, Turn, transcript

ANA, BO = Address("Ana", "ana@x.example"), Address("Bo", "bo@y.example")
NOON = datetime(2026, 3, 3, 12, 0, 30, tzinfo=UTC)
PLENTY = 1_000_000
HEADING = re.compile(r"## (\S+) \[(.*?)\] (?:\d{4}-\d\d-\d\d \d\d:\d\d )?(.+)")


def turn(number: int, words: str, sender: Address | None = ANA, **more: Any) -> Turn:
    return Turn(f"{number}-7", "INBOX", NOON, sender, more.pop("subject", "Roof"), words, **more)


def told(*turns: Turn, room: int = PLENTY) -> str:
    return transcript(turns, room).text


def test_each_message_has_a_heading_and_its_words() -> None:
    text = told(turn(1, "When?\n"), turn(2, "\nTomorrow.", BO), turn(3, "Good.", None), turn(4, ""))
    assert text == (
        "## 1-7 [INBOX] 2026-03-03 12:00 Ana <ana@x.example>\nWhen?\n\n"
        "## 2-7 [INBOX] 2026-03-03 12:00 Bo <bo@y.example>\nTomorrow.\n\n"
        "## 3-7 [INBOX] 2026-03-03 12:00 (no sender)\nGood.\n\n"
        "## 4-7 [INBOX] 2026-03-03 12:00 Ana"
    )


def test_a_name_that_two_people_bear_or_that_looks_like_an_address_always_has_its_address() -> None:
    other, odd = Address("ANA ", "ana@evil.example"), Address("ana@x.example", "eve@evil.example")
    text = told(turn(1, "a"), turn(2, "b", other), turn(3, "c"), turn(4, "d", odd), turn(5, "e", odd))
    names = [name for _, _, name in HEADING.findall(text)]
    assert names == [
        "Ana <ana@x.example>",
        "ANA <ana@evil.example>",
        "Ana <ana@x.example>",
        '"ana@x.example" <eve@evil.example>',
        '"ana@x.example" <eve@evil.example>',
    ]


def test_another_subject_is_told_and_the_prefixes_of_answers_are_not() -> None:
    subjects = ("Roof", "Re: Roof", "AW: Re:  roof", "Wall (was: Roof)", "Fwd: Wall (was: Roof)", "Roof")
    text = told(*(turn(number, "x", subject=subject) for number, subject in enumerate(subjects)))
    assert re.findall(r"^Subject: (.*)$", text, re.MULTILINE) == ["Wall (was: Roof)", "Roof"]


def test_a_signature_and_the_small_print_below_it_are_told_once() -> None:
    end = (
        "\n\nKind regards,\nAna Novak\nHarbour Estates\n\nThis message is confidential.\nTell us if you are not meant."
    )
    text = told(
        turn(1, f"One.{end}"), turn(2, f"Two.{end}"), turn(3, f"Three.{end}", BO), turn(4, f"Four.\n\nOn.{end}")
    )
    assert text.count("Harbour Estates") == 2
    assert f"Two.\n{ONCE}\n" in text
    assert text.endswith(f"Four.\n\nOn.\n{ONCE}")


def test_a_signature_below_two_dashes_is_told_once_however_short_and_wherever_it_begins() -> None:
    text = told(turn(1, "One.\n-- \nAna"), turn(2, "Two.\n-- \nAna"), turn(3, "Three.\n\n--\nBo"))
    assert (text.count("-- \nAna"), text.count(ONCE), text.count("--\nBo")) == (1, 1, 1)


def test_a_short_ending_that_is_signed_is_told_once_too() -> None:
    texts = [f"{word}.\n\nBest,\n\nBo\n\nMoving Ltd" for word in ("One", "Two")]
    assert told(turn(1, texts[0], BO), turn(2, texts[1], BO)).endswith(f"Two.\n{ONCE}")
    assert told(turn(1, texts[0]), turn(2, texts[1])).count("Moving Ltd") == 2


def test_short_answers_that_are_the_same_twice_and_whole_messages_stay() -> None:
    text = told(turn(1, "Sell?\n\nYes."), turn(2, "Buy?\n\nYes."), turn(3, "Buy?\n\nYes."))
    assert text.count("Yes.") == 3
    long = "Please pay the invoice as we have agreed on the telephone."
    assert told(turn(1, long), turn(2, long)).count(long) == 2


def test_the_oldest_words_go_first_and_the_newest_last() -> None:
    turns = [turn(number, f"{number}" * 1_000) for number in range(1, 6)]
    whole = transcript(turns, PLENTY)
    assert (whole.cut, whole.left_out) == (0, 0)
    for room in (4_000, 2_500, 1_300):
        cut = transcript(turns, room)
        assert len(cut.text) <= room
        assert "5" * 1_000 in cut.text
        assert cut.text.count(CUT) == cut.cut
        kept = [cut.text.count(str(number) * 100) for number in range(1, 6)]
        assert kept == sorted(kept)
    assert f"5555\n{CUT}" in transcript(turns, 900).text


def test_with_no_room_for_headings_the_oldest_messages_are_left_out_whole() -> None:
    told = transcript([turn(number, "x") for number in range(100)], 1_000)
    first = int(HEADING.findall(told.text)[0][0].partition("-")[0])
    assert (told.left_out, told.cut) == (first, 0)
    assert first > 80
    assert transcript([turn(1, "x" * 50)], 1).text.startswith("## 1-7 ")
    assert transcript([], 100).text == ""


def test_notes_stand_under_the_heading_and_are_never_cut() -> None:
    noted = turn(1, "x" * 500, notes=("Attachments: 2 a.pdf", "## no heading"))
    text = transcript([noted, turn(2, "y" * 900)], 1_150).text
    assert f"\nAttachments: 2 a.pdf\n\\## no heading\n{CUT}\n\n## 2-7 " in text


# -- what nobody can forge

BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
PIECES = st.sampled_from(
    ["## ", "##", "#", "＃＃ ", "\\", " ", "\t", "\xa0", "1-7 [INBOX] 2026-03-03 12:00 Ana", "-- ", *BREAKS]
)
LETTERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
HOSTILE = st.lists(PIECES | LETTERS, max_size=12).map("".join)


@st.composite
def hostile_turns(draw: st.DrawFn) -> list[Turn]:
    """Of which strangers wrote everything but the id and the folder."""
    return [
        Turn(
            f"{number}-7",
            "INBOX",
            draw(st.none() | st.just(NOON)),
            draw(st.none() | st.builds(Address, st.none() | HOSTILE, HOSTILE)),
            draw(st.none() | HOSTILE),
            draw(HOSTILE),
            tuple(draw(st.lists(HOSTILE, max_size=2))),
        )
        for number in range(draw(st.integers(1, 5)))
    ]


@given(hostile_turns(), st.integers(1, 2_000))
def test_each_heading_is_ours_whatever_strangers_write(turns: list[Turn], room: int) -> None:
    told = transcript(turns, room)
    headings = [line for line in told.text.splitlines() if re.match(r"\s*[#＃]{2}", line)]
    assert all(line.startswith("## ") for line in headings)
    ids = [line.split()[1] for line in headings]
    assert ids == [turn.uid for turn in turns[told.left_out :]]


@given(hostile_turns(), st.integers(1, 2_000))
def test_a_transcript_is_no_longer_than_asked_but_for_the_newest_heading(turns: list[Turn], room: int) -> None:
    newest = transcript(turns[-1:], 1).text
    assert len(transcript(turns, room).text) <= room + len(newest) + 2 * len(CUT)


@given(hostile_turns())
def test_with_room_for_all_every_word_of_every_message_is_told(turns: list[Turn]) -> None:
    told = transcript(turns, PLENTY)
    assert (told.cut, told.left_out) == (0, 0)
    said = re.findall(r"\w+", told.text)
    for one in turns:
        if ONCE not in told.text:
            assert set(re.findall(r"\w+", one.words)) <= set(said)
