"""Messages of one open folder, in stages: heads for lists, then text by section, never more than is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from postroom.imap import commands
from postroom.imap.bodystructure import read_structure
from postroom.imap.commands import FetchAnswer, Items
from postroom.imap.connection import Connection
from postroom.imap.faults import LostFault
from postroom.imap.reply import Selected
from postroom.imap.wire import Token
from postroom.mail.model import Content, Entity, Fetched, Head
from postroom.mail.parse import assemble, describe, parse_head, split, split_message
from postroom.mailbox.cache import RowCache
from postroom.mailbox.sections import fetch_sections

_FIELDS = "FROM TO CC REPLY-TO SUBJECT DATE MESSAGE-ID IN-REPLY-TO REFERENCES"
_HEAD = 64 * 1024
"""Octets of header fields that are looked at for a row."""
_ROW_BARE = f"UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[HEADER.FIELDS ({_FIELDS})]<0.{_HEAD}>"
_ROW = f"{_ROW_BARE} BODYSTRUCTURE"
WHOLE = 128 * 1024
"""Octets up to which a message is fetched whole in one command; larger ones go by section."""
_MESSAGE_BARE = f"UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.{WHOLE}>"
_MESSAGE = f"{_MESSAGE_BARE} BODYSTRUCTURE"
BEGINNING = 2 * 1024 * 1024
"""Octets of a message that are looked at when its server cannot say where its parts lie."""
_UNREADABLE = "the server's answer about this message could not be read"
_NO_HEAD = parse_head(b"")


class OpenFolder:
    """A folder on a connection that has it selected. UIDs only; sequence numbers are never trusted."""

    def __init__(self, connection: Connection, name: str, cache: RowCache) -> None:
        self._connection = connection
        self._cache = cache
        self.name = name

    @property
    def _selected(self) -> Selected:
        if self._connection.selected is None:
            raise LostFault("the server closed the folder")
        return self._connection.selected

    @property
    def uid_validity(self) -> int:
        return self._selected.uid_validity

    @property
    def exists(self) -> int:
        return self._selected.exists

    async def top(self) -> int:
        """The highest UID there may be; 0 in an empty folder."""
        if not self.exists:
            return 0
        if self._selected.uid_next is not None:
            return self._selected.uid_next - 1
        answer = await commands.uid_fetch(self._connection, "*", "UID")
        return max(answer.messages, default=0)

    async def uids(self, low: int, high: int) -> list[int]:
        """UIDs that exist in the window, ascending."""
        return await commands.uid_search(self._connection, low, high)

    async def newest(self, low: int) -> list[Fetched]:
        """Rows from `low` to whatever is newest now, newest first."""
        if self._cached(low) is None:
            rows = await self._read_rows(f"{low}:*")
        else:
            rows = await self._known_rows(f"{low}:*")
        # With `*` the server names its last message even if that lies below `low`.
        return [row for row in rows if row.uid >= low]

    async def rows(self, uids: Iterable[int]) -> list[Fetched]:
        """Rows of these UIDs, newest first; those that are gone are left out."""
        wanted = list(uids)
        if any(self._cached(uid) is not None for uid in wanted):
            return await self._known_rows(wanted)
        return await self._read_rows(wanted)

    async def messages(self, uids: Iterable[int]) -> Mapping[int, Fetched]:
        """Messages with their content by UID; those that are gone are left out."""
        asked = set(uids)
        answer = await self._again(await commands.uid_fetch(self._connection, asked, _MESSAGE), _MESSAGE_BARE)
        found = {uid: self._unreadable(uid) for uid in (answer.garbled | answer.messages.keys()) & asked}
        for uid, items in answer.messages.items():
            if ("", 0) in items.sections:
                found[uid] = await self._message(items)
        return found

    def _cached(self, uid: int) -> Fetched | None:
        return self._cache.find(self.name, self.uid_validity, uid)

    async def _known_rows(self, uids: str | list[int]) -> list[Fetched]:
        """Only the flags are asked for; rows not met before are read in a second command."""
        answer = await commands.uid_fetch(self._connection, uids, "UID FLAGS")
        rows, unmet = [], set(answer.garbled)
        for uid, items in answer.messages.items():
            known = self._cached(uid)
            if known is None or items.flags is None:
                unmet.add(uid)
            else:
                rows.append(replace(known, flags=items.flags, labels=_labels(items.flags)))
        if unmet:
            rows += await self._read_rows(unmet)
        return sorted(rows, key=lambda row: row.uid, reverse=True)

    async def _read_rows(self, uids: str | Iterable[int]) -> list[Fetched]:
        answer = await self._again(await commands.uid_fetch(self._connection, uids, _ROW), _ROW_BARE)
        rows = {uid: await self._row(items) for uid, items in answer.messages.items() if items.header is not None}
        for row in rows.values():
            self._cache.keep(row)
        rows.update({uid: self._unreadable(uid) for uid in answer.garbled if uid not in rows})
        return [rows[uid] for uid in sorted(rows, reverse=True)]

    async def _again(self, answer: FetchAnswer, items: str) -> FetchAnswer:
        """What was garbled is asked for once more, one by one and without BODYSTRUCTURE: it is mostly that."""
        messages = dict(answer.messages)
        garbled = set()
        for uid in sorted(answer.garbled - messages.keys())[:_MOST_AGAIN]:
            second = await commands.uid_fetch(self._connection, [uid], items)
            if uid in second.messages:
                messages[uid] = second.messages[uid]
            else:
                garbled.add(uid)
        left_over = frozenset(answer.garbled - messages.keys())
        return FetchAnswer(messages, frozenset(garbled) | left_over, answer.nameless)

    async def _row(self, items: Items) -> Fetched:
        head = await _worked(parse_head, items.header or b"")
        return self._fetched(items, head, has_attachments(items.structure))

    async def _message(self, items: Items) -> Fetched:
        beginning = items.sections["", 0]
        head_block, _ = split(beginning)
        head = await _worked(parse_head, head_block)
        content = await self._content(items, beginning)
        fetched = self._fetched(items, head, bool(content.attachments))
        return replace(fetched, content=content)

    async def _content(self, items: Items, beginning: bytes) -> Content:
        if len(beginning) < WHOLE:
            return await _worked(_assembled, beginning)
        by_section = await fetch_sections(self._connection, items, beginning)
        if by_section is not None:
            return await asyncio.to_thread(assemble, by_section)
        answer = await commands.uid_fetch(self._connection, [items.uid], f"UID BODY.PEEK[]<0.{BEGINNING}>")
        again = answer.messages.get(items.uid)
        octets = again.sections.get(("", 0), beginning) if again else beginning
        return await _worked(_assembled_beginning if len(octets) >= BEGINNING else _assembled, octets)

    def _fetched(self, items: Items, head: Head, attachments: bool | None) -> Fetched:
        return Fetched(
            folder=self.name,
            uid=items.uid,
            uid_validity=self.uid_validity,
            head=head,
            received_at=items.internal_date,
            size=items.size,
            flags=items.flags or frozenset(),
            labels=_labels(items.flags or frozenset()),
            has_attachments=attachments,
        )

    def _unreadable(self, uid: int) -> Fetched:
        return replace(self._fetched(Items(uid), _NO_HEAD, None), incomplete=_UNREADABLE)


_MOST_AGAIN = 20


def _labels(flags: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(flag for flag in flags if not flag.startswith("\\")))


T = TypeVar("T")
_INLINE = 16 * 1024
"""Octets up to which parsing is done at once: a hostile head of that size costs some milliseconds."""


async def _worked(parse: Callable[[bytes], T], octets: bytes) -> T:
    """Parse, in another thread if there is much to it, so that nobody else waits."""
    return parse(octets) if len(octets) <= _INLINE else await asyncio.to_thread(parse, octets)


def _assembled(octets: bytes) -> Content:
    return assemble(split_message(octets))


def _assembled_beginning(octets: bytes) -> Content:
    return assemble(split_message(octets, cut=True), frozenset({"truncated"}))


def has_attachments(structure: Token) -> bool | None:
    """Whether a message has attachments by its server's BODYSTRUCTURE; None when that cannot be read."""
    entity: Entity | None = read_structure(structure)
    if entity is None:
        return None
    return any(not part.is_body for part in describe(entity))
