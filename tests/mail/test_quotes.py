"""New words stay, history goes; and where it is not clear which is which, everything stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.quotes import without_history

OUTLOOK = "From: Bo <bo@example.org>\nSent: Monday, 2 March 2026 09:00\nTo: Ana\nSubject: Plans\n\nOld words."


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Yes.\n\nOn Mon, 2 Mar 2026 at 10:00, Bo\n<bo@example.org> wrote:\n\n> hi\n> > older\n", "Yes."),
        ("Ja.\n\nAm 02.03.2026 um 10:00 schrieb Bo Quill:\n> hallo", "Ja."),
        ("Oui.\n\nLe lun. 2 mars 2026 à 10:00, Bo <bo@example.org> a écrit :\n> salut", "Oui."),
        ("好。\n\n2026年3月2日 10:00，Bo <bo@example.org> 写道：\n> 你好", "好。"),
        (f"Thanks.\n\n________________________________\n{OUTLOOK}", "Thanks."),
        (f"Thanks.\n\n{OUTLOOK}", "Thanks."),
        ("Danke.\n\nVon: Bo\nGesendet: Montag\nAn: Ana\nBetreff: Plan\n\nAlt.", "Danke."),
        ("Done.\n\n-----Original Message-----\nwhatever", "Done."),
        ("> one?\nYes.\n> two?\nNo.", "> one?\nYes.\n> two?\nNo."),
        ("> 1\n> 2\n> 3\n> 4\n> 5?\nYes.\n> tail\n", "> […]\n> 2\n> 3\n> 4\n> 5?\nYes."),
        ("> On Monday Ana wrote:\n> see the numbers\nAgreed.", "> On Monday Ana wrote:\n> see the numbers\nAgreed."),
        ("Not quoted: On Monday, 2 March, Bo wrote:\nplain text below", None),
        ("> everything\n> is quoted", None),
        ("From: here to there\nTo: nowhere\nis a poem", None),
        ("No quotes at all.", None),
        (
            "See below.\n\n---------- Forwarded message ---------\nFrom: Bo\nDate: Monday\nSubject: x\nTo: y\n\nNews.",
            None,
        ),
    ],
)
def test_history_goes_and_new_words_stay(text: str, new: str | None) -> None:
    assert without_history(text, "Re: Plans") == (text if new is None else new)


@pytest.mark.parametrize("subject", ["Fwd: Plans", "FW: Plans", "WG: Pläne", "TR : plans"])
def test_what_is_forwarded_is_no_history(subject: str) -> None:
    assert without_history(f"FYI\n\n{OUTLOOK}", subject) == f"FYI\n\n{OUTLOOK}"


def test_a_forward_without_words_of_its_own_stays() -> None:
    assert without_history(OUTLOOK, "Plans") == OUTLOOK


LINES = st.lists(
    st.sampled_from(
        [
            *("", "own words", "> quoted", "> > older", "On Mon, 2 Mar 2026, Bo wrote:", "From: Bo", "Sent: x"),
            *("To: y", "Subject: z", "________", "-----Original Message-----", ">", "12:30", "wrote: 5"),
        ]
    ),
    max_size=25,
).map("\n".join)


@given(LINES)
def test_own_words_before_any_history_are_never_lost(text: str) -> None:
    own = text.partition("\n")[0]
    shown = without_history(text)
    assert shown == text or own != "own words" or shown.startswith(own)
    assert bool(shown.strip()) == bool(text.strip())


def test_a_megabyte_of_quotes_takes_linear_time() -> None:
    for piece in ("> a\n", "a\n> b\n", "\n\n>\n", "wrote:\n", "From: \n", "wrote wrote ", "On 1 wrote:\n> x\n"):
        started = time.process_time()
        without_history(piece * (1_000_000 // len(piece)))
        assert time.process_time() - started < 5, piece
