"""What one caller may see of one account: folders, messages, and the ids they go by."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from postroom.base.errors import GatewayError
from postroom.base.levels import Access
from postroom.mail.model import Act, Admitted, Fetched, Named, Shown
from postroom.mail.query.pushdown import but_for_text, by_words, not_at_all, wholly
from postroom.mail.query.tree import Query
from postroom.mailbox.account import Account
from postroom.mailbox.cache import MessageCache
from postroom.mailbox.cache import Read as ReadMessage
from postroom.mailbox.changing import ChangingFolder
from postroom.mailbox.conversations import Grouping
from postroom.mailbox.filesight import FileSight, WholeFiles
from postroom.mailbox.folders import Folder
from postroom.mailbox.listing import MOST_LOOKED_AT, Show
from postroom.mailbox.messages import fetch_messages, kept_messages, with_readings
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.searching import MOST_OCTETS, MOST_READ, Means, Read
from postroom.mailbox.statistics import Statistics
from postroom.mailbox.uids import Naming, PlainNaming
from postroom.policy.content import Setting
from postroom.policy.visibility import admit, show

_BY_WORDS = "X-GM-EXT-1"
"""Gmail's, whose search finds words, not parts of them."""


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody wants to do to messages; flags without backslash, in lower case."""

    flags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    trashes: bool = False
    erases: bool = False
    creates: str | None = None
    """A folder of that name."""


class Sight(Protocol):
    """Made anew for each call; every method decides anew."""

    account: Account
    naming: Naming
    seal: tuple[bytes, ...]
    """What cursors are bound to beside the list that they are of."""
    conversations: Grouping
    files: FileSight
    most_changes: int | None
    """Messages that may be changed in a day; None for no bound."""
    most_looked_at: int | None
    """Messages that are looked at for one page; None where nobody may notice how many there are."""

    async def folders(self) -> tuple[Folder, ...]:
        """Those that the caller may know of, INBOX first."""
        ...

    def access(self, folder: Folder) -> Access:
        """What the caller may do with it."""
        ...

    async def statistics(self) -> Statistics:
        """Of the folders that the caller may know of."""
        ...

    async def folder(self, name: str, argument: str = "folder") -> Folder:
        """The folder of that name, for moving messages there. Raises `not_found`."""
        ...

    async def trash(self) -> Folder | None:
        """Where deleted messages go, whether it may be seen or not. Raises `policy_denied`."""
        ...

    async def special(self, use: str) -> Folder | None:
        """The folder of this special use, if the caller may read it."""
        ...

    def open(
        self, folder: str, *, proved: bool = True, since: float = math.inf
    ) -> AbstractAsyncContextManager[OpenFolder]:
        """As `Account.open`."""
        ...

    def changing(self, folder: str, *, proved: bool = True) -> AbstractAsyncContextManager[ChangingFolder]:
        """As `Account.changing`."""
        ...

    def means(self, opened: OpenFolder, show: Show, read: Read, monotonic: Callable[[], float]) -> Means:
        """What a search of the caller's may take."""
        ...

    async def rows(self, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]:
        """Each row as the caller may see it, or None when it may not exist for it."""
        ...

    async def kept(self, opened: OpenFolder, uids: Collection[int]) -> dict[int, ReadMessage | None]:
        """Messages with their content that were read before; None for one that is gone."""
        ...

    async def fetch(self, opened: OpenFolder, uids: Collection[int]) -> dict[int, ReadMessage]:
        """Those of these messages that exist, with their content, for `ready`."""
        ...

    async def ready(self, found: Mapping[int, ReadMessage]) -> dict[int, Shown]:
        """Those of them that the caller may see, with their reading; no connection is needed for that."""
        ...

    async def admit(self, opened: ChangingFolder, uids: Collection[int], act: Act) -> dict[int, Admitted]:
        """Leave to act on those of these messages that the caller may act on so."""
        ...

    async def note_trashed(self, uid_validity: int, uids: Collection[int]) -> None:
        """The caller has put these messages into Trash, where they have these UIDs."""
        ...

    def told(self, error: GatewayError) -> GatewayError:
        """An error as the caller may hear of it."""
        ...

    def check(self, change: Change) -> None:
        """Raises `policy_denied` for a change that the caller may make to no message."""
        ...

    def check_query(self, query: Query) -> None:
        """Raises `validation_error` for a search by what the caller cannot know."""
        ...

    def check_source(self) -> None:
        """Raises `policy_denied` for whoever may not have a message's own octets."""
        ...

    async def note_read(self, shown: Iterable[Shown]) -> None:
        """The caller is told what these messages say."""
        ...

    def drafting(self) -> Sight:
        """For its own drafts: their folder is open to whoever may write some."""
        ...

    async def own_drafts(self) -> Mapping[str, str] | None:
        """SHA-256 of the drafts that the caller may touch, by their Message-ID; None for all there are."""
        ...

    async def drafts(self, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]:
        """As `rows`, of drafts: those that the caller may touch, as they were when it saved them."""
        ...

    async def note_draft(self, message_id: str, octets: bytes) -> None:
        """The caller has saved a draft."""
        ...

    async def has_drafted(self, message_id: str, octets: bytes) -> bool:
        """Whether a draft is as the caller saved it."""
        ...


