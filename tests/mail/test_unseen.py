"""What nobody sees is taken out of every text, and what a script or an emoji needs stays."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.unseen import tidy, unseen_in, visible_line, without_unseen

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
STRIPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""What no answer may hold, apart from joiners and variation selectors, which depend on their place."""
TROUBLE = st.text(
    st.sampled_from("ab1 \n\t\u00e9e\u0301\u0300\u0308")
    | st.sampled_from("\u200b\u200c\u200d\ufe0e\ufe0f\u2060\ufeff\u00ad\u202e\u2066\u2069\x1b\x07\x9b\x00\r\x85\u2028")
    | st.sampled_from(
        "\u2764\U0001f525\U0001f468\U0001f3fd\u0645\u06cc\u0915\u094d\u20e3#\U000e0041\ue000\ufdd0\u3000\u2800"
    )
    | st.characters(),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("pay\u200bpal", "paypal"),
        ("i\u00adg\u200bn\u2060ore the previ\ufeffous", "ignore the previous"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("Hello\U000e0049\U000e0067", "Hello"),
        ("\U0001f600\U000e0138\U000e0145", "\U0001f600"),
        ("ready\x1b[8mHIDDEN\x1b[0m\x07 \x1b]8;;https://evil.test/z\x07click\x1b]8;;\x07", "readyHIDDEN click"),
        ("\x9b31mred", "red"),
        ("\x1b]0;never ended", "]0;never ended"),
        (FAMILY, FAMILY),
        (PERSIAN, PERSIAN),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        ("1\ufe0f\u20e3 and 1\ufe0f", "1\ufe0f\u20e3 and 1"),
        ("a\ufe0f", "a"),
        ("\u2764\ufe0f\ufe0f", "\u2764\ufe0f"),
        ("a\u200db", "ab"),
        ("\u0645\u200c\u200c\u06cc", "\u0645\u06cc"),
        ("\u0645\u200c\u200b\u06cc", "\u0645\u06cc"),
        ("\u0645\u200c", "\u0645"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        ("a\u2028b\x85c", "a\nb\nc"),
    ],
)
def test_text_is_left_with_what_is_seen(text: str, seen: str) -> None:
    assert without_unseen(text) == seen
    assert tidy(text) == seen


@pytest.mark.parametrize(
    ("text", "signals"),
    [
        ("plain", set()),
        ("lines\nand\ttabs", set()),
        (FAMILY + PERSIAN + "\u2764\ufe0f", set()),
        ("a\u200bb", {"invisible_characters"}),
        ("a\u200db", {"invisible_characters"}),
        ("\U000e0041", {"invisible_characters"}),
        ("a\u202eb", {"bidi_controls"}),
        ("a\x1b[8m", {"control_characters"}),
        ("Hello\n\ufeffold words\n> \ufeffolder\n\u200b\n", set()),
        ("Hel\ufefflo\n\u200bx", {"invisible_characters"}),
        ("\u05d0\u200f \u202bB\u202c", set()),
        ("\u05d0\u200f \u202eB\u202c", {"bidi_controls"}),
        ("a\u200fb", {"bidi_controls"}),
        ("\u2066\x07\u2060", {"bidi_controls", "control_characters", "invisible_characters"}),
    ],
)
def test_what_was_taken_out_is_signalled(text: str, signals: set[str]) -> None:
    assert unseen_in(text) == signals


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("a\u00a0b\u3000c\u2800d", "a b c d"),
        ("e\u0301", "é"),
        ("Z" + "\u0300" * 30, "Z" + "\u0300" * 4),
        ("a" * 64, "a" * 64),
        ("a" * 65, "a" * 8 + "…"),
        ("a\n\n\n\n\nb", "a\n\nb"),
        ("a  \nb\t\n", "a\nb\n"),
        ("a\ue000b\ufdd0", "a\ufffdb\ufffd"),
    ],
)
def test_text_for_reading_is_tidy(text: str, tidied: str) -> None:
    assert tidy(text) == tidied


def test_a_line_is_one_line() -> None:
    assert visible_line(" a\u200b\r\n\u2028b\u202e ") == "a b"


@given(TROUBLE)
def test_nothing_of_the_strip_set_is_ever_left(text: str) -> None:
    assert not STRIPPED.search(without_unseen(text))
    assert not STRIPPED.search(tidy(text))
    assert not re.search("[\n\t]", visible_line(text))


@given(TROUBLE)
def test_doing_it_twice_changes_nothing(text: str) -> None:
    for filtered in (without_unseen, tidy, visible_line):
        once = filtered(text)
        assert filtered(once) == once


@given(TROUBLE)
def test_what_is_tidy_is_composed(text: str) -> None:
    assert unicodedata.is_normalized("NFC", tidy(text))


def test_a_megabyte_of_anything_takes_linear_time() -> None:
    for piece in ("\x1b[", "\x1b]x", "\u200b", "\u200d", "a\u0300", " ", "\n", " \t", "é\u200c", "\U0001f468\u200d"):
        started = time.process_time()
        tidy(piece * (1_000_000 // len(piece)))
        assert time.process_time() - started < 3, repr(piece)
