"""The sight of a bound caller: what its policy lets exist, under sealed ids, and nothing that tells of the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from postroom.base.errors import Code, GatewayError, invalid
from postroom.base.levels import Access
from postroom.imap.statistics import Counts
from postroom.mail.model import Act, Admitted, Fetched, Part, Shown
from postroom.mail.query.pushdown import but_for_text, mentions, not_at_all
from postroom.mail.query.tree import Query, Uids
from postroom.mailbox.account import Account
from postroom.mailbox.boundfiles import BoundFiles
from postroom.mailbox.cache import MessageCache
from postroom.mailbox.cache import Read as ReadMessage
from postroom.mailbox.changing import ChangingFolder
from postroom.mailbox.conversations import Grouping
from postroom.mailbox.discretion import denied, discreet, no_such_folder
from postroom.mailbox.filesight import FileSight
from postroom.mailbox.folders import Folder, folder_name
from postroom.mailbox.heads import KnownHeads
from postroom.mailbox.listing import Show, newest_seen
from postroom.mailbox.messages import fetch_messages, kept_messages, with_projections
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.records import Records, senders_of
from postroom.mailbox.sealeduids import FilePlace, SealedFiles, SealedNaming
from postroom.mailbox.searching import Means, Read
from postroom.mailbox.sight import Change
from postroom.mailbox.statistics import Statistics
from postroom.mailbox.uids import Naming
from postroom.mailbox.visibleconversations import VisibleConversations
from postroom.policy.content import Setting
from postroom.policy.effective import Policy
from postroom.policy.evidence import Known, NobodyAsked
from postroom.policy.folderrules import canonical
from postroom.policy.heads import is_fit
from postroom.policy.personkeys import RESULT_FIELDS
from postroom.policy.visibility import (
    Gaze,
    JudgedHead,
    admit_shown,
    as_row,
    is_from_outside,
    may_be_seen,
    show_message,
    show_row,
)
from postroom.store.own import Own

_GMAIL = "X-GM-EXT-1"
LARGEST_DRAFT = 50_000_000
"""Octets of a draft that can be changed or sent."""
_TEXTS_AT_ONCE = 20
"""Messages that are read together where a row alone does not tell whether it may be seen."""

_NONE, _OWN, _ALL = range(3)
_DRAFTS = {"none": _NONE, "own": _OWN, "all": _ALL}
"""Which drafts a caller may touch."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What is kept for one policy and one mailbox."""

    messages: MessageCache
    heads: KnownHeads


@dataclass(frozen=True, slots=True)
class Eyes:
    """Whose sight it is: its policy, its ids, and what it is told of besides."""

    policy: Policy
    setting: Setting
    naming: SealedNaming
    files: SealedFiles
    own: Own
    now: Callable[[], datetime]
    is_relay: bool
    is_drafting: bool = False
    """It is about its own drafts."""


