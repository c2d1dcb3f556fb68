"""Parts of the product as they would be if they leaked: what mutants put in the place of what they patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from postroom.base.errors import Code, GatewayError
from postroom.events.arrivals import Arrivals
from postroom.events.watched import due, glimpse_of
from postroom.imap.statistics import Counts
from postroom.mail.model import Fetched, Shown
from postroom.mail.query.pushdown import but_for_text, not_at_all, wholly
from postroom.mailbox import messages, view
from postroom.mailbox.bound import Bound
from postroom.mailbox.cursors import Position
from postroom.mailbox.drafts import Drafts
from postroom.mailbox.folders import Folder
from postroom.mailbox.listing import Page, newest_seen, read_page
from postroom.mailbox.notices import RECEIVED, of_message
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.sights import Sights
from postroom.policy import visibility
from postroom.policy.content import read

# -- errors


async def told_by_account(self: Bound, name: str, least: Any, argument: str = "folder") -> Folder:
    return await self.account.folder(name, argument)


async def forbidding(self: Bound, found: Mapping[int, Any]) -> dict[int, Shown]:
    told = await _ready(self, found)
    if found.keys() - told.keys():
        raise GatewayError(Code.POLICY_DENIED, "This message may not be read.")
    return told


_ready = Bound.ready


async def cursor_first(self: view.MailboxView, folder: str | None, **asked: Any) -> Any:
    names = {one.name for one in await self._account.folders()}
    if asked.get("cursor") and folder in names:
        self._cursors(folder, b"list_messages").read(asked["cursor"], self._clock.now())
    return await _page(self, folder, **asked)


_page = view.MailboxView.page

# -- counts, pages and cursors


async def all_folders(self: Bound) -> tuple[Folder, ...]:
    return await self.account.folders()


async def total(self: Bound, folder: Folder) -> Counts:
    counted = await _counts(self, folder)
    if counted.messages is None:
        return counted
    async with self.open(folder.name) as opened:
        return replace(counted, messages=opened.exists)


async def unseen(self: Bound, folder: Folder) -> Counts:
    counted = await _counts(self, folder)
    if counted.messages is None:
        return counted
    async with self.open(folder.name) as opened:
        rows, _ = await newest_seen(opened, None, _everything)
    return replace(counted, unseen=sum("\\Seen" not in row.flags for row in rows))


_counts = Bound._counts


async def _everything(opened: OpenFolder, rows: Sequence[Fetched]) -> list[Any]:
    return list(rows)


async def filled_before(folder: OpenFolder, *, below: int | None, limit: int, show: Any, most: int | None) -> Page:
    whole, _ = await newest_seen(folder, None, _everything)
    rows = [row for row in whole if below is None or row.uid < below]
    told = [shown for shown in await show(folder, rows[:limit]) if shown is not None]
    more = len(rows) > limit and bool(told)
    return Page(tuple(told), rows[limit - 1].uid if more else None, None)


async def cursor_to_hidden(folder: OpenFolder, *, below: int | None, limit: int, show: Any, most: int | None) -> Page:
    page = await read_page(folder, below=below, limit=limit, show=show, most=most)
    whole, _ = await newest_seen(folder, None, _everything)
    shown = [row.uid for row, one in zip(whole, await show(folder, whole), strict=True) if one in page.rows]
    return replace(page, last_uid=shown[-1]) if shown and whole[-1].uid < shown[-1] else page


async def ranked(folder: OpenFolder, *, below: int | None, limit: int, show: Any, most: int | None) -> Page:
    page = await read_page(folder, below=below, limit=limit, show=show, most=most)
    whole, _ = await newest_seen(folder, None, _everything)
    words = [row.head.subject or "" for row in whole]
    return replace(page, rows=tuple(sorted(page.rows, key=lambda one: -words.count(one.written.subject or ""))))


async def newest_of_all(folder: OpenFolder, show: Any) -> int:
    rows, _ = await newest_seen(folder, None, _everything)
    return max((row.uid for row in rows), default=0)


def etag(self: view.MailboxView, opened: OpenFolder, page: Page, name: bytes, order: Any = None) -> Any:
    listing = _listing(self, opened, page, name, order)
    if listing.next_cursor is None:
        return listing
    place = Position(page.last_uid or 0, opened.uid_validity, str(opened.exists))
    return replace(listing, next_cursor=self._cursors(listing.folder, name).write(place, self._clock.now()))


_listing = view.MailboxView._listing

# -- rows and messages


async def numbered(self: Bound, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]:
    told = await _rows(self, opened, rows)
    whole, _ = await newest_seen(opened, None, _everything)
    places = {row.uid: place for place, row in enumerate(reversed(whole), 1)}
    return [one and replace(one, uid=f"{places[row.uid]}") for row, one in zip(rows, told, strict=True)]


_rows = Bound.rows


def sized(fetched: Fetched, *rest: Any) -> Shown | None:
    shown = visibility.show_message(fetched, *rest)
    return shown and replace(shown, size=fetched.size)


def raw_means(self: Bound, opened: OpenFolder, show: Any, read_: Any, monotonic: Any) -> Any:
    return replace(_means(self, opened, show, read_, monotonic), levels=[wholly, but_for_text, not_at_all])


_means = Bound.means


def unredacted(content: Any, head: Any, setting: Any, rules: Any) -> Any:
    projected = _project(content, head, setting, rules)
    whole = read(content, head, setting)
    return replace(projected, reading=replace(projected.reading, reader=whole.reader, text=whole.text))


_project = messages.project


def all_files(reading: Any, policy: Any, named: Any) -> Any:
    return replace(reading, parts=tuple(replace(part, section=named(part)) for part in reading.attachments))


def unreduced(head: Any, withhold_subject: bool) -> Any:
    told = _reduced(head, withhold_subject)
    return replace(told, fields=tuple(one for one in head.fields if one.name.lower() in ("from", "to", "cc", "date")))


_reduced = visibility._reduced


async def any_source(self: view.MailboxView, folder: str | None, uid: str) -> Any:
    self._sight.check_source()
    return await self._own_source(folder, uid)


async def told_of_all(self: Arrivals, folder: str, uid_validity: int, uids: Sequence[int]) -> Any:
    """An event for each arrival, whoever may see it."""
    found = await _found(self, folder, uid_validity, uids)
    tellings = []
    for endpoint in self._watched.endpoints:
        glimpse = glimpse_of(endpoint, self._means.directory())
        for uid in uids if glimpse is not None else ():
            notice = of_message(RECEIVED, endpoint.mailbox, folder, glimpse.name(folder, uid, uid_validity))
            tellings.append(due(endpoint, notice, self._means, folder, (uid_validity, uid)))
    return replace(found, due=tellings)


_found = Arrivals._found


# -- what ties messages together, and evidence


async def seen_of_all(self: Bound, folder: str) -> list[Fetched]:
    async with self.open(folder) as opened:
        return (await newest_seen(opened, None, _everything))[0]


async def all_kin(opened: OpenFolder, most: int | None, show: Any) -> tuple[list[Fetched], bool]:
    return await newest_seen(opened, most, _everything)


async def filtered_after(self: view.MailboxView, folder: str, *, limit: int, cursor: str | None) -> Any:
    listing = await self._page(folder, b"list_drafts", self._sight.rows, limit, cursor)
    own = await self._sight.own_drafts() or {}
    return replace(listing, rows=tuple(row for row in listing.rows if row.threading.message_id in own))


async def any_draft(self: Drafts, shown: Shown, octets: bytes) -> None:
    return None


def one_memory(self: Sights, settings: Any, policy: Any) -> Any:
    for memory in self._memories._values.values():
        return memory
    return _memory(self, settings, policy)


_memory = Sights._memory
