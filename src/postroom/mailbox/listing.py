"""A page of a folder, newest first: candidates by UID windows, rows, show, match, page, for every caller."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass

from postroom.mail.model import Fetched, Shown
from postroom.mailbox.reading import OpenFolder

_GROWTH = 8
"""A window that held too little is followed by one so many times as wide: a sparse folder costs few commands."""
_MOST_LOOKED_AT = 5_000
"""Messages looked at for one page; past them the page says that it is not complete."""

_LARGEST_BATCH = 200
"""Rows of one command, if the page itself does not need more."""

Show = Callable[[Fetched], Shown | None]
Match = Callable[[Shown], bool]


@dataclass(frozen=True, slots=True)
class Page:
    """`last_uid` is the UID of the last row if more rows follow, else None; `incomplete` says why rows may miss."""

    rows: tuple[Shown, ...]
    last_uid: int | None
    incomplete: str | None


async def read_page(
    folder: OpenFolder, *, below: int | None, limit: int, show: Show, match: Match | None = None
) -> Page:
    """The newest `limit` rows with a UID under `below` that the caller may see and asked for."""
    kept: list[tuple[int, Shown]] = []
    looked_at = 0
    incomplete = None
    async for fetched in _candidates(folder, below, limit + 1):
        looked_at += 1
        shown = show(fetched) if fetched is not None else None
        if fetched is not None and shown is not None and (match is None or match(shown)):
            kept.append((fetched.uid, shown))
            incomplete = incomplete or shown.incomplete
        if len(kept) > limit:
            break
        if looked_at >= _MOST_LOOKED_AT:
            incomplete = f"only the newest {looked_at:,} messages were looked at"
            break
    more = len(kept) > limit
    page = kept[:limit]
    return Page(tuple(shown for _, shown in page), page[-1][0] if more and page else None, incomplete)


async def _candidates(folder: OpenFolder, below: int | None, need: int) -> AsyncIterator[Fetched | None]:
    """Messages newest first, and None for each that the server named but does not give.

    The first window is fetched blindly; wider ones are searched before.
    """
    top = (await folder.top()) if below is None else below - 1
    low, width, found = max(1, top - need + 1), need, 0
    if below is None and top:
        for fetched in await folder.newest(low):
            found += 1
            yield fetched
        if found >= folder.exists:
            return
        top, width = low - 1, width * _GROWTH
    while top > 0:
        low = max(1, top - width + 1)
        uids = (await folder.uids(low, top))[::-1]
        for batch in _batches(uids, need):
            rows = await folder.rows(batch)
            for fetched in rows:
                yield fetched
            for _ in range(len(batch) - len(rows)):
                yield None
        top, width = low - 1, width * _GROWTH


def _batches(uids: Sequence[int], first: int) -> Iterator[Sequence[int]]:
    """Ever larger ones: where few of many messages may be seen, that costs few commands."""
    start, size = 0, first
    while start < len(uids):
        yield uids[start : start + size]
        start, size = start + size, min(size * 2, max(first, _LARGEST_BATCH))
