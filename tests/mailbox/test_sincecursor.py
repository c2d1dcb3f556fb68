"""Since cursors: for one caller and one question, for thirty days, small enough for many mailboxes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import Code, GatewayError
from postroom.base.seal import KeyRing, Seal
from postroom.mail.query.filters import filter_query
from postroom.mail.query.tree import All
from postroom.mailbox.following import Place
from postroom.mailbox.sincecursor import SinceCursors, feed_cursors, place_key

SEAL = Seal(KeyRing(0, {0: bytes(32)}))
NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
PLACES = st.dictionaries(
    st.text(max_size=9).map(lambda name: place_key(name, "INBOX")),
    st.builds(Place, st.integers(0, 2**63), st.integers(0, 2**32 - 1)),
    max_size=20,
)
UNSEEN = filter_query({"unseen": True})


def cursors(**other: object) -> SinceCursors:
    asked = {"seal": SEAL, "identity": "token/a", "mailboxes": ["one", "two"], "folder": None, "query": All()} | other
    return feed_cursors(**asked)  # type: ignore[arg-type]


def refusal(read_by: SinceCursors, text: str, now: datetime = NOW) -> str:
    with pytest.raises(GatewayError) as caught:
        read_by.read(text, now)
    assert (caught.value.code, caught.value.details["argument"]) == (Code.VALIDATION_ERROR, "since_cursor")
    return str(caught.value.details["reason"])


@given(PLACES)
def test_what_was_written_is_read(places: dict[bytes, Place]) -> None:
    assert cursors().read(cursors().write(places, NOW), NOW) == places


def test_names_in_another_order_ask_the_same_and_equal_places_have_equal_cursors() -> None:
    places = {place_key(name, "INBOX"): Place(17, 5) for name in ("one", "two")}
    text = cursors().write(places, NOW)
    assert cursors(mailboxes=["two", "one"]).read(text, NOW) == places
    assert cursors().write(dict(reversed(places.items())), NOW + timedelta(seconds=200)) == text


@pytest.mark.parametrize(
    "other",
    [
        {"identity": "token/b"},
        {"mailboxes": None},
        {"mailboxes": ["one"]},
        {"folder": "Box"},
        {"query": UNSEEN},
        {"seal": Seal(KeyRing(0, {0: bytes([1]) * 32}))},
    ],
    ids=str,
)
def test_a_cursor_answers_nothing_but_its_own_question(other: dict[str, object]) -> None:
    text = cursors().write({place_key("one", "INBOX"): Place(17, 5)}, NOW)
    assert refusal(cursors(**other), text).startswith("is not a cursor of this feed")


@given(st.text(max_size=30) | st.from_regex(r"s1_[A-Za-z0-9_-]{0,60}", fullmatch=True))
def test_what_is_made_up_is_refused(text: str) -> None:
    assert refusal(cursors(), text).startswith("is not a cursor of this feed")


def test_every_changed_letter_is_noticed() -> None:
    text = cursors().write({place_key("one", "INBOX"): Place(17, 5)}, NOW)
    for at in range(len(text)):
        assert refusal(cursors(), text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])


def test_a_cursor_lives_thirty_days() -> None:
    text = cursors().write({}, NOW)
    assert cursors().read(text, NOW + timedelta(days=30)) == {}
    assert refusal(cursors(), text, NOW + timedelta(days=30, minutes=11)).startswith("has expired")


def test_twenty_mailboxes_fit_in_some_hundred_letters_two_hundred_fit_and_more_are_refused_in_words() -> None:
    def some(count: int) -> dict[bytes, Place]:
        return {place_key(f"box-{number}", "INBOX"): Place(1_800_000_000, 2_000_000) for number in range(count)}

    assert len(cursors().write(some(20), NOW)) < 450
    assert cursors().read(cursors().write(some(200), NOW), NOW) == some(200)
    with pytest.raises(GatewayError) as caught:
        cursors().write(some(400), NOW)
    assert (caught.value.code, caught.value.details["argument"]) == (Code.VALIDATION_ERROR, "mailbox")
