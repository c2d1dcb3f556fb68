"""Ids that bound callers use: one for each message, good for one identity, mailbox and folder, and telling nothing."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import GatewayError
from postroom.base.seal import KeyRing, Seal
from postroom.mailbox.discretion import discreet
from postroom.mailbox.sealeduids import FILE_LIFE, FilePlace, SealedFiles, SealedNaming
from postroom.mailbox.uids import NOBODY

SEAL = Seal(KeyRing(1, {1: bytes(range(32))}))
NAMING = SealedNaming(SEAL, "ana/desk", "work")
FILES = SealedFiles(SEAL, "ana/desk", "work")
NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
UIDS, VALIDITIES = st.integers(1, 2**32 - 1), st.integers(0, 2**40)
FOLDERS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=200)


def refused(read: Any, *arguments: Any) -> bytes:
    """What a caller hears of it."""
    with pytest.raises(GatewayError) as error:
        read(*arguments)
    return repr(discreet(error.value).body()).encode()


@given(FOLDERS, UIDS, VALIDITIES)
def test_an_id_opens_to_what_it_was_made_of_and_is_the_same_each_time(folder: str, uid: int, validity: int) -> None:
    text = NAMING.write(folder, uid, validity)
    assert NAMING.read(folder, text) == (uid, validity)
    assert NAMING.write(folder, uid, validity) == text
    assert text.startswith("m1_")


def test_every_bit_and_every_field_counts_and_all_faults_sound_the_same() -> None:
    text = NAMING.write("INBOX", 57, 1712)
    sealed = base64.urlsafe_b64decode(text[3:] + "==")
    flipped = [
        "m1_" + base64.urlsafe_b64encode(_flipped(sealed, bit)).rstrip(b"=").decode() for bit in range(len(sealed) * 8)
    ]
    told = {NAMING.read("INBOX", one) for one in flipped}
    told |= {NAMING.read("INBOX", one) for one in ("", "57", "57-1712", "m1_", "a1" + text[2:], text + "A")}
    told.add(NAMING.read("Archive", text))
    told.add(SealedNaming(SEAL, "ana/other", "work").read("INBOX", text))
    told.add(SealedNaming(SEAL, "bo/desk", "work").read("INBOX", text))
    told.add(SealedNaming(SEAL, "ana/desk", "home").read("INBOX", text))
    told.add(SealedNaming(Seal(KeyRing(1, {1: bytes(32)})), "ana/desk", "work").read("INBOX", text))
    assert told == {NOBODY}


def _flipped(octets: bytes, bit: int) -> bytes:
    changed = bytearray(octets)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@given(st.text(max_size=120))
def test_whatever_is_made_up_is_refused_in_the_same_words(text: str) -> None:
    assert NAMING.read("INBOX", text) == NOBODY
    assert refused(FILES.read, text, NOW) == refused(FILES.read, "", NOW)


def test_ids_of_neighbours_have_nothing_in_common_but_kind_and_key() -> None:
    ids = [NAMING.write("INBOX", uid, 1712) for uid in range(1, 1001)]
    assert len(set(ids)) == 1000
    assert len({one[:4] for one in ids}) == 1
    assert len({one[5:9] for one in ids}) > 990
    ascending = sum(first < second for first, second in pairwise(ids))
    assert 400 < ascending < 600


def test_a_key_that_was_rotated_opens_for_as_long_as_it_is_kept() -> None:
    old, new = bytes(range(32)), bytes(32)
    text = NAMING.write("INBOX", 57, 1712)
    both = SealedNaming(Seal(KeyRing(2, {1: old, 2: new})), "ana/desk", "work")
    assert both.read("INBOX", text) == (57, 1712)
    assert both.write("INBOX", 57, 1712) != text
    assert SealedNaming(Seal(KeyRing(2, {2: new})), "ana/desk", "work").read("INBOX", text) == NOBODY


@given(FOLDERS, UIDS, VALIDITIES, st.sampled_from(["2", "1.2.3", "1/2"]))
def test_the_id_of_a_file_holds_where_it_lies(folder: str, uid: int, validity: int, section: str) -> None:
    place = FilePlace(folder, uid, validity, section)
    assert FILES.read(FILES.write(place, NOW), NOW) == place


def test_the_id_of_a_file_is_good_for_a_quarter_of_an_hour() -> None:
    text = FILES.write(FilePlace("INBOX", 57, 1712, "2"), NOW)
    FILES.read(text, NOW + timedelta(seconds=FILE_LIFE))
    assert refused(FILES.read, text, NOW + timedelta(seconds=FILE_LIFE + 301)) == refused(FILES.read, "a1_A", NOW)
    assert refused(SealedFiles(SEAL, "bo/desk", "work").read, text, NOW) == refused(FILES.read, "a1_A", NOW)
    assert FILES.write(FilePlace("INBOX", 57, 1712, "2"), NOW + timedelta(seconds=1)) != "a1_"
