"""Armour goes, words stay: and where words might go with it, so does the armour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.armour import armour_signals, without_armour

SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n\niQEzBAEB\n=abcd\n-----END PGP SIGNATURE-----"
CIPHER = "-----BEGIN PGP MESSAGE-----\nVersion: 1\n\nhQEMA1\n=abcd\n-----END PGP MESSAGE-----"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{SIGNED}Twelve pallets.\n- -- \nDana\n{SIGNATURE}\n", "Twelve pallets.\n-- \nDana\n"),
        (f"Before.\n{SIGNED}Signed.\n{SIGNATURE}\nAfter.", "Before.\nSigned.\nAfter."),
        (f"Hello,\n{CIPHER}\nBye", "Hello,\n[OpenPGP ciphertext]\nBye"),
        (f"{SIGNED}No signature follows.\n- a list", None),
        ("-----BEGIN PGP MESSAGE-----\n\nPlease read these words.\n-----END PGP MESSAGE-----", None),
        ("-----BEGIN PGP MESSAGE-----\n\nhQEMA1\n", None),
        ("- a list\n- of things", None),
    ],
)
def test_words_stand_without_their_armour(text: str, words: str | None) -> None:
    assert without_armour(text) == (text if words is None else words)


def test_armour_says_what_it_is() -> None:
    assert armour_signals(f"Hi\n{SIGNED}x") == {"signed"}
    assert armour_signals(CIPHER) == {"encrypted"}
    assert armour_signals("a -----BEGIN PGP MESSAGE----- in a line") == frozenset()


@given(st.lists(st.sampled_from([*SIGNED.split("\n"), *SIGNATURE.split("\n"), *CIPHER.split("\n"), "own words"])))
def test_no_words_are_lost(lines: list[str]) -> None:
    assert without_armour("\n".join(lines)).count("own words") == lines.count("own words")
