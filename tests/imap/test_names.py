"""Modified UTF-7 (RFC 3501 5.1.3)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.imap.names import decode_name, encode_name


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"INBOX", "INBOX"),
        (b"R&-D", "R&D"),
        (b"&- Co &- &AOk-", "& Co & é"),
        (b"Entw&APw-rfe", "Entwürfe"),
        (b"&ZeVnLIqe-", "日本語"),
        (b"&U,BTFw-/&ZeVnLIqe-", "台北/日本語"),
        (b"&2D3eAA-", "😀"),
    ],
)
def test_names_are_decoded_and_spelled_as_the_server_spells_them(raw: bytes, name: str) -> None:
    assert decode_name(raw) == name
    assert encode_name(name) == raw


def test_raw_utf8_is_read_and_other_octets_are_replaced() -> None:
    assert decode_name("Entwürfe".encode()) == "Entwürfe"
    assert decode_name(b"R\xe9ponses") == "R\ufffdponses"


def test_a_broken_shift_is_shown_as_it_stands() -> None:
    assert decode_name(b"a&!!!-b") == "a&!!!-b"
    assert decode_name(b"a&AP") == "a&AP"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_every_name_comes_back(name: str) -> None:
    assert decode_name(encode_name(name)) == name


@given(st.binary(max_size=40))
def test_no_octets_raise(raw: bytes) -> None:
    decode_name(raw)


def test_a_name_of_many_ampersands_costs_linear_time() -> None:
    started = time.process_time()
    assert decode_name(b"&" * 200_000) == "&" * 200_000
    assert time.process_time() - started < 2  # quadratic work would take minutes


def test_an_ampersand_that_shifts_nothing_leaves_the_next_one_its_meaning() -> None:
    assert decode_name(b"Tom & J&AOk-r") == "Tom & J\xe9r"