class Whole:
    """Of an unbound caller, whose mailboxes are whole."""

    most_looked_at: int | None = MOST_LOOKED_AT
    most_changes: int | None = None

    def __init__(self, account: Account, setting: Setting) -> None:
        self.account = account
        self.naming: Naming = PlainNaming()
        self.seal: tuple[bytes, ...] = ()
        self.conversations: Grouping = account.conversations
        self.files: FileSight = WholeFiles()
        self._setting = setting

    @property
    def _cache(self) -> MessageCache:
        return self.account.messages

    async def folders(self) -> tuple[Folder, ...]:
        return await self.account.folders()

    def access(self, folder: Folder) -> Access:
        return Access.WRITABLE

    async def folder(self, name: str, argument: str = "folder") -> Folder:
        return await self.account.folder(name, argument)

    async def statistics(self) -> Statistics:
        return await self.account.statistics()

    async def trash(self) -> Folder | None:
        return await self.account.special("trash")

    async def special(self, use: str) -> Folder | None:
        return await self.account.special(use)

    def open(
        self, folder: str, *, proved: bool = True, since: float = math.inf
    ) -> AbstractAsyncContextManager[OpenFolder]:
        return self.account.open(folder, proved=proved, since=since)

    def changing(self, folder: str, *, proved: bool = True) -> AbstractAsyncContextManager[ChangingFolder]:
        return self.account.changing(folder, proved=proved)

    def means(self, opened: OpenFolder, show: Show, read: Read, monotonic: Callable[[], float]) -> Means:
        fully = by_words if _BY_WORDS in opened.capabilities else wholly
        return Means(
            show, read, [fully, but_for_text, not_at_all], monotonic, self.most_looked_at, MOST_READ, MOST_OCTETS
        )

    async def rows(self, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]:
        return [show(row, self._name(row)) for row in rows]

    async def kept(self, opened: OpenFolder, uids: Collection[int]) -> dict[int, ReadMessage | None]:
        return await kept_messages(opened, uids, self._cache)

    async def fetch(self, opened: OpenFolder, uids: Collection[int]) -> dict[int, ReadMessage]:
        return await fetch_messages(opened, uids, self._cache)

    async def ready(self, found: Mapping[int, ReadMessage]) -> dict[int, Shown]:
        read = await with_readings(found, self._cache, self._setting)
        shown = {uid: show(one.fetched, self._name(one.fetched), one.reading) for uid, one in read.items()}
        return {uid: one for uid, one in shown.items() if one is not None}

    async def admit(self, opened: ChangingFolder, uids: Collection[int], act: Act) -> dict[int, Admitted]:
        admitted = {uid: admit(Named(opened.name, uid, opened.uid_validity), act) for uid in uids}
        return {uid: leave for uid, leave in admitted.items() if leave is not None}

    async def note_trashed(self, uid_validity: int, uids: Collection[int]) -> None:
        """Whoever may erase may erase all that lies there."""

    def told(self, error: GatewayError) -> GatewayError:
        return error

    def check(self, change: Change) -> None:
        """Everything may be done to what is seen whole."""

    def check_query(self, query: Query) -> None:
        """Anything may be asked."""

    def check_source(self) -> None:
        """Nothing is kept back."""

    async def note_read(self, shown: Iterable[Shown]) -> None:
        """Nothing follows from it."""

    def drafting(self) -> Sight:
        return self

    async def own_drafts(self) -> Mapping[str, str] | None:
        return None

    async def drafts(self, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]:
        return await self.rows(opened, rows)

    async def note_draft(self, message_id: str, octets: bytes) -> None:
        """Nobody asks whose it is."""

    async def has_drafted(self, message_id: str, octets: bytes) -> bool:
        return True

    def _name(self, fetched: Fetched) -> str:
        return self.naming.write(fetched.folder, fetched.uid, fetched.uid_validity)
