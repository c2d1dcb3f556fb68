"""What each bound identity has done itself: what it sent, drafted, read of strangers, and put into Trash."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import from_text, to_text

_KEPT = timedelta(days=400)
"""How long it is remembered what was sent; drafts and Trash as long as they may lie there."""
_NEAR = timedelta(minutes=1)
_NOTE_SENT = """
    INSERT INTO own_messages (identity, mailbox, message_id, at, recipients, new_recipients, octets, thread, held)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (identity, mailbox, message_id) DO UPDATE SET
        at = excluded.at,
        recipients = excluded.recipients,
        new_recipients = excluded.new_recipients,
        octets = excluded.octets,
        thread = excluded.thread,
        held = excluded.held
"""
_COUNT_ONE = """
    INSERT INTO own_counts (identity, mailbox, count) VALUES (?, ?, 1)
    ON CONFLICT (identity, mailbox) DO UPDATE SET count = own_counts.count + 1
"""
_NOTE_DRAFT = """
    INSERT INTO own_drafts (identity, mailbox, message_id, sha256, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (identity, mailbox, message_id) DO UPDATE SET sha256 = excluded.sha256, at = excluded.at
"""
_NOTE_READ = """
    INSERT INTO untrusted_reads (identity, mailbox, at) VALUES (?, ?, ?)
    ON CONFLICT (identity, mailbox) DO UPDATE SET at = excluded.at
"""
_NOTE_TRASHED = """
    INSERT INTO own_trash (identity, mailbox, uid_validity, uid, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (identity, mailbox, uid_validity, uid) DO UPDATE SET at = excluded.at
"""


@dataclass(frozen=True, slots=True)
class OwnMessage:
    """A message that was sent, or handed over and perhaps sent; or that became a draft for a person to send."""

    message_id: str
    at: datetime
    recipients: tuple[str, ...]
    """As keys, by which two spellings of an address are one."""
    new_recipients: int
    """How many of them this identity had not written to before."""
    octets: int
    thread: str = ""
    """The name of the thread that it answers in, if it does."""
    held: bool = False
    """It is a draft: it counts as what was let through, and is nothing that was said to anybody."""


class Own:
    """The records of one identity in one mailbox. Every method raises `StoreError`."""

    def __init__(self, database: Database, identity: str, mailbox: str) -> None:
        self._database = database
        self._who = (identity, mailbox)
        self._read_at: datetime | None = None

    async def count(self) -> int:
        """How many messages were ever noted: whoever judges by them asks this first."""
        return await self._database.read(lambda connection: _count(connection, self._who))

    async def note_sent(self, message: OwnMessage, after: int | None = None) -> bool:
        """Unless more were noted since there were `after` of them, as when it was judged: then False."""
        return await self._database.write(lambda connection: _note_sent(connection, self._who, message, after))

    async def forget_sent(self, message_id: str) -> None:
        """It was refused after all."""
        await self._execute(
            "DELETE FROM own_messages WHERE identity = ? AND mailbox = ? AND message_id = ?", message_id
        )

    async def sent(self, since: datetime) -> list[OwnMessage]:
        """What was let through from then on, drafts among it, oldest first."""
        return await self._database.read(lambda connection: _sent(connection, self._who, since))

    async def sent_ids(self) -> frozenset[str]:
        """Message-IDs of all that was sent."""
        query = "SELECT message_id FROM own_messages WHERE identity = ? AND mailbox = ? AND held = 0"
        rows = await self._database.read(lambda connection: connection.execute(query, self._who).fetchall())
        return frozenset(message_id for (message_id,) in rows)

    async def written_to(self) -> frozenset[str]:
        """Keys of everybody that something was sent to."""
        query = "SELECT DISTINCT recipients FROM own_messages WHERE identity = ? AND mailbox = ? AND held = 0"
        rows = await self._database.read(lambda connection: connection.execute(query, self._who).fetchall())
        return frozenset(key for (recipients,) in rows for key in json.loads(recipients))

    async def note_draft(self, message_id: str, sha256: str, at: datetime) -> None:
        await self._execute(_NOTE_DRAFT, message_id, sha256, to_text(at))

    async def drafts(self) -> dict[str, str]:
        """SHA-256 of the octets of each draft, by its Message-ID."""
        query = "SELECT message_id, sha256 FROM own_drafts WHERE identity = ? AND mailbox = ?"
        return dict(await self._database.read(lambda connection: connection.execute(query, self._who).fetchall()))

    async def note_untrusted_read(self, at: datetime) -> None:
        """To the minute: a call that reads need not wait for a disk each time."""
        if self._read_at is not None and timedelta() <= at - self._read_at < _NEAR:
            return
        await self._execute(_NOTE_READ, to_text(at))
        self._read_at = at

    async def last_untrusted_read(self) -> datetime | None:
        query = "SELECT at FROM untrusted_reads WHERE identity = ? AND mailbox = ?"
        row = await self._database.read(lambda connection: connection.execute(query, self._who).fetchone())
        return from_text(row[0]) if row else None

    async def note_trashed(self, uid_validity: int, uids: Collection[int], at: datetime) -> None:
        """These now lie in Trash, under these UIDs of it."""
        await self._database.write(lambda connection: _note_trashed(connection, self._who, uid_validity, uids, at))

    async def trashed(self, uid_validity: int, uids: Collection[int], before: datetime) -> frozenset[int]:
        """Those of these messages of Trash that were put there by this identity, before that moment."""
        return await self._database.read(lambda connection: _trashed(connection, self._who, uid_validity, uids, before))

    async def _execute(self, statement: str, *values: str) -> None:
        await self._database.write(lambda connection: connection.execute(statement, (*self._who, *values)) and None)


def _count(connection: Connection, who: tuple[str, str]) -> int:
    row = connection.execute("SELECT count FROM own_counts WHERE identity = ? AND mailbox = ?", who).fetchone()
    return int(row[0]) if row else 0


def _note_sent(connection: Connection, who: tuple[str, str], message: OwnMessage, after: int | None) -> bool:
    if after is not None and _count(connection, who) != after:
        return False
    connection.execute(_COUNT_ONE, who)
    connection.execute("DELETE FROM own_messages WHERE at < ?", (to_text(message.at - _KEPT),))
    connection.execute(
        _NOTE_SENT,
        (
            *who,
            message.message_id,
            to_text(message.at),
            json.dumps(message.recipients),
            message.new_recipients,
            message.octets,
            message.thread,
            int(message.held),
        ),
    )
    return True


def _sent(connection: Connection, who: tuple[str, str], since: datetime) -> list[OwnMessage]:
    rows = connection.execute(
        "SELECT message_id, at, recipients, new_recipients, octets, thread, held FROM own_messages"
        " WHERE identity = ? AND mailbox = ? AND at >= ? ORDER BY at",
        (*who, to_text(since)),
    )
    return [
        OwnMessage(message_id, from_text(at), tuple(json.loads(recipients)), new, octets, thread, bool(held))
        for message_id, at, recipients, new, octets, thread, held in rows
    ]


def _note_trashed(
    connection: Connection, who: tuple[str, str], uid_validity: int, uids: Collection[int], at: datetime
) -> None:
    connection.executemany(
        _NOTE_TRASHED,
        [(*who, uid_validity, uid, to_text(at)) for uid in uids],
    )


def _trashed(
    connection: Connection, who: tuple[str, str], uid_validity: int, uids: Collection[int], before: datetime
) -> frozenset[int]:
    rows = connection.execute(
        "SELECT uid FROM own_trash WHERE identity = ? AND mailbox = ? AND uid_validity = ? AND at <= ?",
        (*who, uid_validity, to_text(before)),
    )
    return frozenset(uid for (uid,) in rows) & frozenset(uids)
