"""A page of a folder: candidates in batches, rows, show, match, page, for every caller."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from postroom.mail.model import Fetched, Shown
from postroom.mail.query.sorting import Order
from postroom.mailbox.reading import OpenFolder

_GROWTH = 8
"""A window that held too little is followed by one so many times as wide: a sparse folder costs few commands."""
MOST_LOOKED_AT = 5_000
"""Messages looked at for one page of a mailbox that is seen whole; past them the page says that it is not complete."""
_LARGEST_BATCH = 200
"""Rows of one command, if the page itself does not need more."""

Show = Callable[[OpenFolder, Sequence[Fetched]], Awaitable[Sequence[Shown | None]]]
"""Of each row what the caller may see of it, or None."""
Found: TypeAlias = tuple[int, Shown]
"""A row of the answer, with its UID."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some messages in the list's order, of `named` that the server named: it may not give all of them."""

    rows: list[Fetched]
    named: int


Sift = Callable[[Batch], AsyncIterator[Found]]
"""Of a batch, in its order, what the caller may see and asked for."""


@dataclass(frozen=True, slots=True)
class Page:
    """`last_uid` is the UID of the last row if more rows follow, else None; `incomplete` says why rows may miss."""

    rows: tuple[Shown, ...]
    last_uid: int | None
    incomplete: str | None
    cut: bool = False
    """There are messages that were not looked at."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A page for a caller: what it sees, how to go on, and why something may be missing."""

    folder: str
    rows: tuple[Shown, ...]
    next_cursor: str | None
    incomplete: str | None
    name: bytes
    """Of what list this is a page: a cursor is good for no other."""
    order: Order | None = None
    """None of a list in the order of UIDs."""


async def read_page(
    folder: OpenFolder, *, below: int | None, limit: int, show: Show, most: int | None = MOST_LOOKED_AT
) -> Page:
    """The newest `limit` rows with a UID under `below` that the caller may see, `most` as in `fill_page`."""

    async def sift(batch: Batch) -> AsyncIterator[Found]:
        for fetched, shown in zip(batch.rows, await show(folder, batch.rows), strict=True):
            if shown is not None:
                yield fetched.uid, shown

    return await fill_page(_candidates(folder, below, limit + 1), limit, sift, most=most)


async def newest_seen(folder: OpenFolder, most: int | None, show: Show) -> tuple[list[Fetched], bool]:
    """The newest messages that the caller may see, at most so many if there is a bound, and whether these are all."""
    seen: list[Fetched] = []
    async for batch in _candidates(folder, None, _LARGEST_BATCH):
        told = await show(folder, batch.rows)
        seen += [row for row, shown in zip(batch.rows, told, strict=True) if shown is not None]
        if most is not None and len(seen) > most:
            return seen[:most], False
    return seen, True


async def fill_page(
    batches: AsyncIterator[Batch], limit: int, sift: Sift, order: str = "newest", *, most: int | None = MOST_LOOKED_AT
) -> Page:
    """The first `limit` rows that `sift` lets through; `order` tells which messages come first.

    `most` messages are looked at. Who does not see all of them must not learn of a bound, which hidden ones would move:
    then it is None.
    """
    kept: list[Found] = []
    looked_at = 0
    incomplete = None
    async for batch in batches:
        if most is not None and looked_at >= most:
            incomplete = f"only the {order} {most:,} messages were looked at"
            break
        looked_at += batch.named
        async for found in sift(batch):
            kept.append(found)
            if len(kept) > limit:
                break
        if len(kept) > limit:
            break
    page = [shown for _, shown in kept[:limit]]
    unread = next((shown.incomplete for shown in page if shown.incomplete), None)
    last_uid = kept[limit - 1][0] if len(kept) > limit else None
    return Page(tuple(page), last_uid, unread or incomplete, incomplete is not None)


async def _candidates(folder: OpenFolder, below: int | None, need: int) -> AsyncIterator[Batch]:
    """Messages newest first. The first window is fetched blindly; wider ones are searched before."""
    top = (await folder.top()) if below is None else below - 1
    low, width = max(1, top - need + 1), need
    if below is None and top:
        exists = folder.exists
        newest = await folder.newest(low)
        yield Batch(newest, len(newest))
        if len(newest) >= max(exists, folder.exists):
            return
        top, width = low - 1, width * _GROWTH
    while top > 0:
        low = max(1, top - width + 1)
        async for batch in fetched(folder, reversed(await folder.uids(low, top)), need):
            yield batch
        top, width = low - 1, width * _GROWTH


async def fetched(folder: OpenFolder, uids: Iterable[int], need: int) -> AsyncIterator[Batch]:
    """The rows of these UIDs in their order, with enough for a page of `need` at first."""
    for uids_of_batch in _batches(iter(uids), need):
        rows = {row.uid: row for row in await folder.rows(uids_of_batch)}
        yield Batch([rows[uid] for uid in uids_of_batch if uid in rows], len(uids_of_batch))


def _batches(uids: Iterator[int], first: int) -> Iterator[list[int]]:
    """Ever larger ones: where few of many messages may be seen, that costs few commands."""
    size = first
    while batch := list(islice(uids, size)):
        yield batch
        size = min(size * 2, max(first, _LARGEST_BATCH))
