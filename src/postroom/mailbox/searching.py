"""A page of what a search finds: the server narrows, what it cannot be trusted with is matched here, boundedly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from postroom.base.errors import Code, GatewayError
from postroom.base.kleene import Truth
from postroom.imap.faults import RefusedFault
from postroom.imap.search import Hits
from postroom.imap.wire import MAX_UID
from postroom.mail.model import Fetched, Shown
from postroom.mail.query.matching import matches
from postroom.mail.query.pushdown import Trusting, split
from postroom.mail.query.sorting import ORDERS, Order
from postroom.mail.query.tree import All, Query
from postroom.mailbox.cursors import Position
from postroom.mailbox.listing import Batch, Found, Page, Show, fetched, fill_page
from postroom.mailbox.reading import OpenFolder

NEWEST, OLDEST = "newest", "oldest"
_WINDOW = 4_000
"""Messages, about, that the server searches first, from the newest; it seldom has to look at the whole folder."""
_GROWTH = 8
_MOST_SORTED = 5_000
"""Messages that are sorted here, where the server cannot do it."""
MOST_READ = 2_000
"""Messages whose text is looked at for one page, where the server cannot do it."""
MOST_OCTETS = 64 * 1024 * 1024
"""Octets of such messages."""
_LONGEST_READING = 20.0
"""Seconds after which no more of them are begun."""
_READ_AT_ONCE = 16
_REFUSALS = {None, "BADCHARSET", "CANNOT"}
"""Codes of a NO by which a server says that it does not understand the search; others say that it cannot now."""

Read: TypeAlias = Callable[[Sequence[int]], Awaitable[Mapping[int, Shown]]]
"""Messages with their content, those that the caller may see."""


@dataclass(frozen=True, slots=True)
class Means:
    """What one search may take, and how the caller sees what it finds."""

    show: Show
    read: Read
    levels: Sequence[Trusting]
    """What a server is asked, and what instead if it does not understand that."""
    monotonic: Callable[[], float]
    looked_at: int | None
    """As in `fill_page`."""
    read_messages: int
    """Messages whose text is looked at."""
    read_octets: int | None
    """Octets of such messages; None where nobody may learn how large they are."""
    server_sorts: bool = True
    must_end: bool = False
    """A search that takes too long is an error, and never a page that is cut short."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What is searched for, in which order, after which row of it, and how many rows are wanted."""

    query: Query
    sort: str
    """`newest` or `oldest`, or a name of `ORDERS`; any other where `by` tells the order."""
    after: Position | None
    limit: int
    by: Order | None = None

    @property
    def order(self) -> Order | None:
        """None for the orders by UID."""
        return self.by or ORDERS.get(self.sort)


