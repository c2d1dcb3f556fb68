"""Pages of a folder: every message once, newest first, in few commands, whatever the gaps between UIDs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.model import Fetched, Head, Shown
from postroom.mailbox.listing import read_page
from postroom.policy.visibility import show

pytestmark = pytest.mark.anyio

EMPTY = Head((), None, (), (), (), (), None, None, None, ())


@dataclass
class Folder:
    """An open folder in memory that counts what it is asked."""

    held: set[int]
    commands: list[str] = field(default_factory=list)

    @property
    def exists(self) -> int:
        return len(self.held)

    async def top(self) -> int:
        return max(self.held, default=0)

    async def uids(self, low: int, high: int) -> list[int]:
        self.commands.append(f"SEARCH {low}:{high}")
        return sorted(uid for uid in self.held if low <= uid <= high)

    async def newest(self, low: int) -> list[Fetched]:
        self.commands.append(f"FETCH {low}:*")
        return await self._rows(uid for uid in self.held if uid >= low)

    async def rows(self, uids: Iterable[int]) -> list[Fetched]:
        self.commands.append("FETCH")
        return await self._rows(uid for uid in uids if uid in self.held)

    async def _rows(self, uids: Iterable[int]) -> list[Fetched]:
        return [Fetched("INBOX", uid, 17, EMPTY, None, None, frozenset(), None) for uid in sorted(uids, reverse=True)]


def shown(fetched: Fetched) -> Shown | None:
    return show(fetched, str(fetched.uid))


async def rows(folder: Any, told: Sequence[Fetched]) -> list[Shown | None]:
    return [shown(row) for row in told]


async def walk(folder: Folder, limit: int) -> list[int]:
    """All pages to the end."""
    seen: list[int] = []
    below = None
    while True:
        page = await read_page(folder, below=below, limit=limit, show=rows)  # type: ignore[arg-type]
        seen.extend(int(row.uid) for row in page.rows)
        assert len(page.rows) <= limit
        if page.last_uid is None:
            return seen
        below = page.last_uid


@given(st.sets(st.integers(1, 400), max_size=60), st.integers(1, 25))
async def test_walking_the_pages_meets_every_message_once_newest_first(uids: set[int], limit: int) -> None:
    assert await walk(Folder(uids), limit) == sorted(uids, reverse=True)


@given(st.sets(st.integers(1, 2**32 - 1), min_size=1, max_size=5))
async def test_a_sparse_folder_costs_few_commands(uids: set[int]) -> None:
    folder = Folder(uids)
    await read_page(folder, below=None, limit=20, show=rows)  # type: ignore[arg-type]
    assert len(folder.commands) <= 30


async def test_a_dense_folder_costs_one_command() -> None:
    folder = Folder(set(range(1, 5001)))
    page = await read_page(folder, below=None, limit=20, show=rows)  # type: ignore[arg-type]
    assert folder.commands == ["FETCH 4980:*"]
    assert [int(row.uid) for row in page.rows] == list(range(5000, 4980, -1))


async def test_an_empty_folder_costs_none() -> None:
    folder = Folder(set())
    assert (await read_page(folder, below=None, limit=20, show=rows)).rows == ()  # type: ignore[arg-type]
    assert folder.commands == []


async def test_mail_that_arrives_between_the_pages_repeats_and_hides_nothing() -> None:
    folder = Folder(set(range(1, 11)))
    first = await read_page(folder, below=None, limit=4, show=rows)  # type: ignore[arg-type]
    folder.held |= {11, 12}
    second = await read_page(folder, below=first.last_uid, limit=100, show=rows)  # type: ignore[arg-type]
    assert [int(row.uid) for row in (*first.rows, *second.rows)] == list(range(10, 0, -1))


async def test_a_next_page_is_promised_only_if_it_holds_a_row_that_may_be_seen() -> None:
    folder = Folder(set(range(1, 41)))

    async def hides_the_old(_: Any, told: Sequence[Fetched]) -> list[Shown | None]:
        return [shown(fetched) if fetched.uid > 20 else None for fetched in told]

    page = await read_page(folder, below=None, limit=20, show=hides_the_old)  # type: ignore[arg-type]
    assert len(page.rows) == 20
    assert page.last_uid is None


async def hides_all(_: Any, told: Sequence[Fetched]) -> list[Shown | None]:
    return [None for _ in told]


async def test_a_page_that_looked_at_too_much_says_that_it_is_not_complete() -> None:
    page = await read_page(Folder(set(range(1, 200))), below=None, limit=5, show=hides_all, most=50)  # type: ignore[arg-type]
    assert page.rows == ()
    assert page.incomplete == "only the newest 50 messages were looked at"


async def test_who_must_not_notice_hidden_mail_hears_of_no_bound() -> None:
    folder = Folder(set(range(1, 20_000)))

    async def shows_the_oldest(_: Any, told: Sequence[Fetched]) -> list[Shown | None]:
        return [shown(fetched) if fetched.uid == 1 else None for fetched in told]

    page = await read_page(folder, below=None, limit=5, show=shows_the_oldest, most=None)  # type: ignore[arg-type]
    assert ([row.uid for row in page.rows], page.incomplete, page.last_uid) == (["1"], None, None)
