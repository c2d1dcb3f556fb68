"""Pages of a search over servers that can more or less: nothing is silently missing, and nothing is read for naught."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from postroom.imap.faults import RefusedFault
from postroom.imap.search import Hits
from postroom.imap.wire import MAX_UID
from postroom.mail.model import Authentication, Fetched, Reading, Shown
from postroom.mail.parse import parse_head
from postroom.mail.query.pushdown import NONE, but_for_text, by_words, not_at_all, wholly
from postroom.mail.query.tree import All, And, Body, Flag, HasAttachment, Header, Not, Or, Query, Since, Uids
from postroom.mailbox.cursors import Position
from postroom.mailbox.listing import Page
from postroom.mailbox.searching import Means, Search, Sought
from postroom.policy.visibility import show

pytestmark = pytest.mark.anyio

EVEN = Flag("$even")
ANA = Header("from", "ana")
NEEDLE = Body("needle")


@dataclass
class Folder:
    """An open folder in memory, of which every tenth message is from Ana, and every third has a file."""

    held: set[int]
    understands: Callable[[Query], bool] = lambda _: True
    refusal: RefusedFault = RefusedFault("no", "BADCHARSET")  # noqa: RUF009 - never changed
    capabilities: frozenset[str] = frozenset()
    order: list[int] | None = None
    partial: bool = False
    asked: list[Query] = field(default_factory=list)
    windows: list[tuple[int, int]] = field(default_factory=list)
    fetched: int = 0
    read: int = 0

    @property
    def exists(self) -> int:
        return len(self.held)

    async def top(self) -> int:
        return max(self.held, default=0)

    async def search(self, query: Query, low: int, high: int, *, newest: int | None = None) -> Hits:
        self._hear(query)
        self.windows.append((low, high))
        found = sorted(uid for uid in self.held if low <= uid <= high and fits(query, uid))
        cut = self.partial and newest is not None and len(found) > newest
        return Hits(tuple((uid, uid) for uid in (found[-newest:] if cut and newest else found)), cut)

    async def sort(self, query: Query, criteria: str) -> list[int] | None:
        self._hear(query)
        return None if self.order is None else [uid for uid in self.order if fits(query, uid)]

    def _hear(self, query: Query) -> None:
        self.asked.append(query)
        if not self.understands(query):
            raise self.refusal

    async def rows(self, uids: Iterable[int]) -> list[Fetched]:
        wanted = sorted((uid for uid in uids if uid in self.held), reverse=True)
        self.fetched += len(wanted)
        return [row(uid) for uid in wanted]


def fits(query: Query, uid: int) -> bool:
    match query:
        case And(terms):
            return all(fits(term, uid) for term in terms)
        case Or(terms):
            return any(fits(term, uid) for term in terms)
        case Not(term):
            return not fits(term, uid)
        case Flag():
            return uid % 2 == 0
        case Header():
            return uid % 10 == 0
        case Body():
            return uid % 7 == 0
        case Uids(ranges):
            return any(low <= uid <= high for low, high in ranges)
        case _:
            return True


def row(uid: int) -> Fetched:
    name = "ana" if uid % 10 == 0 else "bo"
    head = parse_head(f"From: {name}@example.org\r\nSubject: {uid % 5}\r\n".encode())
    flags = frozenset({"$even"} if uid % 2 == 0 else ())
    return Fetched("INBOX", uid, 17, head, datetime(2026, 3, 1, tzinfo=UTC), 1_000, flags, uid % 3 == 0)


def shown(fetched: Fetched, reading: Reading | None = None) -> Shown | None:
    return show(fetched, str(fetched.uid), reading)


async def rows(_: Any, told: Sequence[Fetched]) -> list[Shown | None]:
    return [shown(one) for one in told]


async def page(
    folder: Folder,
    query: Query,
    limit: int = 5,
    sort: str = "newest",
    after: Position | None = None,
    most_read: int = 2_000,
) -> Page:
    async def read(uids: Sequence[int]) -> Mapping[int, Shown]:
        folder.read += len(uids)
        texts = {uid: "a needle" if uid % 7 == 0 else "hay" for uid in uids if uid in folder.held}
        readings = {
            uid: Reading((), text, None, "", "", None, (), None, Authentication(), (), (), False)
            for uid, text in texts.items()
        }
        return {uid: one for uid, reading in readings.items() if (one := shown(row(uid), reading))}

    sought = Sought(query, sort, after, limit)
    by_words_too = "X-GM-EXT-1" in folder.capabilities
    levels = [by_words if by_words_too else wholly, but_for_text, not_at_all]
    return await Search(folder, sought, Means(rows, read, levels, lambda: 0.0, 5_000, most_read, None)).page()  # type: ignore[arg-type]


def uids(page: Page) -> list[int]:
    return [int(one.uid) for one in page.rows]


def thousand() -> set[int]:
    return set(range(1, 1_001))


# -- a server that can


async def test_the_server_is_believed_and_only_the_page_is_fetched() -> None:
    folder = Folder(thousand())
    found = await page(folder, And((ANA, NEEDLE)))
    assert (uids(found), found.last_uid, found.incomplete) == ([980, 910, 840, 770, 700], 700, None)
    assert (folder.fetched, folder.read) == (6, 0)


async def test_the_next_page_begins_after_the_last_row() -> None:
    folder = Folder(thousand())
    found = await page(folder, ANA, limit=50, after=Position(530, 17))
    assert uids(found) == list(range(520, 0, -10))[:50]
    assert await page(folder, ANA, limit=52, after=Position(530, 17)) == replace(
        await page(folder, ANA, limit=60, after=Position(530, 17)), last_uid=None
    )


async def test_a_large_folder_is_searched_from_its_newest_end_and_no_further_than_needed() -> None:
    folder = Folder(set(range(1, 100_001)))
    assert len(uids(await page(folder, ANA))) == 5
    assert folder.windows == [(96_001, MAX_UID)]


async def test_a_rare_hit_is_found_in_ever_larger_windows() -> None:
    folder = Folder(set(range(1, 100_001)))
    assert uids(await page(folder, Uids(((3, 3),)))) == [3]
    assert folder.windows == [(96_001, MAX_UID), (64_001, 96_000), (1, 64_000)]


async def test_a_sparse_folder_is_one_window() -> None:
    folder = Folder({7, 4_000_000_000})
    assert uids(await page(folder, All())) == [4_000_000_000, 7]
    assert len(folder.windows) == 1


async def test_a_server_that_tells_only_the_newest_hits_is_asked_on() -> None:
    folder = Folder(set(range(1, 3_001)), partial=True)
    found = await page(folder, And((EVEN, HasAttachment())), limit=490)
    assert uids(found) == list(range(3_000, 0, -6))[:490]
    assert len(folder.windows) > 1


async def test_an_empty_folder_is_not_asked() -> None:
    folder = Folder(set())
    assert await page(folder, ANA) == Page((), None, None)
    assert not folder.asked


# -- conditions that no server knows


async def test_what_has_no_key_is_found_by_looking_at_the_rows() -> None:
    folder = Folder(thousand())
    found = await page(folder, And((ANA, HasAttachment())))
    assert (uids(found), found.incomplete) == ([990, 960, 930, 900, 870], None)
    assert folder.asked[0] == ANA


async def test_a_look_that_was_cut_says_so() -> None:
    folder = Folder(set(range(1, 8_001)))
    found = await page(folder, And((HasAttachment(), Not(HasAttachment()))))
    assert (uids(found), found.last_uid) == ([], None)
    assert found.incomplete == "only the newest 5,000 messages were looked at"
    assert 5_000 <= folder.fetched < 5_500


# -- servers that cannot


def no_text(query: Query) -> bool:
    return "text" not in repr(query)


async def test_a_server_that_does_not_understand_text_is_asked_for_the_rest() -> None:
    folder = Folder(thousand(), understands=no_text)
    found = await page(folder, And((EVEN, ANA)))
    assert (uids(found), found.incomplete) == ([1_000, 990, 980, 970, 960], None)
    assert folder.asked == [And((EVEN, ANA)), EVEN]


async def test_one_that_understands_nothing_is_asked_for_nothing() -> None:
    folder = Folder(thousand(), lambda query: query == All(), RefusedFault("bad", None, unknown=True))
    found = await page(folder, Or((And((EVEN, ANA)), Uids(((1, 1),)))), limit=500)
    assert uids(found) == [*range(1_000, 0, -10), 1]
    assert folder.asked[-1] == All()


async def test_a_refusal_for_another_reason_is_no_answer() -> None:
    folder = Folder(thousand(), no_text, RefusedFault("later", "UNAVAILABLE"))
    with pytest.raises(RefusedFault):
        await page(folder, ANA)


async def test_a_server_that_refuses_even_all_is_not_asked_for_ever() -> None:
    folder = Folder(thousand(), lambda _: False)
    with pytest.raises(RefusedFault):
        await page(folder, And((EVEN, ANA)))
    assert len(folder.asked) == 3


async def test_text_is_then_looked_for_in_the_messages_as_few_as_fill_the_page() -> None:
    folder = Folder(thousand(), understands=no_text)
    found = await page(folder, And((EVEN, NEEDLE)))
    assert (uids(found), found.incomplete) == ([994, 980, 966, 952, 938], None)
    assert folder.read <= 48


async def test_a_negated_text_is_looked_for_as_well() -> None:
    folder = Folder(thousand(), understands=no_text)
    assert uids(await page(folder, Not(NEEDLE))) == [1_000, 999, 998, 997, 996]


async def test_reading_messages_has_a_bound_and_says_so() -> None:
    folder = Folder(thousand(), understands=no_text)
    found = await page(folder, And((NEEDLE, ANA, HasAttachment())), limit=50, most_read=100)
    assert uids(found) == [840, 630, 420, 210]
    assert found.incomplete is None
    found = await page(folder, And((NEEDLE, EVEN)), limit=50, most_read=100)
    assert uids(found) == list(range(994, 800, -14))
    assert "only the text of 100 messages" in (found.incomplete or "")
    assert found.last_uid is None


# -- Gmail


async def test_where_words_are_found_the_answer_says_that_parts_of_words_may_be_missing() -> None:
    folder = Folder(thousand(), capabilities=frozenset({"X-GM-EXT-1"}))
    found = await page(folder, And((ANA, EVEN)))
    assert "whole words" in (found.incomplete or "")
    assert uids(found) == [1_000, 990, 980, 970, 960]
    assert (await page(folder, EVEN)).incomplete is None


async def test_what_it_finds_beyond_the_words_asked_for_is_not_shown() -> None:
    folder = Folder(thousand(), capabilities=frozenset({"X-GM-EXT-1"}))
    assert uids(await page(folder, Header("from", "anabel"))) == []


async def test_a_negated_text_is_not_asked_there_and_so_nothing_is_missing() -> None:
    folder = Folder(thousand(), capabilities=frozenset({"X-GM-EXT-1"}))
    found = await page(folder, Not(ANA))
    assert (uids(found), found.incomplete) == ([999, 998, 997, 996, 995], None)


# -- orders


async def test_oldest_goes_upwards() -> None:
    folder = Folder(thousand())
    first = await page(folder, ANA, sort="oldest")
    assert (uids(first), first.last_uid) == ([10, 20, 30, 40, 50], 50)
    assert uids(await page(folder, ANA, sort="oldest", after=Position(50, 17))) == [60, 70, 80, 90, 100]


async def test_without_a_server_that_sorts_the_rows_are_sorted_here() -> None:
    folder = Folder(thousand())
    first = await page(folder, Uids(((1, 10),)), sort="subject", limit=3)
    assert uids(first) == [10, 5, 6]
    key = Position(6, 17, "1")
    assert uids(await page(folder, Uids(((1, 10),)), sort="subject", limit=3, after=key)) == [1, 7, 2]
    assert uids(await page(folder, Uids(((1, 10),)), sort="-subject", limit=3)) == [9, 4, 8]


async def test_a_row_that_has_gone_still_marks_its_place() -> None:
    order = [uid for rest in range(5) for uid in range(10, 0, -1) if uid % 5 == rest]
    folder = Folder(set(range(1, 11)) - {6}, order=[uid for uid in order if uid != 6])
    following = await page(folder, All(), sort="subject", limit=3, after=Position(6, 17, "1"))
    assert uids(following) == [1, 7, 2]


async def test_sorting_here_has_a_bound_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.mailbox.searching._MOST_SORTED", 50)
    found = await page(Folder(thousand()), All(), sort="size")
    assert "only the newest 50 messages were sorted" in (found.incomplete or "")


async def test_a_server_that_refuses_to_sort_text_sorts_what_it_understands() -> None:
    folder = Folder(thousand(), understands=no_text, order=sorted(thousand()))
    assert uids(await page(folder, And((EVEN, ANA)), sort="size")) == [10, 20, 30, 40, 50]


async def test_what_fits_nothing_costs_nothing() -> None:
    folder = Folder(thousand())
    assert await page(folder, Not(All())) == Page((), None, None)
    assert folder.asked == [NONE]
    assert folder.fetched == 0


async def test_days_are_settled_here() -> None:
    folder = Folder(thousand())
    assert uids(await page(folder, Since(datetime(2026, 3, 1, tzinfo=UTC)), limit=1)) == [1_000]
    assert uids(await page(folder, Since(datetime(2026, 3, 1, 0, 0, 1, tzinfo=UTC)), limit=1)) == []
