"""Orders by several keys: one string of a row settles them all, and a server is told the same order."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.seal import KeyRing, Seal
from postroom.mail.model import Fetched, Shown
from postroom.mail.parse import parse_head
from postroom.mail.query.matching import fold
from postroom.mail.query.sorting import ORDERS, order_by
from postroom.mailbox.cursors import Cursors, Position
from postroom.policy.visibility import show

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = st.text(st.sampled_from("abcABCéÉzZ教\U0001f600.-"), max_size=4)
DIRECTIONS = st.lists(st.tuples(st.sampled_from(["date", "from", "to", "subject"]), st.booleans()), min_size=1)


@dataclass(frozen=True)
class Row:
    sender: str
    to: str
    subject: str
    second: int

    def shown(self) -> Shown:
        lines = [
            f"From: {self.sender}@example.org" if self.sender else "X-From: nobody",
            f"To: {self.to}@example.org" if self.to else "X-To: nobody",
            f"Subject: {self.subject}",
            f"Date: Sun, 1 Mar 2026 09:00:{self.second:02} +0000",
        ]
        head = parse_head("".join(f"{line}\r\n" for line in lines).encode())
        shown = show(Fetched("INBOX", 7, 17, head, NOON, 1, frozenset(), False), "7-17")
        assert shown
        return shown

    def compared(self, name: str) -> bytes | int:
        if name == "date":
            return self.second
        told = {"from": self.shown().head.from_, "to": self.shown().head.to}
        if name == "subject":
            return fold(self.shown().head.subject or "").encode()
        return fold(told[name][0].address.partition("@")[0]).encode() if told[name] else b""


ROWS = st.lists(st.builds(Row, NAMES, NAMES, NAMES, st.integers(0, 3)), max_size=8)


@given(DIRECTIONS, ROWS)
def test_one_comparison_of_strings_settles_several_keys_of_either_direction(
    keys: list[tuple[str, bool]], rows: list[Row]
) -> None:
    order = order_by(keys)
    found = sorted(rows, key=lambda row: order.key(row.shown()), reverse=order.descending)
    wanted = list(rows)
    for name, descending in reversed(keys):
        wanted.sort(key=lambda row: row.compared(name), reverse=descending)
    compared = [[row.compared(name) for name, _ in keys] for row in found]
    assert compared == [[row.compared(name) for name, _ in keys] for row in wanted]


@pytest.mark.parametrize(
    ("keys", "criteria"),
    [
        ([("date", True)], "REVERSE DATE"),
        ([("to", False)], "TO"),
        ([("subject", True), ("to", False), ("date", False)], "REVERSE SUBJECT TO DATE"),
        ([("to", False), ("from", True)], "TO REVERSE FROM"),
        ([("date", False), ("date", True), ("from", False)], "DATE FROM"),
    ],
)
def test_a_server_is_told_the_keys_in_their_order_and_each_of_them_once(
    keys: list[tuple[str, bool]], criteria: str
) -> None:
    assert order_by(keys).criteria == criteria


def test_rows_with_the_same_keys_follow_by_uid_from_the_highest() -> None:
    order = order_by([("from", True), ("subject", False)])
    key = order.key(Row("ana", "bo", "Hello", 1).shown())
    later = order.key(Row("ana", "bo", "Zebra", 1).shown())
    assert order.follows(key, 5, key, 9)
    assert not order.follows(key, 9, key, 5)
    assert order.follows(later, 99, key, 1)
    assert not order.follows(key, 1, later, 99)


def test_a_key_comes_back_from_a_cursor_whatever_letters_are_in_it() -> None:
    order = order_by([(name, True) for name in ("from", "subject", "to", "date", "size")])
    chance = random.Random(3)
    for _ in range(200):
        subject = "".join(chr(chance.choice((chance.randrange(0xA0, 0xD800), 0x102000, 0x10FFFF))) for _ in range(90))
        key = order.key(Row(subject, subject, subject, 1).shown())
        cursors = Cursors(Seal(KeyRing(0, {0: bytes(32)})), "tester", ())
        assert cursors.read(cursors.write(Position(7, 17, key), NOON), NOON).key == key


def test_an_order_needs_a_key() -> None:
    with pytest.raises(ValueError, match="needs a key"):
        order_by([])


def test_the_orders_that_have_names_are_of_one_key() -> None:
    assert {name: order.criteria for name, order in ORDERS.items()} == {
        "date": "DATE",
        "-date": "REVERSE DATE",
        "from": "FROM",
        "-from": "REVERSE FROM",
        "subject": "SUBJECT",
        "-subject": "REVERSE SUBJECT",
        "size": "SIZE",
        "-size": "REVERSE SIZE",
    }
