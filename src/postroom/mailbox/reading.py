"""Messages of one open folder, in stages: heads for lists, then text by section, never more than is needed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from postroom.imap import commands
from postroom.imap.commands import FetchAnswer, Items
from postroom.imap.connection import Connection
from postroom.imap.faults import LostFault
from postroom.imap.reply import Selected
from postroom.imap.search import Hits, uid_search, uid_sort, uids_between
from postroom.imap.wire import MAX_UID, Token
from postroom.mail.model import Content, Fetched, Head
from postroom.mail.parse import assemble, parse_head, split
from postroom.mail.query.tree import Query
from postroom.mail.threads import Kin, kin_of
from postroom.mailbox.cache import RowCache
from postroom.mailbox.fetching import Uids, fetch_whole
from postroom.mailbox.folders import Folder
from postroom.mailbox.labels import labels_of
from postroom.mailbox.parsing import (
    LITTLE,
    assembled,
    assembled_beginning,
    has_attachments,
    is_little,
    is_tree,
    worked,
)
from postroom.mailbox.sections import fetch_sections
from postroom.mailbox.session import Marks, Session, marked

_FIELDS = "FROM TO CC REPLY-TO SUBJECT DATE MESSAGE-ID IN-REPLY-TO REFERENCES CONTENT-TYPE"
_HEAD = 64 * 1024
"""Octets of header fields that are looked at for a row."""
_ROW_BARE = "UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[{}]<0.{}>"
_KIN = f"UID BODY.PEEK[HEADER.FIELDS (SUBJECT DATE MESSAGE-ID IN-REPLY-TO REFERENCES)]<0.{_HEAD}>"
WHOLE = 128 * 1024
"""Octets up to which a message is fetched whole in one command; larger ones go by section."""
_MESSAGE_BARE = f"UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.{WHOLE}>"
_MESSAGE = f"{_MESSAGE_BARE} BODYSTRUCTURE"
_ROWS_AT_ONCE = 64
"""Rows that are read in one command."""
BEGINNING = 2 * 1024 * 1024
"""Octets of a message that are looked at when its server cannot say where its parts lie."""
_TELLING = {"IDLE", "CONDSTORE", "QRESYNC", "NOTIFY"}
_UNREADABLE = "the server's answer about this message could not be read"
_NO_HEAD = parse_head(b"")
_FIELD_NAME = re.compile(r"[A-Za-z0-9-]{1,100}", re.ASCII)


class OpenFolder:
    """A folder on a connection that has it selected. UIDs only; sequence numbers are never trusted."""

    def __init__(self, connection: Connection, folder: Folder, cache: RowCache, session: Session) -> None:
        self._connection = connection
        self._cache = cache
        self._session = session
        self._folder = folder
        self.name = folder.name
        self._numbering = connection.selected.uid_validity if connection.selected else 0

    @property
    def _selected(self) -> Selected:
        selected = self._connection.selected
        if selected is None:
            raise LostFault("the server closed the folder")
        if selected.uid_validity != self._numbering:
            raise LostFault("the server numbered the folder anew meanwhile")
        return selected

    @property
    def uid_validity(self) -> int:
        return self._selected.uid_validity

    @property
    def exists(self) -> int:
        return self._selected.exists

    @property
    def uids_stay(self) -> bool:
        """Whether a UID names the same message in the next session as well."""
        return self._selected.uids_stay and self.uid_validity != 0

    async def has_numbering(self, uid_validity: int) -> bool:
        """Whether UIDs of this numbering are those of now.

        Before that is denied the folder is opened again: few sessions learn that their folder was made anew.
        """
        if uid_validity != self.uid_validity and not self._selected.renumbered:
            await self.open_again()
        return uid_validity == self.uid_validity

    async def open_again(self) -> None:
        """Forget what the session believes: of a folder that was made anew it may know the number and no message."""
        selected = await self._connection.select(self._selected.name, read_only=self._selected.examined)
        self._numbering = selected.uid_validity

    async def top(self) -> int:
        """The highest UID there may be; 0 in an empty folder."""
        if not self.exists:
            return 0
        uid_next = self._selected.uid_next
        # So many messages have so many UIDs below it: a smaller UIDNEXT is wrong.
        if uid_next is not None and self.exists < uid_next <= MAX_UID + 1:
            return uid_next - 1
        answer = await commands.uid_fetch(self._connection, "*", "UID")
        return max(answer.messages, default=MAX_UID)

    async def uids(self, low: int, high: int) -> list[int]:
        """UIDs that exist in the window, ascending."""
        return await uids_between(self._connection, low, high)

    async def search(self, query: Query, low: int, high: int, *, newest: int | None = None) -> Hits:
        """UIDs in the window that the server says fit. Raises `RefusedFault`."""
        return await uid_search(self._connection, query, low, high, newest=newest)

    async def sort(self, query: Query, criteria: str) -> list[int] | None:
        """UIDs that the server says fit, in this order; None if it cannot sort. Raises `RefusedFault`."""
        return await uid_sort(self._connection, query, criteria)

    @property
    def capabilities(self) -> frozenset[str]:
        return self._connection.capabilities

    async def newest(self, low: int) -> list[Fetched]:
        """Rows from `low` to whatever is newest now, newest first."""
        known = self._session.newest(self._connection.news, low, self._cache.fields)
        if known is not None:
            return known
        # With `*` the server names its last message even if that lies below `low`.
        asked = range(low, MAX_UID + 1)
        uid_next = self._selected.uid_next
        few = uid_next is not None and uid_next - low <= _ROWS_AT_ONCE
        news = self._connection.news
        rows = await (self._read_rows(asked) if few and self._cached(low) is None else self._known_rows(asked))
        if news == self._connection.news and self._tells_news and all(self._cached(row.uid) for row in rows):
            self._session.learn_newest(news, low, rows, self._cache.fields)
        return rows

    def _row_of_now(self, uid: int) -> Fetched | None:
        row, marks = self._cached(uid), self._session.marks(self._connection.news, uid)
        return marked(row, marks) if row and marks else None

    async def rows(self, uids: Iterable[int]) -> list[Fetched]:
        """Rows of these UIDs, newest first; those that are gone are left out."""
        wanted = set(uids)
        known = [self._row_of_now(uid) for uid in sorted(wanted, reverse=True)]
        if None not in known:
            return [row for row in known if row is not None]
        if any(self._cached(uid) is not None for uid in wanted):
            return await self._known_rows(wanted)
        return await self._read_rows(wanted)

    async def messages(self, uids: Iterable[int]) -> Mapping[int, Fetched]:
        """Messages with their content by UID; those that are gone are left out."""
        answer = await self._fetch(set(uids), _MESSAGE, _MESSAGE_BARE, _has_body)
        found: dict[int, Fetched] = {}
        if answer.garbled:
            heads = await self._read_rows(set(answer.garbled))
            found = {row.uid: replace(row, incomplete=_UNREADABLE) for row in heads}
        for uid, items in answer.messages.items():
            found[uid] = await self._message(items)
        return found

    async def kin(self, uids: set[int]) -> dict[int, Kin]:
        """What these messages say of their kin; those that are gone are left out."""
        known = {uid: kin_of(row.head) for uid in uids if (row := self._cached(uid))}
        missing = uids - known.keys()
        if not missing:
            return known
        answer = await fetch_whole(self._connection, missing, _KIN, _KIN, _has_header)
        told = {uid: items.header or b"" for uid, items in answer.messages.items()}
        little = sum(map(len, told.values())) <= LITTLE
        read = _kin_of_heads(told) if little else await asyncio.to_thread(_kin_of_heads, told)
        return known | read | dict.fromkeys(answer.garbled, Kin(None, ()))

    async def marks(self, uids: Iterable[int]) -> dict[int, Marks]:
        """Flags and labels of now of those messages that exist."""
        wanted = set(uids)
        known = {uid: self._session.marks(self._connection.news, uid) for uid in wanted}
        if None not in known.values():
            return {uid: marks for uid, marks in known.items() if marks is not None}
        answer = await self._fetch(wanted, "UID FLAGS", "UID FLAGS", _has_flags)
        return {uid: self._marks(items) for uid, items in answer.messages.items()}

    async def _fetch(self, uids: Uids, items: str, fewer: str, has: Callable[[Items], bool]) -> FetchAnswer:
        """As `fetch_whole`, with labels where there are any; what it tells of marks is remembered."""
        more = " X-GM-LABELS" if self._is_gmail else ""
        news = self._connection.news
        answer = await fetch_whole(self._connection, uids, items + more, fewer + more, has)
        # What changed meanwhile may be told before or after it changed.
        if news == self._connection.news and self._tells_news:
            marks = {uid: self._marks(told) for uid, told in answer.messages.items() if told.flags is not None}
            self._session.learn(news, marks)
        return answer

    @property
    def _is_gmail(self) -> bool:
        return "X-GM-EXT-1" in self._connection.capabilities

    @property
    def _tells_news(self) -> bool:
        """Whether a server's silence means that no flag has changed: it has what tells others of changes.

        Gmail tells nobody of labels.
        """
        return not self._is_gmail and not self._connection.capabilities.isdisjoint(_TELLING)

    def _marks(self, items: Items) -> Marks:
        return Marks(items.flags or frozenset(), labels_of(items, self._folder))

    async def octets(self, uid: int, section: str, offset: int, count: int) -> bytes | None:
        """At most so many octets of a section from `offset` on; None if the message or the section is gone."""
        answer = await commands.uid_fetch(self._connection, [uid], f"UID BODY.PEEK[{section}]<{offset}.{count}>")
        if answer.refused is not None:
            raise answer.refused
        items = answer.messages.get(uid) if self._selected else None
        return items.sections.get((section, offset)) if items else None

    def _cached(self, uid: int) -> Fetched | None:
        return self._cache.find(self.name, self.uid_validity, uid) if self.uids_stay else None

    async def _known_rows(self, uids: Uids) -> list[Fetched]:
        """Only the flags are asked for; rows not met before are read in a second command."""
        answer = await self._fetch(uids, "UID FLAGS", "UID FLAGS", _has_flags)
        rows, unmet = [], set(answer.garbled)
        for uid, items in answer.messages.items():
            known = self._cached(uid)
            if known is None or items.flags is None:
                unmet.add(uid)
            else:
                rows.append(marked(known, self._marks(items)))
        if unmet:
            rows += await self._read_rows(unmet)
        return sorted(rows, key=lambda row: row.uid, reverse=True)

    async def _read_rows(self, uids: Uids) -> list[Fetched]:
        rows: dict[int, Fetched] = {}
        bare = _row_items(self._cache.fields)
        for batch in _batches(uids):
            answer = await self._fetch(batch, f"{bare} BODYSTRUCTURE", bare, _has_header)
            for row in await self._parsed(list(answer.messages.values())):
                self._cache.keep(row)
                rows[row.uid] = row
            rows.update({uid: self._unreadable(uid) for uid in answer.garbled})
        return [rows[uid] for uid in sorted(rows, reverse=True)]

    async def _parsed(self, messages: list[Items]) -> list[Fetched]:
        """Rows of what was told; in a thread where it is much: hostile heads and structures are seconds of work."""
        told: list[Token] = [items.header for items in messages]
        told += [items.structure for items in messages if is_tree(items.structure)]
        return self._rows_of(messages) if is_little(told) else await asyncio.to_thread(self._rows_of, messages)

    def _rows_of(self, messages: list[Items]) -> list[Fetched]:
        return [
            self._fetched(items, parse_head(items.header or b""), has_attachments(items.structure))
            for items in messages
        ]

    async def _message(self, items: Items) -> Fetched:
        beginning = items.sections["", 0]
        head_block, _ = split(beginning)
        head = await worked(parse_head, head_block)
        content = await self._content(items, beginning)
        fetched = self._fetched(items, head, bool(content.attachments))
        return replace(fetched, content=content)

    async def _content(self, items: Items, beginning: bytes) -> Content:
        if len(beginning) < WHOLE:
            return await worked(assembled, beginning)
        by_section = await fetch_sections(self._connection, items, beginning)
        if by_section is not None:
            return replace(await asyncio.to_thread(assemble, by_section), by_section=True)
        answer = await commands.uid_fetch(self._connection, [items.uid], f"UID BODY.PEEK[]<0.{BEGINNING}>")
        again = answer.messages.get(items.uid)
        octets = again.sections.get(("", 0), beginning) if again else beginning
        return await worked(assembled_beginning if len(octets) >= BEGINNING else assembled, octets)

    def _fetched(self, items: Items, head: Head, attachments: bool | None) -> Fetched:
        marks = self._marks(items)
        fetched = Fetched(
            folder=self.name,
            uid=items.uid,
            uid_validity=self.uid_validity,
            head=head,
            received_at=items.internal_date,
            size=items.size,
            flags=marks.flags,
            labels=marks.labels,
            has_attachments=attachments,
        )
        if not self.uids_stay:
            self._cache.meet(fetched)
        return fetched

    def _unreadable(self, uid: int) -> Fetched:
        return replace(self._fetched(Items(uid), _NO_HEAD, None), incomplete=_UNREADABLE)


@cache
def _row_items(fields: frozenset[str]) -> str:
    """What is fetched of a row, with these header fields beside those of every row."""
    if any(not _FIELD_NAME.fullmatch(name) for name in fields):
        raise ValueError("a header field's name is letters, digits and hyphens")
    names = " ".join([_FIELDS, *sorted(name.upper() for name in fields if name.upper() not in _FIELDS.split())])
    return _ROW_BARE.format(f"HEADER.FIELDS ({names})", _HEAD)


def _kin_of_heads(heads: Mapping[int, bytes]) -> dict[int, Kin]:
    return {uid: kin_of(parse_head(head)) for uid, head in heads.items()}


def _has_header(items: Items) -> bool:
    return items.header is not None


def _has_body(items: Items) -> bool:
    return ("", 0) in items.sections


def _has_flags(items: Items) -> bool:
    return items.flags is not None


def _batches(uids: Uids) -> Iterator[Uids]:
    """So many rows at a time that even with the largest structures they are one answer's worth."""
    if isinstance(uids, range):
        yield uids
        return
    ordered = sorted(uids, reverse=True)
    for start in range(0, len(ordered), _ROWS_AT_ONCE):
        yield set(ordered[start : start + _ROWS_AT_ONCE])