class Bound:
    """Made anew for each call. Every way that says no says the same, whatever there is behind it."""

    most_looked_at: int | None = None

    def __init__(self, account: Account, eyes: Eyes, memory: Memory) -> None:
        self.account = account
        self.naming: Naming = eyes.naming
        self.policy = eyes.policy
        self.seal: tuple[bytes, ...] = (eyes.policy.hash,)
        self.conversations: Grouping = VisibleConversations(self, eyes.policy.limits.body_search_messages)
        self.most_changes: int | None = eyes.policy.actions.max_messages_per_day
        self._fields = eyes.policy.messages.fields | RESULT_FIELDS
        """Whether somebody wrote, and did so himself, may be asked of any message."""
        self._labels_are_folders = False
        self._own = eyes.own
        self._records: Known | None = None if eyes.policy.messages.asks_records else NobodyAsked()
        self._eyes = eyes
        self._files = BoundFiles(eyes.policy, eyes.setting, eyes.files, eyes.now)
        self.files: FileSight = self._files
        self._memory = memory
        self._now = eyes.now

    # -- folders

    async def folders(self) -> tuple[Folder, ...]:
        return tuple(one for one in await self.account.folders() if self.access(one) >= Access.VISIBLE)

    def access(self, folder: Folder) -> Access:
        """What the policy lets the caller do with it; one whose name may not be shown does not exist."""
        if not is_fit(folder.name, self.policy.content):
            return Access.HIDDEN
        if self._eyes.is_drafting and folder.special_use == "drafts":
            return Access.WRITABLE
        return self.policy.folders.access(canonical(folder.name, folder.delimiter), folder.special_use)

    async def folder(self, name: str, argument: str = "folder") -> Folder:
        known = await self._named(name, Access.WRITABLE, argument)
        if not self.policy.actions.may_move_to(canonical(known.name, known.delimiter), known.special_use):
            raise denied("moving messages to that folder", argument=argument)
        return known

    async def statistics(self) -> Statistics:
        """Messages are counted one by one, as they are seen; how full the mailbox is would tell of the others."""
        counts = [(one, await self._counts(one)) for one in await self.folders() if one.selectable]
        return Statistics(tuple(counts), None)

    async def _counts(self, folder: Folder) -> Counts:
        if not self.policy.folders.counts or self.access(folder) < Access.READABLE:
            return Counts()
        async with self.open(folder.name) as opened:
            seen, _ = await newest_seen(opened, None, self.rows)
        return Counts(len(seen), sum("\\Seen" not in row.flags for row in seen))

    async def trash(self) -> Folder | None:
        """Whoever may delete finds a Trash, whether there was one or not."""
        return await self.account.made_special("trash", "Trash")

    async def special(self, use: str) -> Folder | None:
        known = await self.account.special(use)
        return known if known is not None and self.access(known) >= Access.READABLE else None

    @asynccontextmanager
    async def open(self, folder: str, *, proved: bool = True, since: float = math.inf) -> AsyncIterator[OpenFolder]:
        known = await self._named(folder, Access.READABLE)
        async with self.account.open(known.name, proved=proved, since=since, fields=self._fields) as opened:
            self._labels_are_folders = _GMAIL in opened.capabilities
            yield opened

    @asynccontextmanager
    async def changing(self, folder: str, *, proved: bool = True) -> AsyncIterator[ChangingFolder]:
        known = await self._named(folder, Access.WRITABLE)
        async with self.account.changing(known.name, proved=proved, fields=self._fields) as opened:
            self._labels_are_folders = _GMAIL in opened.capabilities
            yield opened

    async def _named(self, name: str, least: Access, argument: str = "folder") -> Folder:
        """The folder of that name. What is hidden is missing, and both cost a look at the list of folders."""
        try:
            known = await self.account.folder(folder_name(name), argument)
        except GatewayError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            known = None
        access = self.access(known) if known is not None else Access.HIDDEN
        if known is None or access is Access.HIDDEN:
            raise no_such_folder([one.name for one in await self.folders()], argument)
        if access < least:
            what = "reading that folder" if least is Access.READABLE else "changing anything in that folder"
            raise denied(what, argument=argument)
        return known

    # -- messages

    def means(self, opened: OpenFolder, show: Show, read: Read, monotonic: Callable[[], float]) -> Means:
        """Nothing of what a search is for reaches the server but flags, UIDs and days: what it finds would tell."""
        return Means(
            show,
            read,
            [but_for_text, not_at_all],
            monotonic,
            None,
            self.policy.limits.body_search_messages,
            None,
            server_sorts=False,
            must_end=True,
        )

    async def rows(self, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]:
        gaze = await self._gaze()
        if not self.policy.messages.needs_body:
            return [show_row(row, self._name(row), self._memory.heads.judged(row.head), gaze) for row in rows]
        wanted = [row.uid for row in rows if may_be_seen(row, self._memory.heads.judged(row.head), gaze)]
        read: dict[int, Shown] = {}
        for start in range(0, len(wanted), _TEXTS_AT_ONCE):
            read |= await self.ready(await self.fetch(opened, wanted[start : start + _TEXTS_AT_ONCE]))
        return [as_row(read[row.uid]) if row.uid in read else None for row in rows]

    async def kept(self, opened: OpenFolder, uids: Collection[int]) -> dict[int, ReadMessage | None]:
        return await kept_messages(opened, uids, self._memory.messages)

    async def fetch(self, opened: OpenFolder, uids: Collection[int]) -> dict[int, ReadMessage]:
        return await fetch_messages(opened, uids, self._memory.messages)

    async def ready(self, found: Mapping[int, ReadMessage]) -> dict[int, Shown]:
        read = await with_projections(found, self._memory.messages, self._eyes.setting, self.policy.content)
        gaze = await self._gaze()
        shown = {uid: self._message(one, gaze) for uid, one in read.items()}
        return {uid: one for uid, one in shown.items() if one is not None}

    def _message(self, one: ReadMessage, gaze: Gaze) -> Shown | None:
        fetched = one.fetched
        judged = self._memory.heads.judged(fetched.head)

        def named(part: Part) -> str:
            return self._files.named(FilePlace(fetched.folder, fetched.uid, fetched.uid_validity, part.section))

        return show_message(fetched, self._name(fetched), judged, one.projected, gaze, named)

    async def admit(self, opened: ChangingFolder, uids: Collection[int], act: Act) -> dict[int, Admitted]:
        if act is Act.ERASE and not self._eyes.is_drafting:
            before = self._now() - self.policy.actions.erase_after
            uids = await self._own.trashed(opened.uid_validity, uids, before)
        rows = await opened.rows(uids)
        told = await self.rows(opened, rows)
        leave = {row.uid: admit_shown(row, shown, act) for row, shown in zip(rows, told, strict=True)}
        return {uid: one for uid, one in leave.items() if one is not None}

    async def note_trashed(self, uid_validity: int, uids: Collection[int]) -> None:
        await self._own.note_trashed(uid_validity, uids, self._now())

    def told(self, error: GatewayError) -> GatewayError:
        return discreet(error)

    def check(self, change: Change) -> None:
        actions = self.policy.actions
        for flag in change.flags:
            if flag not in (actions.relay_flags if self._eyes.is_relay else actions.flags):
                raise denied(f"changing the flag {flag}", argument="flags")
        for label in change.labels:
            if not actions.may_label(label):
                raise denied("setting or taking that label", argument="add")
        if change.trashes and not actions.trash:
            raise denied("deleting messages")
        if change.erases and not actions.erase:
            raise denied("erasing messages")
        if change.creates is not None and not actions.may_create(change.creates):
            raise denied("creating that folder", argument="name")

    def check_query(self, query: Query) -> None:
        if mentions(query, lambda condition: isinstance(condition, Uids)):
            raise invalid("search", "UID is no key here: uids are opaque. Search by what messages say, or by date")

    def check_source(self) -> None:
        if not self.policy.content.raw:
            raise denied("a message's own source")

    async def note_read(self, shown: Iterable[Shown]) -> None:
        gaze, heads = await self._gaze(), self._memory.heads
        if any(is_from_outside(one, heads.judged(one.written), gaze) for one in shown):
            await self._own.note_untrusted_read(self._now())

    def drafting(self) -> Bound:
        return Bound(self.account, replace(self._eyes, is_drafting=True), self._memory)

    async def own_drafts(self) -> Mapping[str, str] | None:
        drafts = min((_DRAFTS[one.drafts] for one in self.policy.outbound if one.said("drafts")), default=_OWN)
        if drafts is _ALL:
            return None
        return await self._own.drafts() if drafts is _OWN else {}

    async def drafts(self, opened: OpenFolder, rows: Sequence[Fetched]) -> list[Shown | None]:
        told, own = await self.rows(opened, rows), await self.own_drafts()
        if own is None:
            return told
        return [
            shown if shown is not None and await _is_own(opened, row, own) else None
            for row, shown in zip(rows, told, strict=True)
        ]

    async def note_draft(self, message_id: str, octets: bytes) -> None:
        await self._own.note_draft(message_id, sha256(octets).hexdigest(), self._now())

    async def has_drafted(self, message_id: str, octets: bytes) -> bool:
        return (await self._own.drafts()).get(message_id) == sha256(octets).hexdigest()

    def judged(self, row: Fetched) -> JudgedHead:
        """What there is to know of its head."""
        return self._memory.heads.judged(row.head)

    def now(self) -> datetime:
        return self._now()

    async def _gaze(self) -> Gaze:
        if self._records is None:
            self._records = NobodyAsked()  # for what is looked at to learn it: unknown counts against a message
            self._records = Records(await self._own.sent_ids(), await self._own.written_to(), await self._senders())
        return Gaze(self.policy, self._eyes.setting, self._now(), self._records, self._labels_are_folders)

    async def _senders(self) -> Counter[str]:
        """Who wrote, in mail that may be seen whatever the records say."""
        seen: Counter[str] = Counter()
        for name in await self.incoming():
            seen += senders_of(await self.seen(name))
        return seen

    async def incoming(self) -> list[str]:
        """Folders that the caller may read and that others write to, INBOX first."""
        readable = [one for one in await self.folders() if one.selectable and self.access(one) >= Access.READABLE]
        return [one.name for one in readable if one.special_use not in ("sent", "drafts")]

    async def seen(self, folder: str) -> list[Fetched]:
        """The newest messages of a folder that the caller may see."""
        async with self.open(folder) as opened:
            rows, _ = await newest_seen(opened, self.policy.limits.body_search_messages, self.rows)
        return rows

    def _name(self, fetched: Fetched) -> str:
        return self.naming.write(fetched.folder, fetched.uid, fetched.uid_validity)


async def _is_own(opened: OpenFolder, row: Fetched, own: Mapping[str, str]) -> bool:
    """Whether a draft is as the caller saved it: what others have changed since is theirs."""
    digest = own.get(row.head.message_id or "")
    if digest is None:
        return False
    octets = await opened.octets(row.uid, "", 0, LARGEST_DRAFT)
    return octets is not None and sha256(octets).hexdigest() == digest
