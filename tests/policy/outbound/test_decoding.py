"""One layer of base64, hexadecimal digits and percent signs is taken off, wherever its digits begin."""

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.policy.outbound.decoding import decoded

SECRET = "what nobody but us should read"


@given(st.text(st.sampled_from("abXY01+/"), max_size=9), st.binary(min_size=18, max_size=60), st.sampled_from("=\n ."))
def test_base64_is_read_whatever_digits_stand_before_it(before: str, octets: bytes, after: str) -> None:
    inner = octets + SECRET.encode()
    assert any(SECRET in text for text in decoded(before + base64.b64encode(inner).decode().rstrip("=") + after))


@given(st.text(st.sampled_from("0aF"), max_size=3))
def test_hexadecimal_digits_are_read_from_either_half(before: str) -> None:
    assert any(SECRET in text for text in decoded(f"x{before}{SECRET.encode().hex()}."))


@pytest.mark.parametrize("text", ["%77%68at nobody", "what%20nobody", "x%zz%77hat nobody"])
def test_percent_signs_are_read(text: str) -> None:
    assert any("what nobody" in one for one in decoded(text))


def test_plain_words_hold_no_encoding() -> None:
    assert list(decoded("Dear Carol, the meeting is at 9 in room 4711. Kind regards, Ana")) == []


@given(st.text(st.sampled_from("aA0+/=-_\n\r% é"), max_size=200))
def test_whatever_stands_there_is_read_without_complaint(text: str) -> None:
    assert all(isinstance(one, str) for one in decoded(text))


@pytest.mark.parametrize("piece", ["A", "a\n", "abcd\n", "0", "%", "A" * 24 + "\n", "A" * 23 + "\n"])
def test_a_long_text_of_one_piece_takes_time_with_its_length(piece: str) -> None:
    begun = time.process_time()
    list(decoded((piece * 500_000)[:500_000]))
    assert time.process_time() - begun < 1
