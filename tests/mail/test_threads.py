"""Conversations by what heads say of their kin: lost parents, loops, forgeries, ids used twice."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.head import parse_head
from postroom.mail.threads import MOST_REFERENCES, Kin, conversations, kin_of, oldest_first


def kin(**said: str) -> dict[str, Kin]:
    """`a="", b="a", c="x b"` are messages with the ids a, b, c, and their references."""
    return {name: Kin(name, tuple(references.split())) for name, references in said.items()}


def groups(messages: dict[str, Kin]) -> list[str]:
    return ["".join(group) for group in conversations(messages)]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (kin(a="", b="a", c="a b", d="a b c"), ["abcd"]),
        (kin(a="", b="", c=""), ["a", "b", "c"]),
        (kin(b="x", c="x"), ["bc"]),
        (kin(b="x y", c="x z"), ["bc"]),
        (kin(c="a b", a=""), ["ca"]),
        (kin(d="a b c", e="b"), ["de"]),
        (kin(a="b", b="a"), ["ab"]),
        (kin(a="c", b="a", c="b", d="c"), ["abcd"]),
        ({"a": Kin(None, ()), "b": Kin(None, ()), "c": Kin(None, ("a",))}, ["a", "b", "c"]),
        ({"a": Kin("x", ()), "b": Kin("x", ()), "c": Kin("y", ("x",))}, ["ac", "b"]),
    ],
    ids=[
        "a chain",
        "strangers",
        "a lost parent",
        "a lost root above lost parents",
        "the answer came first",
        "a reference in the middle",
        "a loop",
        "a longer loop",
        "no ids",
        "one id twice",
    ],
)
def test_messages_are_together_if_their_heads_say_so(messages: dict[str, Kin], expected: list[str]) -> None:
    assert groups(messages) == expected


def test_a_message_that_names_two_conversations_joins_one_and_ties_nothing_else() -> None:
    forged = kin(a="", b="a", x="", y="x") | {"evil": Kin("evil", ("a", "b", "x", "y"))}
    assert groups(forged) == ["ab", "xyevil"]
    first = {"evil": Kin("evil", ("a", "x"))} | kin(a="", x="")
    assert groups(first) == ["evilx", "a"]


def test_who_first_says_where_a_lost_message_belongs_is_believed() -> None:
    messages = kin(a="", b="a lost") | kin(other="") | {"evil": Kin("evil", ("other", "lost"))}
    assert groups(messages) == ["abevil", "other"]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"Message-ID: <a@x>\nReferences: <r@x>\n <s@x>\nIn-Reply-To: <t@x>\n", Kin("<a@x>", ("<r@x>", "<s@x>"))),
        (b"Message-ID: <a@x>\nIn-Reply-To: Your message of Monday <t@x>\n", Kin("<a@x>", ("<t@x>",))),
        (b"Message-ID: <a@x>\nReferences: <a@x> <r@x> <r@x>\n", Kin("<a@x>", ("<r@x>",))),
        (b"Subject: nothing\n", Kin(None, ())),
    ],
)
def test_kin_are_read_from_the_head(block: bytes, expected: Kin) -> None:
    assert replace(kin_of(parse_head(block)), copy=None) == expected


def test_copies_of_a_message_are_with_it_and_others_with_its_id_are_not() -> None:
    block = b"Message-ID: <a@x>\r\nSubject: Roof\r\nFrom: a@x\r\nDate: Tue, 03 Mar 2026 09:00:00 +0000\r\n"
    first, copy, other = (parse_head(one) for one in (block, b"Received: x\r\n" + block, block + b"X: y\r\n"))
    other = replace(other, subject="Wall")
    messages = {"a": kin_of(first), "b": kin_of(copy), "o": kin_of(other), "r": Kin("r", ("<a@x>",))}
    assert groups(messages) == ["abr", "o"]
    nameless = {name: kin_of(parse_head(b"Subject: Roof\r\n")) for name in "ab"}
    assert groups(nameless) == ["a", "b"]


def test_of_many_references_the_first_and_the_latest_count() -> None:
    ids = [f"<{number}@x>" for number in range(500)]
    ancestors = kin_of(parse_head(("References: " + " ".join(ids) + "\n").encode())).ancestors
    assert ancestors == (ids[0], *ids[-(MOST_REFERENCES - 1) :])


NAMES = st.sampled_from("abcdefgh")
KIN = st.builds(Kin, NAMES | st.none(), st.lists(NAMES, max_size=4).map(lambda ids: tuple(dict.fromkeys(ids))))


@given(st.dictionaries(st.integers(0, 20), KIN))
def test_every_message_is_in_exactly_one_conversation_whatever_they_say(messages: dict[int, Kin]) -> None:
    found = conversations(messages)
    assert sorted(key for group in found for key in group) == sorted(messages)
    assert all(found)


@given(st.dictionaries(st.integers(0, 20), KIN), st.randoms())
def test_a_message_is_with_its_parent_in_any_order(messages: dict[int, Kin], chance: random.Random) -> None:
    shuffled = dict(chance.sample(sorted(messages.items()), len(messages)))
    owners: dict[str, int] = {}
    for key, one in shuffled.items():
        if one.message_id:
            owners.setdefault(one.message_id, key)
    where = {key: place for place, group in enumerate(conversations(shuffled)) for key in group}
    for key, one in shuffled.items():
        if one.ancestors and one.ancestors[-1] in owners:
            assert where[key] == where[owners[one.ancestors[-1]]]


def test_a_hundred_thousand_messages_in_one_chain_are_one_conversation() -> None:
    messages = {number: Kin(f"<{number}>", (f"<{number - 1}>",) if number else ()) for number in range(100_000)}
    (group,) = conversations(messages)
    assert len(group) == 100_000


def moment(minute: int, number: int = 0) -> tuple[datetime, datetime, int]:
    received = datetime(2026, 3, 3, 9, minute, tzinfo=UTC)
    return received, received, number


@pytest.mark.parametrize(
    ("messages", "minutes", "expected"),
    [
        (kin(a="", b="a", c="b"), (1, 2, 3), "abc"),
        (kin(c="b", a="", b="a"), (3, 1, 2), "abc"),
        (kin(b="a", d="c", a="", c="b", e="d"), (1, 1, 2, 2, 2), "abcde"),
        (kin(a="", b="a", c="a", d="b"), (1, 5, 2, 5), "acbd"),
        (kin(b="a lost", a=""), (1, 2), "ab"),
        (kin(a="b", b="a", c="b"), (2, 3, 1), "cab"),
        (kin(a="a", b="a"), (2, 1), "ab"),
        (kin(a="", x="", b="a"), (3, 2, 1), "xab"),
    ],
    ids=["in order", "mixed", "moved", "branches", "nearest ancestor", "a loop", "own parent", "strangers"],
)
def test_the_oldest_comes_first_and_nothing_before_what_it_answers(
    messages: dict[str, Kin], minutes: tuple[int, ...], expected: str
) -> None:
    names = list(messages)
    order = oldest_first(list(messages.values()), [moment(minute, at) for at, minute in enumerate(minutes)])
    assert "".join(names[place] for place in order) == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=12))
def test_whoever_answers_whom_each_message_is_told_once(said: list[tuple[int, int]]) -> None:
    messages = [Kin(str(at), (str(parent),)) for at, (parent, _) in enumerate(said)]
    order = oldest_first(messages, [moment(minute, at) for at, (_, minute) in enumerate(said)])
    assert sorted(order) == list(range(len(said)))
