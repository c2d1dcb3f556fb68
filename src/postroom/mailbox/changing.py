"""A folder open for changes: every change wants a stamp for each message, and tells what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence, Set

from postroom.imap import changes
from postroom.imap.changes import Sign, batches
from postroom.imap.commands import Items
from postroom.mail.model import Act, Admitted
from postroom.mailbox.cache import face_of
from postroom.mailbox.folders import Folder
from postroom.mailbox.moving import Moved, erase_messages, move_messages
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.session import Marks

Store = Callable[[list[int]], Awaitable[Mapping[int, Items]]]


class ChangingFolder(OpenFolder):
    """Made by `Account.changing`. A stamp is good for its act, in its folder and numbering alone."""

    @property
    def read_only(self) -> bool:
        """The server lets nobody change anything here."""
        return self._selected.read_only

    @property
    def raw(self) -> bytes:
        """The folder's name as the server spells it."""
        return self._folder.raw

    @property
    def is_gmail(self) -> bool:
        """Whether the server has Gmail's labels."""
        return self._is_gmail

    @property
    def kept_keywords(self) -> tuple[str, ...]:
        """Keywords that the server names as kept."""
        permanent = self._selected.permanent_flags or ()
        return tuple(flag.decode("ascii", "replace") for flag in permanent if not flag.startswith(b"\\"))

    def keeps(self, flag: str) -> bool:
        """Whether the server says that it keeps this flag or keyword, or says nothing (RFC 9051 7.1)."""
        permanent = self._selected.permanent_flags
        if permanent is None or (b"\\*" in permanent and not flag.startswith("\\")):
            return True
        return flag.lower().encode() in {one.lower() for one in permanent}

    async def flag(self, admitted: Sequence[Admitted], sign: Sign, flags: Collection[str]) -> dict[int, Marks]:
        """Set or clear flags of the system; the marks of now of those messages that exist."""
        return await self._flag(self._uids(admitted, Act.FLAG), sign, flags)

    async def label(self, admitted: Sequence[Admitted], sign: Sign, keywords: Collection[str]) -> dict[int, Marks]:
        """Give or take keywords; the marks of now of those messages that exist."""
        return await self._flag(self._uids(admitted, Act.LABEL), sign, keywords)

    async def label_at_gmail(self, admitted: Sequence[Admitted], sign: Sign, labels: Sequence[str]) -> dict[int, Marks]:
        """Give or take labels of Gmail; the marks of now of those messages that exist."""
        uids = self._uids(admitted, Act.LABEL)
        return await self._stored(
            uids,
            lambda part: changes.uid_store_labels(self._connection, part, sign, labels),
            lambda _: False,
        )

    async def move(self, admitted: Sequence[Admitted], destination: Folder) -> Moved:
        """Move to another folder, so that each message is in at least one of the two at any time."""
        there = await self.marks(uids := self._uids(admitted, Act.MOVE))
        return await move_messages(self._connection, uids, self.marks, there.keys(), destination.raw)

    async def erase(self, admitted: Sequence[Admitted]) -> Moved:
        """Erase these messages and no others, if the server `can_erase`."""
        there = await self.marks(uids := self._uids(admitted, Act.ERASE))
        return await erase_messages(self._connection, uids, there.keys())

    async def strangers(self, uids: Collection[int]) -> set[int]:
        """Of these, those that need not be what was told under these UIDs; none where UIDs stay with their messages."""
        if self.uids_stay:
            return set()
        met = {uid: self._cache.met(self.name, uid) for uid in uids}
        strangers = {row.uid for row in await self._read_rows(set(uids)) if face_of(row) != met[row.uid]}
        self._cache.forget(self.name, strangers)
        return strangers

    async def mark_deleted(self, admitted: Sequence[Admitted]) -> dict[int, Marks]:
        """Set \\Deleted, for whoever erases next; the marks of now of those messages that exist."""
        return await self._flag(self._uids(admitted, Act.ERASE), "+", ["\\Deleted"])

    @property
    def can_erase(self) -> bool:
        """Whether the server can erase single messages (UIDPLUS, RFC 4315)."""
        return "UIDPLUS" in self.capabilities

    def _uids(self, admitted: Sequence[Admitted], act: Act) -> set[int]:
        for one in admitted:
            if (one.act, one.folder, one.uid_validity) != (act, self.name, self.uid_validity):
                raise ValueError("this leave is for something else")
        return {one.uid for one in admitted}

    async def _flag(self, uids: Set[int], sign: Sign, flags: Collection[str]) -> dict[int, Marks]:
        return await self._stored(
            uids,
            lambda part: changes.uid_store(self._connection, part, sign, flags),
            lambda marks: has_flags(marks, flags) if sign == "+" else not has_any(marks, flags),
        )

    async def _stored(self, uids: Set[int], store: Store, fits: Callable[[Marks], bool]) -> dict[int, Marks]:
        """After this change. Of what it changes not at all a server may tell nothing; then what is known counts."""
        found: dict[int, Marks] = {}
        for part in batches(uids):
            news = self._connection.news
            told = await store(part)
            marks = {uid: self._marks(items) for uid, items in told.items() if items.flags is not None}
            self._learn_changed(news, marks)
            found |= marks
        for uid in uids - found.keys():
            known = self._session.marks(self._connection.news, uid)
            if known is not None and fits(known):
                found[uid] = known
        untold = set(uids - found.keys())
        return found | (await self._asked(untold) if untold else {})

    async def _asked(self, uids: set[int]) -> dict[int, Marks]:
        """Marks as the server tells them now, whatever was known."""
        news = self._connection.news
        answer = await self._fetch(uids, "UID FLAGS", "UID FLAGS", lambda items: items.flags is not None)
        marks = {uid: self._marks(items) for uid, items in answer.messages.items()}
        self._learn_changed(news, marks)
        return marks

    def _learn_changed(self, news: int, marks: Mapping[int, Marks]) -> None:
        if news == self._connection.news and self._tells_news:
            self._session.learn_changed(news, marks)


def has_flags(marks: Marks, flags: Collection[str]) -> bool:
    """Whether all of these are set; letters' case tells no flags apart (RFC 9051 2.3.2)."""
    return {flag.lower() for flag in flags} <= {flag.lower() for flag in marks.flags}


def has_any(marks: Marks, flags: Collection[str]) -> bool:
    """Whether one of these is set."""
    return not {flag.lower() for flag in flags}.isdisjoint(flag.lower() for flag in marks.flags)
