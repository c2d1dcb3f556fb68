"""What came after a place: every message once, whatever the gaps, whatever the server believes of its own UIDs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.imap.faults import LostFault
from postroom.mail.model import Fetched, Head, Shown
from postroom.mailbox.following import Followed, Place, follow
from postroom.mailbox.uids import write_uid
from postroom.policy.visibility import show

pytestmark = pytest.mark.anyio

EMPTY = Head((), None, (), (), (), (), None, None, None, ())
UIDS = st.sets(st.integers(1, 300), max_size=40)


@dataclass
class Folder:
    """An open folder in memory that counts what it is asked; `believed_top` is what its UIDNEXT says, if it lies."""

    held: set[int]
    uid_validity: int = 17
    now_validity: int | None = None
    """What a new SELECT would tell."""
    believed_top: int | None = None
    commands: list[str] = field(default_factory=list)

    @property
    def exists(self) -> int:
        return len(self.held)

    async def has_numbering(self, uid_validity: int) -> bool:
        if uid_validity != self.uid_validity:
            self.commands.append("EXAMINE")
            self.uid_validity = self.now_validity or self.uid_validity
        return uid_validity == self.uid_validity

    async def top(self) -> int:
        return max(self.held, default=0) if self.believed_top is None else self.believed_top

    async def uids(self, low: int, high: int) -> list[int]:
        self.commands.append(f"SEARCH {low}:{high}")
        return sorted(uid for uid in self.held if low <= uid <= high)

    async def newest(self, low: int) -> list[Fetched]:
        return await self.rows(uid for uid in self.held if uid >= low)

    async def rows(self, uids: Iterable[int]) -> list[Fetched]:
        self.commands.append("FETCH")
        there = sorted((uid for uid in uids if uid in self.held), reverse=True)
        return [Fetched("INBOX", uid, self.uid_validity, EMPTY, None, None, frozenset(), None) for uid in there]


def shown(fetched: Fetched) -> Shown | None:
    return show(fetched, write_uid(fetched.uid, fetched.uid_validity))


def but(*hidden: int) -> Any:
    async def rows(_: Any, told: Sequence[Fetched]) -> list[Shown | None]:
        return [None if row.uid in hidden else shown(row) for row in told]

    return rows


async def followed(folder: Folder, place: Place | None, limit: int = 20, shows: Any = None) -> Followed:
    return await follow(folder, place, limit=limit, show=shows or but(), seek=None)  # type: ignore[arg-type]


def uids(one: Followed) -> list[int]:
    return [uid for uid, _ in one.rows]


@given(UIDS, UIDS, st.integers(1, 9))
async def test_each_arrival_comes_once_oldest_first_though_others_are_expunged(
    before: set[int], later: set[int], limit: int
) -> None:
    folder = Folder(before)
    place = (await followed(folder, None)).reached
    arrived = {uid + max(before, default=0) for uid in later}
    folder.held = {uid for uid in before if uid % 3} | arrived
    met: list[int] = []
    for calls in range(len(arrived) + 1):
        one = await followed(folder, place, limit)
        met, place = met + uids(one), one.reached
        assert len(one.rows) <= limit
        assert one.more is (limit * (calls + 1) < len(arrived))
    assert met == sorted(arrived)


@given(UIDS, st.integers(1, 9), st.integers(0, 9))
async def test_a_place_moves_over_what_was_given_out_and_no_further(held: set[int], limit: int, given: int) -> None:
    folder = Folder(held)
    one = await followed(folder, Place(17, 0), limit)
    rest = await followed(folder, one.after(given), 500)
    assert uids(one)[:given] + uids(rest) == sorted(held)


async def test_nothing_new_costs_one_search_and_no_message() -> None:
    folder = Folder({3, 5, 7})
    one = await followed(folder, Place(17, 7))
    assert (one.rows, one.reached, one.more, one.reset) == ((), Place(17, 7), False, False)
    assert folder.commands == ["SEARCH 8:4294967295"]


async def test_a_folder_whose_last_uid_was_the_last_there_can_be_is_not_asked_for_more() -> None:
    assert (await followed(Folder({4294967295}), Place(17, 4294967295))).rows == ()


async def test_another_numbering_is_told_afresh_from_the_first_uid() -> None:
    one = await followed(Folder({1, 2}, uid_validity=99), Place(17, 500), limit=1)
    assert (one.reset, uids(one), one.more) == (True, [1], True)
    assert one.after(0) == Place(99, 0)
    assert one.after(1) == Place(99, 1)


async def test_a_session_that_has_not_met_the_new_numbering_is_no_reset() -> None:
    folder = Folder({1, 2}, uid_validity=17, now_validity=99)
    one = await followed(folder, Place(99, 1))
    assert folder.commands[0] == "EXAMINE"
    assert (one.reset, uids(one), one.reached) == (False, [2], Place(99, 2))


async def test_a_server_that_tells_no_numbering_is_followed_by_uid_alone() -> None:
    one = await followed(Folder({3, 5, 7}, uid_validity=0), Place(0, 5))
    assert (one.reset, uids(one)) == (False, [7])


async def test_a_numbering_that_changes_meanwhile_is_left_for_the_next_call() -> None:
    class Renumbered(Folder):
        async def rows(self, uids: Iterable[int]) -> list[Fetched]:
            self.uid_validity = 99
            return await super().rows(uids)

    with pytest.raises(LostFault):
        await followed(Renumbered({1, 2}), Place(17, 0))


@pytest.mark.parametrize("believed", [0, 4, 7, 5_000, 4294967295])
async def test_uidnext_is_not_believed(believed: int) -> None:
    folder = Folder({3, 5, 7}, believed_top=believed)
    place = (await followed(folder, None)).reached
    assert place.uid == 7 or believed == 0
    folder.held |= {9, 11}
    assert uids(await followed(folder, Place(17, 7))) == [9, 11]


@pytest.mark.parametrize("believed", [None, 5])
async def test_a_large_folder_is_searched_by_windows(believed: int | None) -> None:
    folder = Folder(set(range(1, 60_001)), believed_top=believed)
    one = await followed(folder, Place(17, 0), limit=2)
    assert uids(one) == [1, 2]
    assert folder.commands[0] == ("SEARCH 1:5000" if believed is None else "SEARCH 1:4294967295")
    folder.commands.clear()
    assert uids(await followed(folder, Place(17, 59_999), limit=2)) == [60_000]
    assert folder.commands == ["SEARCH 60000:4294967295", "FETCH"]


async def test_all_of_a_large_folder_with_gaps_is_met() -> None:
    held = set(range(1, 6_000)) | {100_000, 900_000, 4_000_000_000}
    place, met = Place(17, 5_990), []
    for _ in range(20):
        one = await followed(Folder(held), place, limit=5)
        met, place = met + uids(one), one.reached
    assert met == sorted(uid for uid in held if uid > 5_990)


async def test_a_place_does_not_tell_of_hidden_mail() -> None:
    folder = Folder({3, 5, 7})
    assert (await followed(folder, None, shows=but(5, 7))).reached == Place(17, 3)
    folder.held |= {8, 9, 10}
    assert (await followed(folder, Place(17, 3), shows=but(5, 7, 9, 10))).reached == Place(17, 8)


async def test_hidden_mail_without_end_is_passed_in_one_call_by_who_must_not_notice_it() -> None:
    folder = Folder(set(range(1, 26)))
    found = await follow(folder, Place(17, 0), limit=20, show=but(*range(1, 25)), seek=None, most=None)  # type: ignore[arg-type]
    assert (uids(found), found.more) == ([25], False)


async def test_a_mailbox_that_is_seen_whole_is_followed_in_steps() -> None:
    folder = Folder(set(range(1, 26)))
    one = await follow(folder, Place(17, 0), limit=20, show=but(), seek=None, most=10)  # type: ignore[arg-type]
    assert (one.reached, one.more) == (Place(17, 10), True)
