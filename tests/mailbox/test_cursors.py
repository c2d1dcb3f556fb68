"""Cursors open for whom and for what they were made, for an hour, and for nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import Code, GatewayError
from postroom.base.seal import KeyRing, Seal
from postroom.mailbox.cursors import LIFE, Cursors, Position

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
SEAL = Seal(KeyRing(1, {1: bytes(range(32))}))
BOUND = (b"work", b"INBOX", b"list_messages", b"settings")
NUMBERS = st.integers(0, 2**32 - 1)


def cursors(identity: str = "token/ana", bound: tuple[bytes, ...] = BOUND) -> Cursors:
    return Cursors(SEAL, identity, bound)


@given(NUMBERS, NUMBERS)
def test_a_cursor_opens_to_where_the_list_goes_on(uid: int, uid_validity: int) -> None:
    position = Position(uid, uid_validity)
    assert cursors().read(cursors().write(position, NOW), NOW) == position


@pytest.mark.parametrize("place", range(len(BOUND)))
def test_another_mailbox_folder_list_or_configuration_does_not_open_it(place: int) -> None:
    text = cursors().write(Position(5, 17), NOW)
    other = tuple(b"other" if number == place else part for number, part in enumerate(BOUND))
    with pytest.raises(GatewayError) as refused:
        cursors(bound=other).read(text, NOW)
    assert refused.value.code is Code.VALIDATION_ERROR
    assert refused.value.details["argument"] == "cursor"


def test_another_token_does_not_open_it() -> None:
    with pytest.raises(GatewayError):
        cursors("token/bo").read(cursors().write(Position(5, 17), NOW), NOW)


def test_it_is_good_for_an_hour_and_not_for_much_longer() -> None:
    text = cursors().write(Position(5, 17), NOW)
    assert cursors().read(text, NOW + timedelta(seconds=LIFE))
    with pytest.raises(GatewayError, match="expired"):
        cursors().read(text, NOW + timedelta(seconds=LIFE + 601))


@given(st.one_of(st.text(max_size=80), st.from_regex(r"c1_[A-Za-z0-9_-]{0,60}", fullmatch=True)))
def test_anything_else_is_one_and_the_same_refusal(text: str) -> None:
    with pytest.raises(GatewayError, match="cursor: is not a cursor of this list; start again without a cursor"):
        cursors().read(text, NOW)
