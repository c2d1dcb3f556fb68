"""Tokens: their form, their check, and the hash by which they are known."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.token import TOKEN_PATTERN, mint, token_hash, well_formed

# Made once by `mint` and pinned: a change of alphabet, length or check would lock out every issued token.
ISSUED = "psr_a_cXPCScNdr2_QOpVxtonncCQMTwWtnBrfARCemuLoKnWSDbEPjVm6Qu27L40I"


def test_a_token_made_by_an_earlier_version_is_still_well_formed() -> None:
    assert well_formed(ISSUED)


def test_a_minted_token_is_well_formed_and_carries_its_id() -> None:
    token = mint()
    text = token.text.reveal()
    assert well_formed(text)
    assert text.startswith(f"psr_a_{token.id}_")
    assert len(text) == len("psr_a_") + 10 + len("_") + 43 + 6


def test_two_minted_tokens_share_neither_id_nor_secret() -> None:
    minted = [mint() for _ in range(200)]
    assert len({token.id for token in minted}) == 200
    assert len({token.text.reveal().split("_")[3] for token in minted}) == 200


@given(position=st.integers(0, len(ISSUED) - 1), letter=st.characters())
def test_one_changed_character_is_noticed(position: int, letter: str) -> None:
    altered = ISSUED[:position] + letter + ISSUED[position + 1 :]
    assert well_formed(altered) == (altered == ISSUED)


@given(st.text() | st.from_regex(TOKEN_PATTERN, fullmatch=True))
def test_any_text_is_judged_without_an_error(text: str) -> None:
    assert well_formed(text) in (True, False)


@pytest.mark.parametrize("text", [ISSUED + "\n", " " + ISSUED, ISSUED.upper(), ISSUED.replace("_a_", "_x_"), ""])
def test_near_misses_are_not_well_formed(text: str) -> None:
    assert not well_formed(text)


def test_the_hash_is_sha256_of_the_whole_token() -> None:
    assert token_hash(ISSUED) == "sha256:" + hashlib.sha256(ISSUED.encode()).hexdigest()


@given(st.text(st.characters(exclude_categories=())))
def test_any_presented_text_has_a_hash(text: str) -> None:
    assert len(token_hash(text)) == len("sha256:") + 64


def test_a_token_does_not_show_itself() -> None:
    token = mint()
    assert token.text.reveal() not in repr(token)
    assert token.id in repr(token)
