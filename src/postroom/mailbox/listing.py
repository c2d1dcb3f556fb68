"""A page of a folder, newest first: candidates by UID windows, rows, show, match, page, for every caller."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from postroom.mail.model import Fetched, Shown
from postroom.mailbox.reading import OpenFolder

_GROWTH = 8
"""A window that held too little is followed by one so many times as wide: a sparse folder costs few commands."""
_MOST_LOOKED_AT = 5_000
"""Messages looked at for one page; past them the page says that it is not complete."""

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
        shown = show(fetched)
        if shown is not None and (match is None or match(shown)):
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


async def _candidates(folder: OpenFolder, below: int | None, need: int) -> AsyncIterator[Fetched]:
    """Messages newest first. The first window is fetched blindly; wider ones are searched before."""
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
        for start in range(0, len(uids), need):
            for fetched in await folder.rows(uids[start : start + need]):
                yield fetched
        top, width = low - 1, width * _GROWTH
