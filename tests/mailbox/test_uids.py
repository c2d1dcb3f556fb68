"""Uids as callers write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import Code, GatewayError
from postroom.mailbox.uids import changed, gone, read_uid, write_uid

NUMBERS = st.integers(1, 2**32 - 1)


@given(NUMBERS, NUMBERS)
def test_what_answers_give_is_what_calls_take(uid: int, uid_validity: int) -> None:
    assert read_uid(write_uid(uid, uid_validity)) == (uid, uid_validity)
    assert read_uid(str(uid)) == (uid, None)


@pytest.mark.parametrize(
    "text", ["", "0", "05", "-1", "1-", "-17", "1:5", "1,2", "*", "1 ", "٣", "4294967296", "1\r\n2"]
)
def test_anything_else_is_told_what_a_uid_looks_like(text: str) -> None:
    with pytest.raises(GatewayError) as refused:
        read_uid(text)
    assert refused.value.code is Code.VALIDATION_ERROR
    assert "57-1712" in refused.value.message


@given(st.text(max_size=30))
def test_no_text_becomes_a_sequence_set(text: str) -> None:
    try:
        uid, _ = read_uid(text)
    except GatewayError:
        return
    assert str(uid) == text.partition("-")[0]


def test_a_stale_uid_and_a_missing_message_are_told_apart() -> None:
    assert changed("5-1").details["reason"] == "uidvalidity_changed"
    assert "reason" not in gone("5-1").details
