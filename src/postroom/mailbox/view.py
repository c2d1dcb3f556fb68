"""One mailbox as one caller may see it: the only road from an operation to mail."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from postroom.base.caller import Caller
from postroom.base.clock import Clock
from postroom.base.errors import GatewayError
from postroom.base.levels import Access
from postroom.base.seal import Seal
from postroom.config import MailboxConfig
from postroom.mail.model import Part, Released, Shown
from postroom.mail.query.sorting import Order
from postroom.mail.query.tree import All, Query
from postroom.mailbox.cursors import Cursors, Position, bad_cursor
from postroom.mailbox.discretion import denied
from postroom.mailbox.downloads import Download, open_download
from postroom.mailbox.downloads import Place as FilePlace
from postroom.mailbox.drafts import Drafts
from postroom.mailbox.filetexts import FileText
from postroom.mailbox.folders import Folder, folder_name
from postroom.mailbox.following import Followed, Place, follow
from postroom.mailbox.listing import Listing, Page, Show, read_page
from postroom.mailbox.organizing import Organizer
from postroom.mailbox.outcomes import Results
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.searching import NEWEST, OLDEST, Search, Sought
from postroom.mailbox.sight import Change, Sight
from postroom.mailbox.statistics import Statistics
from postroom.mailbox.threads import Thread, ThreadList, Threads
from postroom.mailbox.uids import Asked, asked_for, changed, check_uids, gone, numberings
from postroom.policy.attachments import WHOLE_MESSAGE, release

_LIST = b"list_messages"
_THREADS = b"list_threads"
_DRAFTS = b"list_drafts"


class MailboxView:
    """Made anew for each call by the directory; decides anew at each use."""

    def __init__(self, caller: Caller, settings: MailboxConfig, sight: Sight, seal: Seal, clock: Clock) -> None:
        self.name = settings.name
        self._caller = caller
        self._settings = settings
        self._sight = sight
        self._account = sight.account
        self._seal = seal
        self._clock = clock

    @property
    def seal(self) -> tuple[bytes, ...]:
        """What cursors are bound to beside the list that they are of."""
        return self._sight.seal

    @property
    def most_changes(self) -> int | None:
        """Messages that may be changed in a day; None for no bound."""
        return self._sight.most_changes

    @property
    def default_folder(self) -> str:
        return self._settings.imap.default_folder if self._settings.imap else "INBOX"

    async def folders(self) -> tuple[Folder, ...]:
        return await self._sight.folders()

    async def seen_folders(self) -> list[tuple[Folder, Access]]:
        """Those that the caller may know of, INBOX first, and what it may do with each."""
        return [(folder, self._sight.access(folder)) for folder in await self._sight.folders()]

    async def statistics(self) -> Statistics:
        """How many messages the caller sees in each folder, and the quota where it may know it."""
        return await self._sight.statistics()

    @property
    def identities(self) -> tuple[str, ...]:
        """Addresses that mail can be sent from, `*@domain` for all of a domain; its own address if none is named."""
        return self._settings.sender_identities

    async def page(self, folder: str | None, *, limit: int, cursor: str | None) -> Listing:
        """The newest rows of a folder, or those after `cursor`. Raises a `GatewayError`."""
        return await self._page(folder or self.default_folder, _LIST, self._sight.rows, limit, cursor)

    async def draft_page(self, folder: str, *, limit: int, cursor: str | None) -> Listing:
        """The newest drafts that the caller may touch, or those after `cursor`. Raises a `GatewayError`."""
        return await self._page(folder, _DRAFTS, self._sight.drafts, limit, cursor)

    async def _page(self, folder: str, name: bytes, show: Show, limit: int, cursor: str | None) -> Listing:
        async with self._sight.open(folder) as opened:
            position = await self._position(opened, cursor, name)
            below = position.uid if position else None
            page = await read_page(opened, below=below, limit=limit, show=show, most=self._sight.most_looked_at)
            return self._listing(opened, page, name)

    async def search(
        self,
        folder: str | None,
        query: Query,
        *,
        sort: str | None = None,
        order: Order | None = None,
        limit: int,
        cursor: str | None,
    ) -> Listing:
        """The first rows that fit, or those after `cursor`; `sort` is a name of `SORTS`. Raises a `GatewayError`.

        `order` is one that has no name.
        """
        self._sight.check_query(query)
        by = f"{order.criteria} {order.descending}" if order else sort or NEWEST
        name = b"search" + hashlib.sha256(repr((query, by)).encode()).digest()
        async with self._sight.open(folder or self.default_folder) as opened:
            sought = Sought(query, by, await self._position(opened, cursor, name), limit, order)
            page = await self._search(opened, sought, self._sight.rows).page()
            return self._listing(opened, page, name, sought.order)

    async def follow(self, folder: str | None, place: Place | None, query: Query, *, limit: int) -> Followed:
        """What came after `place` and fits, oldest first; without one, where now ends. Raises a `GatewayError`."""
        self._sight.check_query(query)
        async with self._sight.open(folder or self.default_folder) as opened:

            async def seek(after: int, most: int, show: Show) -> tuple[Page, int | None]:
                sought = Sought(query, OLDEST, Position(after, opened.uid_validity, ""), most)
                search = self._search(opened, sought, show)
                return await search.page(), search.unread

            return await follow(
                opened,
                place,
                limit=limit,
                show=self._sight.rows,
                seek=None if isinstance(query, All) else seek,
                most=self._sight.most_looked_at,
            )

    def check_uids(self, uids: Sequence[str], *, whole: bool, several: bool = True) -> None:
        """Raises `validation_error` for what can be no id; `whole` as for `mailbox.uids.check_uids`."""
        check_uids(self._sight.naming, uids, whole=whole, several=several)

    async def mark_seen(self, folder: str | None, uids: Sequence[str], *, seen: bool) -> Results:
        """Set or clear \\Seen. As every change it raises for what concerns all messages, and tells the rest of each."""
        self._sight.check(Change(flags=("seen",)))
        name, asked = self._asked(folder, uids, whole=False)
        return await self._organizer.mark_seen(name, asked, seen=seen)

    async def flag(self, folder: str, uid: str, flags: Sequence[str], *, add: bool) -> None:
        """Set or clear flags, of seen, flagged and answered, on one message. Raises a `GatewayError`."""
        self._sight.check(Change(flags=tuple(flags)))
        name, asked = self._asked(folder, [uid], whole=False, several=False)
        (result,) = (
            await self._organizer.flag(name, asked, [f"\\{flag.title()}" for flag in flags], wanted=add)
        ).results
        if result.error is not None:
            raise result.error

    async def mark_answered(self, folder: str | None, uid: str) -> Results:
        """Set \\Answered."""
        self._sight.check(Change(flags=("answered",)))
        name, asked = self._asked(folder, [uid], whole=True)
        return await self._organizer.mark_answered(name, asked)

    async def label(
        self, folder: str | None, uids: Sequence[str], add: Sequence[str], remove: Sequence[str]
    ) -> Results:
        """Give and take labels, which are keywords, or Gmail's."""
        self._sight.check(Change(labels=(*add, *remove)))
        name, asked = self._asked(folder, uids, whole=False)
        return await self._organizer.label(name, asked, add, remove)

    async def move(self, folder: str | None, uids: Sequence[str], destination: str) -> Results:
        """Move to an existing folder."""
        name, asked = self._asked(folder, uids, whole=True)
        return await self._organizer.move(name, asked, destination)

    async def delete(self, folder: str | None, uids: Sequence[str], *, permanent: bool) -> Results:
        """Move to Trash; or erase for good, in Trash alone."""
        self._sight.check(Change(trashes=not permanent, erases=permanent))
        name, asked = self._asked(folder, uids, whole=True)
        return await self._organizer.delete(name, asked, permanent=permanent)

    @property
    def _organizer(self) -> Organizer:
        return Organizer(self._sight)

    async def thread(self, folder: str | None, uid: str) -> Thread:
        """The conversation of a message, with its texts. Raises a `GatewayError`."""
        thread = await self._threads.around(folder or self.default_folder, uid)
        await self._sight.note_read(thread.messages)
        return thread

    async def conversation(self, folder: str | None, uid: str) -> tuple[Shown, ...]:
        """The messages of a conversation without their texts, oldest first. Raises a `GatewayError`."""
        return await self._threads.members(folder or self.default_folder, uid)

    async def threads(self, folder: str | None, *, limit: int, cursor: str | None) -> ThreadList:
        """Recent conversations, or those after `cursor`, without texts. Raises a `GatewayError`."""
        return await self._threads.recent(folder or self.default_folder, limit=limit, cursor=cursor)

    def cursor_after_thread(self, page: ThreadList, thread: Thread) -> str:
        """A cursor that goes on behind this conversation of a page: for an answer that had to be cut shorter."""
        return self._threads.cursor_after(page, thread)

    @property
    def drafting(self) -> MailboxView:
        """The same mailbox for whoever writes drafts there."""
        return MailboxView(self._caller, self._settings, self._sight.drafting(), self._seal, self._clock)

    @property
    def drafts(self) -> Drafts:
        """What lies in Drafts."""
        view = self.drafting
        return Drafts(view._sight, view._organizer, view._own_source)

    async def create_folder(self, name: str) -> tuple[str, bool]:
        """The new folder's name as lists tell it, and whether it was made now. Raises a `GatewayError`."""
        self._sight.check(Change(creates=name))
        return await self._account.create_folder(name)

    def reaches(self, place: Place, row: Shown) -> bool:
        """Whether a row was there when the place was taken."""
        uid, uid_validity = self._sight.naming.read(row.folder, row.uid)
        return uid_validity == place.uid_validity and uid <= place.uid

    def cursor_after(self, listing: Listing, row: Shown) -> str:
        """A cursor that goes on behind this row of a page: for an answer that had to be cut shorter."""
        uid, uid_validity = self._sight.naming.read(listing.folder, row.uid)
        position = Position(uid, uid_validity or 0, listing.order.key(row) if listing.order else "")
        return self._cursors(listing.folder, listing.name).write(position, self._clock.now())

    async def messages(self, folder: str | None, uids: Sequence[str]) -> Mapping[str, Shown | GatewayError]:
        """Each uid's message with its content, or why there is none. Raises for what concerns all of them."""
        name, asked = self._asked(folder, uids, whole=False, several=len(uids) > 1)
        async with self._sight.open(name) as opened:
            for validity in numberings(asked):
                await opened.has_numbering(validity)
            current = {
                uid: number for uid, (number, validity) in asked.items() if validity in (None, opened.uid_validity)
            }
            found = await self._sight.fetch(opened, set(current.values()))
        read = await self._sight.ready(found)
        answers: dict[str, Shown | GatewayError] = {}
        for uid in uids:
            shown = read.get(current[uid]) if uid in current else None
            answers[uid] = shown or self._sight.told(gone(uid) if uid in current else changed(uid))
        await self._sight.note_read(one for one in answers.values() if isinstance(one, Shown))
        return answers

    async def attachment(self, folder: str | None, uid: str, attachment_id: str) -> tuple[Shown, Download]:
        """A file of a message, open for reading. Raises a `GatewayError`."""
        shown = await self.message(folder, uid)
        return shown, await self._download(shown, self._sight.files.released(shown, attachment_id))

    async def source(self, folder: str | None, uid: str) -> tuple[Shown, Download]:
        """A message's own octets, open for reading. Raises a `GatewayError`."""
        self._sight.check_source()
        shown, source = await self._own_source(folder, uid)
        if shown.withheld:
            raise denied("the source of a message that is withheld")
        return shown, source

    async def _own_source(self, folder: str | None, uid: str) -> tuple[Shown, Download]:
        """The same of what the caller may have written itself."""
        shown = await self.message(folder, uid)
        return shown, await self._open(shown, release(WHOLE_MESSAGE))

    async def file(self, attachment_id: str) -> Download:
        """A file by the sealed id that a bound caller has of it, open for reading. Raises `not_found`."""
        place = self._sight.files.file_place(attachment_id)
        uid = self._sight.naming.write(place.folder, place.uid, place.uid_validity)
        _, download = await self.attachment(place.folder, uid, attachment_id)
        return download

    async def text_of(self, shown: Shown, part: Part) -> FileText | None:
        """The text in a file, where that is what the policy lets the caller have of it. Raises a `GatewayError`."""
        released = self._sight.files.readable(shown, part)
        if released is None:
            return None
        download = await self._open(shown, released)
        if not download.sniffed.startswith(("text/", "message/")):
            return None
        return await self._sight.files.text_of(download)

    def offers(self, part: Part) -> bool:
        """Whether a file of a message that was shown may be had, as far as its description tells."""
        return self._sight.files.offers(part)

    async def _download(self, shown: Shown, released: Released) -> Download:
        return await self._sight.files.checked(released, await self._open(shown, released))

    async def message(self, folder: str | None, uid: str) -> Shown:
        """One message with its content. Raises `not_found`."""
        answer = (await self.messages(folder, [uid]))[uid]
        if isinstance(answer, GatewayError):
            raise answer
        return answer

    @property
    def _threads(self) -> Threads:
        def cursors(folder: str) -> Cursors:
            return self._cursors(folder, _THREADS)

        return Threads(self._sight, cursors, self._clock)

    def _search(self, opened: OpenFolder, sought: Sought, show: Show) -> Search:
        async def read(uids: Sequence[int]) -> Mapping[int, Shown]:
            found = await self._sight.ready(await self._sight.fetch(opened, set(uids)))
            await self._sight.note_read(found.values())  # whoever asks word by word reads too, found or not
            return found

        return Search(opened, sought, self._sight.means(opened, show, read, self._clock.monotonic))

    def _asked(
        self, folder: str | None, uids: Sequence[str], *, whole: bool, several: bool = True
    ) -> tuple[str, Asked]:
        name = folder_name(folder or self.default_folder)
        return name, asked_for(self._sight.naming, name, uids, whole=whole, several=several)

    async def _open(self, shown: Shown, released: Released) -> Download:
        number, uid_validity = self._sight.naming.read(shown.folder, shown.uid)
        by_section = released == release(WHOLE_MESSAGE) or (shown.reading is not None and shown.reading.by_section)
        place = FilePlace(shown.uid, shown.folder, number, uid_validity or 0)
        return await open_download(self._account, place, released, by_section=by_section)

    def _listing(self, opened: OpenFolder, page: Page, name: bytes, order: Order | None = None) -> Listing:
        listing = Listing(opened.name, page.rows, None, page.incomplete, name, order)
        if page.last_uid is None:
            return listing
        return replace(listing, next_cursor=self.cursor_after(listing, page.rows[-1]))

    async def _position(self, opened: OpenFolder, cursor: str | None, name: bytes) -> Position | None:
        if cursor is None:
            return None
        position = self._cursors(opened.name, name).read(cursor, self._clock.now())
        if not await opened.has_numbering(position.uid_validity):
            raise bad_cursor("is stale: the server has renumbered this folder")
        return position

    def _cursors(self, folder: str, name: bytes) -> Cursors:
        bound = (self.name.encode(), folder.encode(), name, self._settings.fingerprint, *self._sight.seal)
        return Cursors(self._seal, self._caller.identity, bound)