class Search:
    """One search in one open folder.

    A server is believed about the keys of RFC 9051; INTERNALDATE is asked by wider days and settled here to the
    second. One that refuses the program (BAD, or NO [BADCHARSET], as Exchange does) is asked for flags, UIDs and
    days alone, and one that refuses this for nothing. Windows at the top have no end: UIDNEXT may be too low. Gmail
    finds words where RFC 9051 wants substrings: what it finds is matched again, and the page says that it may miss
    parts of words; a negated text is not asked at all.
    """

    def __init__(self, folder: OpenFolder, sought: Sought, means: Means) -> None:
        self._folder = folder
        self._sought = sought
        self._means = means
        self._levels = list(means.levels)
        self._split = split(sought.query, self._levels[0])
        self._begun = means.monotonic()
        self._messages, self._octets, self._spent = means.read_messages, means.read_octets or 0, False
        self._reason: str | None = None
        self.unread: int | None = None
        """The first message, in the order of the page, whose text there were no means left to look at."""

    async def page(self) -> Page:
        """The rows of the sought page. Raises an `ImapFault`."""
        sought = self._sought
        order = sought.order
        if order is None:
            batches = self._oldest() if sought.sort == OLDEST else self._newest()
        else:
            uids = await self._sorted_uids(order)
            if uids is None:
                return await self._sorted_here(order)
            batches = fetched(self._folder, uids, sought.limit + 1)
        first = sought.sort if order is None else "first"
        page = await fill_page(self._affordable(batches), sought.limit, self._sift, first, most=self._means.looked_at)
        return self._reasoned(page)

    async def _affordable(self, batches: AsyncIterator[Batch]) -> AsyncIterator[Batch]:
        """Batches until the means for reading messages are spent."""
        async for batch in batches:
            if self._spent:
                return
            yield batch

    def _reasoned(self, page: Page) -> Page:
        hint = "this server finds whole words: messages with a word inside a longer one may be missing"
        reason = page.incomplete or self._reason or (hint if self._split.hinted else None)
        return Page(page.rows, page.last_uid, reason, page.cut or self._spent)

    # -- candidates

    async def _ask(self, low: int, high: int, newest: int | None = None) -> Hits:
        """What the server says, asked for less each time that it does not understand."""
        while True:
            try:
                hits = await self._folder.search(self._split.asked, low, high, newest=newest)
                # More than there are messages: then UIDNEXT is the better witness.
                return hits if len(hits) <= self._folder.exists else hits.up_to(await self._folder.top())
            except RefusedFault as fault:
                self._ask_less(fault)

    def _ask_less(self, fault: RefusedFault) -> None:
        """Raises the refusal if nothing is left that need not be asked."""
        before = self._split
        while self._split.asked == before.asked:
            if len(self._levels) == 1 or not (fault.unknown or fault.code in _REFUSALS):
                raise fault
            self._levels.pop(0)
            self._split = split(self._sought.query, self._levels[0])

    async def _newest(self) -> AsyncIterator[Batch]:
        after, need = self._sought.after, self._sought.limit + 1
        top = after.uid - 1 if after else await self._folder.top()
        high = top if after else MAX_UID
        width = max(_WINDOW, _WINDOW * top // max(1, self._folder.exists))
        while top > 0:
            low = max(1, top - width + 1)
            hits = await self._ask(low, high, max(need, _WINDOW // _GROWTH))
            async for batch in fetched(self._folder, reversed(hits), need):
                yield batch
            if hits.cut:
                top = hits.ranges[0][0] - 1
            else:
                top, width = low - 1, width * _GROWTH
            high = top

    async def _oldest(self) -> AsyncIterator[Batch]:
        after = self._sought.after
        hits = await self._ask(after.uid + 1 if after else 1, MAX_UID)
        async for batch in fetched(self._folder, iter(hits), self._sought.limit + 1):
            yield batch

    # -- orders by a key

    async def _sorted_uids(self, order: Order) -> Sequence[int] | None:
        """UIDs as the server sorts them, from where the page begins; None if it cannot."""
        while self._means.server_sorts:
            try:
                uids = await self._folder.sort(self._split.asked, order.criteria)
                break
            except RefusedFault as fault:
                if fault.code != "BADCHARSET":
                    return None
                self._ask_less(fault)
        else:
            return None
        if uids is None or not await self._are_sorted(uids, order):
            return None
        return uids[await self._place(uids, order) :]

    async def _are_sorted(self, uids: Sequence[int], order: Order) -> bool:
        """Whether UIDs that ascend all the same are those of rows that do: some servers pay no heed to the key."""
        if list(uids) != sorted(uids):
            return True
        rows = await self._folder.rows(uids[: self._sought.limit + 1])
        told = zip(rows, await self._means.show(self._folder, rows), strict=True)
        keyed = [(order.key(shown), row.uid) for row, shown in reversed(list(told)) if shown]
        return all(order.follows(*later, *earlier) for earlier, later in pairwise(keyed) if later[0] != earlier[0])

    async def _place(self, uids: Sequence[int], order: Order) -> int:
        """Where the page begins; a row that has gone since is looked for by its key."""
        after = self._sought.after
        if after is None:
            return 0
        if after.uid in uids:
            return uids.index(after.uid) + 1
        low, high = 0, len(uids)
        while low < high:
            middle = (low + high) // 2
            rows = await self._folder.rows([uids[middle]])
            shown = next(iter(await self._means.show(self._folder, rows)), None)
            if shown and order.follows(order.key(shown), uids[middle], after.key, after.uid):
                high = middle
            else:
                low = middle + 1
        return low

    async def _sorted_here(self, order: Order) -> Page:
        """The newest that fit, sorted by their rows."""
        hits = await self._ask(1, MAX_UID)
        most = f"only the newest {_MOST_SORTED:,} messages were sorted; narrow the search, as by date"
        kept: list[Found] = []
        looked_at, bound = 0, self._means.looked_at is None
        async for batch in self._affordable(fetched(self._folder, reversed(hits), self._sought.limit + 1)):
            if (len(kept) if bound else looked_at) >= _MOST_SORTED + bound:
                self._reason = most
                break
            looked_at += batch.named
            kept += [found async for found in self._sift(batch)]
        if bound and len(kept) > _MOST_SORTED:
            kept = kept[:_MOST_SORTED]  # how many came with the last batch would tell of hidden ones
            self._reason = self._reason or most
        return self._reasoned(await asyncio.to_thread(self._cut, kept, order))

    def _cut(self, kept: list[Found], order: Order) -> Page:
        after, limit = self._sought.after, self._sought.limit
        keyed = [(order.key(shown), uid, shown) for uid, shown in kept]
        if after:
            keyed = [one for one in keyed if order.follows(one[0], one[1], after.key, after.uid)]
        keyed.sort(key=lambda one: one[1], reverse=True)
        keyed.sort(key=lambda one: one[0], reverse=order.descending)
        page = keyed[:limit]
        unread = next((shown.incomplete for _, _, shown in page if shown.incomplete), None)
        return Page(tuple(shown for _, _, shown in page), page[-1][1] if len(keyed) > limit else None, unread)

    # -- what is matched here

    async def _sift(self, batch: Batch) -> AsyncIterator[Found]:
        told = await self._means.show(self._folder, batch.rows)
        judged = await asyncio.to_thread(self._judged, batch.rows, told)
        for start in range(0, len(judged), _READ_AT_ONCE):
            some = judged[start : start + _READ_AT_ONCE]
            unsettled = [row for row, _, verdict in some if verdict is None]
            settled = await self._settled(unsettled) if unsettled else {}
            for row, shown, verdict in some:
                if self._means.must_end and row.uid == self.unread:
                    return  # what a row alone would tell of those behind it, hidden ones would move in and out
                if verdict or settled.get(row.uid):
                    yield row.uid, shown

    def _judged(self, rows: Sequence[Fetched], told: Sequence[Shown | None]) -> list[tuple[Fetched, Shown, Truth]]:
        """Rows that the caller may see, but for those that do not fit, by what a row tells."""
        left = self._split.left
        judged: list[tuple[Fetched, Shown, Truth]] = []
        for row, shown in zip(rows, told, strict=True):
            verdict: Truth = shown is not None and (isinstance(left, All) or matches(left, shown, row.uid))
            if shown is not None and verdict is not False:
                judged.append((row, shown, verdict))
        return judged

    async def _settled(self, rows: Sequence[Fetched]) -> dict[int, bool]:
        """Whether messages fit whose rows do not tell it, by reading them; what stays unknown makes a gap."""
        affordable = [row.uid for row in rows if self._afford(row)]
        messages = await self._means.read(affordable) if affordable else {}
        verdicts = await asyncio.to_thread(self._read_verdicts, messages)
        if len(affordable) < len(rows):
            self.unread = self.unread or rows[len(affordable)].uid
            looked_at = self._means.read_messages - self._messages
            self._reason = f"only the text of {looked_at:,} messages was looked at; narrow the search, as by date"
        elif None in verdicts.values():
            self._reason = self._reason or "of some messages it could not be told whether they fit"
        return {uid: bool(verdict) for uid, verdict in verdicts.items()}

    def _read_verdicts(self, messages: Mapping[int, Shown]) -> dict[int, Truth]:
        return {uid: matches(self._split.left, shown, uid) for uid, shown in messages.items()}

    def _afford(self, row: Fetched) -> bool:
        """Takes a message to be read from what is left of the means."""
        late = self._means.monotonic() - self._begun > _LONGEST_READING
        if late and self._means.must_end:
            raise _too_slow()
        by_octets = self._means.read_octets is not None
        self._spent = self._spent or late or self._messages < 1 or (by_octets and self._octets < 1)
        if not self._spent:
            self._messages -= 1
            self._octets -= row.size or 0
        return not self._spent


def _too_slow() -> GatewayError:
    message = "This search takes too long. Narrow it, as by since and before, or by flags."
    return GatewayError(Code.UNAVAILABLE, message, reason="deadline")
