"""Sealed ids: they open for whom and for what they were made, and for nothing else."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.base.seal import KeyRing, Seal, SealError

RING = KeyRing(7, {7: bytes(range(32))})
SEAL = Seal(RING)
WHO = "ana/assistant"
BOUND = (b"work", b"INBOX")
PLAIN = (1700000000).to_bytes(4) + (42).to_bytes(4)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

texts = st.text(st.characters(codec="utf-8"), max_size=20)


def test_an_id_is_pinned_so_that_an_update_does_not_change_every_id() -> None:
    assert SEAL.seal("m", PLAIN, identity=WHO, bound=BOUND) == "m1_B6LmdVokcn2PLztkhfGnK4FjPPv3vpSezA"


@given(st.sampled_from("macst"), st.binary(max_size=300), texts, st.lists(st.binary(max_size=40), max_size=5))
def test_what_was_sealed_opens_again(kind: str, plaintext: bytes, identity: str, bound: list[bytes]) -> None:
    text = SEAL.seal(kind, plaintext, identity=identity, bound=bound)
    assert SEAL.open(kind, text, identity=identity, bound=bound) == plaintext


def test_an_id_stays_the_same_after_a_restart() -> None:
    again = Seal(KeyRing(7, {7: bytes(range(32))}))
    assert again.seal("m", PLAIN, identity=WHO, bound=BOUND) == SEAL.seal("m", PLAIN, identity=WHO, bound=BOUND)


def test_an_id_opens_in_no_other_circumstances() -> None:
    kinds, identities = ("m", "a", "c"), ("ana/assistant", "ana/other", "ana", "")
    bounds = ((b"work", b"INBOX"), (b"work", b"Sent"), (b"workINBOX",), (b"INBOX", b"work"), (b"work", b"INBOX", b""))
    uses = list(itertools.product(kinds, identities, bounds))
    for made, used in itertools.permutations(uses, 2):
        text = SEAL.seal(made[0], PLAIN, identity=made[1], bound=made[2])
        renamed = used[0] + text[1:]
        with pytest.raises(SealError):
            SEAL.open(used[0], text if made[0] == used[0] else renamed, identity=used[1], bound=used[2])
    assert len(uses) == 60


def test_an_id_with_one_bit_changed_does_not_open() -> None:
    text = SEAL.seal("m", PLAIN, identity=WHO, bound=BOUND)
    for position in range(3, len(text)):
        for bit in range(6):
            changed = ALPHABET[ALPHABET.index(text[position]) ^ 1 << bit]
            with pytest.raises(SealError):
                SEAL.open("m", text[:position] + changed + text[position + 1 :], identity=WHO, bound=BOUND)


@pytest.mark.parametrize("size", range(1, 9))
def test_a_value_has_one_spelling_only(size: int) -> None:
    text = SEAL.seal("m", bytes(size), identity=WHO, bound=BOUND)
    for changed in ALPHABET:
        if changed != text[-1]:
            with pytest.raises(SealError):
                SEAL.open("m", text[:-1] + changed, identity=WHO, bound=BOUND)
    for spelling in (text + "=", text + "\n", " " + text, text + "A", text[:-1]):
        with pytest.raises(SealError):
            SEAL.open("m", spelling, identity=WHO, bound=BOUND)


@settings(max_examples=2000, deadline=None)
@given(st.text() | st.from_regex(r"m1_[A-Za-z0-9_-]{0,600}", fullmatch=True))
def test_made_up_text_fails_always_with_the_same_words(text: str) -> None:
    with pytest.raises(SealError, match=r"^this id or cursor does not open here$"):
        SEAL.open("m", text, identity=WHO, bound=BOUND)


def test_ids_of_neighbours_share_nothing_but_kind_and_key() -> None:
    ids = [SEAL.seal("m", PLAIN[:4] + uid.to_bytes(4), identity=WHO, bound=BOUND) for uid in range(1000)]
    assert len(set(ids)) == 1000
    assert {text[:4] for text in ids} == {"m1_B"}
    assert len({text[:6] for text in ids}) > 50
    assert sum(a < b for a, b in itertools.pairwise(ids)) in range(430, 571)  # order says nothing of the UIDs


def test_a_retired_key_opens_while_it_is_in_the_ring_and_not_after() -> None:
    text = SEAL.seal("m", PLAIN, identity=WHO, bound=BOUND)
    rotated = Seal(KeyRing(8, {7: bytes(range(32)), 8: bytes(32)}))
    assert rotated.open("m", text, identity=WHO, bound=BOUND) == PLAIN
    assert rotated.seal("m", PLAIN, identity=WHO, bound=BOUND) != text
    with pytest.raises(SealError):
        Seal(KeyRing(8, {8: bytes(32)})).open("m", text, identity=WHO, bound=BOUND)


def test_an_id_is_at_most_512_characters_and_one_of_an_attachment_or_a_since_cursor_4096() -> None:
    assert len(SEAL.seal("m", bytes(364), identity=WHO, bound=BOUND)) == 511
    with pytest.raises(ValueError, match="365 bytes"):
        SEAL.seal("m", bytes(365), identity=WHO, bound=BOUND)
    for kind in "as":
        text = SEAL.seal(kind, bytes(3000), identity=WHO, bound=BOUND)
        assert SEAL.open(kind, text, identity=WHO, bound=BOUND) == bytes(3000)
        with pytest.raises(ValueError, match="4000 bytes"):
            SEAL.seal(kind, bytes(4000), identity=WHO, bound=BOUND)


@pytest.mark.parametrize("kind", ["", "M", "ab", "1", "é"])
def test_a_kind_is_one_small_letter(kind: str) -> None:
    with pytest.raises(ValueError, match="cannot be sealed"):
        SEAL.seal(kind, PLAIN, identity=WHO, bound=BOUND)


def test_a_ring_shows_no_key_and_must_hold_its_current_one() -> None:
    assert "\\x01\\x02" not in repr(RING)
    for current, keys in ((1, {}), (1, {1: b"short"}), (300, {300: bytes(32)})):
        with pytest.raises(ValueError, match="sealing key"):
            KeyRing(current, keys)
