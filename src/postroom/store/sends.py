"""The send journal: what was begun, handed over and taken, so that no message goes out twice, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from sqlite3 import Connection
from typing import Any, TypeVar

import orjson

from postroom.store.database import Database
from postroom.store.spending import spend_in
from postroom.store.times import to_text
from postroom.store.worker import StoreError

T = TypeVar("T")

KEPT = timedelta(days=7)
"""How long a caller's key answers; and how long what may have been taken is looked for."""
KEPT_AUTOMATIC = timedelta(minutes=10)
_UNKNOWN = (
    "UPDATE sends SET state = 'unknown', until = CASE WHEN key IS NULL AND draft IS NULL THEN ? ELSE '9999' END WHERE "
)
"""What somebody may ask for again stands in the way until it is settled: time makes nothing certain."""


ACCEPTED, UNKNOWN, REJECTED = "accepted", "unknown", "rejected"
"""How a message ended, in the words that callers and receivers are told."""
_SETTLE = "UPDATE sends SET state = 'accepted', answer = ?, until = ? WHERE request = ? AND state <> 'accepted'"
_FORGET = "DELETE FROM sends WHERE request = ?"


class State(StrEnum):
    """How far a message came. Nothing was sent while it is `begun`; only `accepted` is certain to have been."""

    BEGUN = "begun"
    HANDING = "handing"
    UNKNOWN = "unknown"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Claim:
    """A message that somebody wants to send. `request` is the call's name in the audit, and names the row."""

    request: str
    token: str
    key: str | None
    """None for a message that nobody will ask about again."""
    automatic: bool
    """The key is none of the caller's."""
    fingerprint: str
    """Of the message as it was asked for: a key names one message."""
    mailbox: str
    message_id: str
    draft: str | None = None
    """The draft that it is, by folder and uid: one draft goes out once, whoever sends it."""
    identity: str = ""
    """Of a bound caller; empty of any other."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the journal has of a message. `answer` is what was told, or will be if the server has it."""

    request: str
    token: str
    fingerprint: str
    mailbox: str
    message_id: str
    state: State
    answer: Mapping[str, Any]
    identity: str = ""
    """Of a bound caller; empty of any other."""


Tell = Callable[[Connection, Known, str], None]
"""Within the transaction that writes down how a message ended, or that nobody knows: with the outcome in a word."""


def nobody(_: Connection, __: Known, ___: str) -> None:
    """Whom it is told to where nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """Nothing stands in the way if `known` is None and `wait` is 0."""

    known: Known | None = None
    wait: int = 0
    """Seconds until the token may send again."""


_COLUMNS = "request, token, fingerprint, mailbox, message_id, state, answer, identity"
_SAME = f"SELECT {_COLUMNS} FROM sends WHERE (token = ? AND key = ?) OR (mailbox = ? AND draft = ?) ORDER BY at DESC"  # noqa: S608 - constants
_INSERT = (
    "INSERT INTO sends "
    "(request, token, key, fingerprint, mailbox, message_id, draft, identity, state, answer, at, until) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?)"
)


async def claim(db: Database, wanted: Claim, most: int, now: datetime) -> Claimed:
    """Begin a message, and count it as one of at most `most` in an hour (0: any number), unless it is known already.

    What was begun and never handed over is begun anew.
    """
    return await db.write(lambda connection: _claim(connection, wanted, most, now))


async def handing(db: Database, request: str, answer: Mapping[str, Any]) -> None:
    """On the disk when it returns: from now on the server may have it. Raises StoreError if it is not claimed."""
    await db.write(lambda connection: _hand(connection, request, answer))


async def accepted(db: Database, request: str, answer: Mapping[str, Any], tell: Tell = nobody) -> None:
    """The server has it."""
    await db.write(lambda connection: _accept(connection, request, answer, tell))


def accepted_soon(db: Database, request: str, answer: Mapping[str, Any], tell: Tell = nobody) -> asyncio.Future[None]:
    """The same, with an answer that says more, and nobody waits for it."""
    return _unwatched(db, lambda connection: _accept(connection, request, answer, tell))


def unknown_soon(db: Database, request: str, now: datetime, tell: Tell = nobody) -> asyncio.Future[None]:
    """Nobody knows whether the server has it. Until that is written it stands as `handing`, which says the same."""
    until = to_text(now + KEPT)

    def write(connection: Connection) -> None:
        connection.execute(f"{_UNKNOWN}request = ?", (until, request))
        _tell(connection, _one(connection, request), UNKNOWN, tell)

    return _unwatched(db, write)


def settled_soon(
    db: Database, request: str, answer: Mapping[str, Any], now: datetime, tell: Tell = nobody
) -> asyncio.Future[None]:
    """What nobody knew the end of was taken. It answers as long as any other from now on."""
    told, until = orjson.dumps(answer).decode(), to_text(now + KEPT)

    def write(connection: Connection) -> None:
        if connection.execute(_SETTLE, (told, until, request)).rowcount == 1:
            _tell(connection, _one(connection, request), ACCEPTED, tell)

    return _unwatched(db, write)


def forget_soon(db: Database, request: str) -> None:
    """Nothing left: its key is free."""
    _unwatched(db, lambda connection: connection.execute(_FORGET, (request,)))


def rejected_soon(db: Database, request: str, tell: Tell = nobody) -> asyncio.Future[None]:
    """The server certainly does not have it: its key is free."""

    def write(connection: Connection) -> None:
        known = _one(connection, request)
        connection.execute(_FORGET, (request,))
        if known is not None:
            tell(connection, known, REJECTED)

    return _unwatched(db, write)


async def of_request(db: Database, request: str) -> Known | None:
    """What came of the call of this name."""
    return await db.read(lambda connection: _one(connection, request))


async def unknown(db: Database, most: int, now: datetime) -> list[Known]:
    """Of those that nobody knows the end of, the newest, of the last days alone."""
    query = f"SELECT {_COLUMNS} FROM sends WHERE state = 'unknown' AND at > ? ORDER BY at DESC LIMIT ?"  # noqa: S608 - constants
    since = to_text(now - KEPT)
    rows = await db.read(lambda connection: connection.execute(query, (since, most)).fetchall())
    return list(map(_known, rows))


async def recover(db: Database, now: datetime, tell: Tell = nobody) -> None:
    """At the start: what was begun was never sent, and of what was being handed over nobody knows."""
    until = to_text(now + KEPT)

    def sort(connection: Connection) -> None:
        connection.execute("DELETE FROM sends WHERE state = 'begun'")
        for row in connection.execute(f"SELECT {_COLUMNS} FROM sends WHERE state = 'handing'").fetchall():  # noqa: S608 - constants
            _tell(connection, _known(row), UNKNOWN, tell)
        connection.execute(f"{_UNKNOWN}state = 'handing'", (until,))

    await db.write(sort)


def _claim(connection: Connection, wanted: Claim, most: int, now: datetime) -> Claimed:
    connection.execute("DELETE FROM sends WHERE until <= ? AND state IN ('accepted', 'unknown')", (to_text(now),))
    rows = connection.execute(_SAME, (wanted.token, wanted.key, wanted.mailbox, wanted.draft)).fetchall()
    for known in map(_known, rows):
        if known.state is not State.BEGUN:
            return Claimed(known)
        connection.execute("DELETE FROM sends WHERE request = ?", (known.request,))
    wait = spend_in(connection, (wanted.token, "sends"), 1, most, now) if most else 0
    if wait:
        return Claimed(wait=wait)
    kept = KEPT_AUTOMATIC if wanted.automatic else KEPT
    named = (wanted.request, wanted.token, wanted.key, wanted.fingerprint, wanted.mailbox, wanted.message_id)
    connection.execute(_INSERT, (*named, wanted.draft, wanted.identity, State.BEGUN, to_text(now), to_text(now + kept)))
    return Claimed()


def _hand(connection: Connection, request: str, answer: Mapping[str, Any]) -> None:
    if not _set(connection, request, State.HANDING, answer):
        raise StoreError("the journal has lost a message that was claimed")


def _accept(connection: Connection, request: str, answer: Mapping[str, Any], tell: Tell) -> None:
    """It is told once, whichever write is the first to succeed."""
    before = _one(connection, request)
    if _set(connection, request, State.ACCEPTED, answer) and before is not None and before.state is not State.ACCEPTED:
        _tell(connection, _one(connection, request), ACCEPTED, tell)


def _set(connection: Connection, request: str, state: State, answer: Mapping[str, Any]) -> bool:
    told = orjson.dumps(answer).decode()
    changed = connection.execute("UPDATE sends SET state = ?, answer = ? WHERE request = ?", (state, told, request))
    return changed.rowcount == 1


def _one(connection: Connection, request: str) -> Known | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM sends WHERE request = ?", (request,)).fetchone()  # noqa: S608 - constants
    return _known(row) if row else None


def _known(row: tuple[str, ...]) -> Known:
    request, token, fingerprint, mailbox, message_id, state, answer, identity = row
    return Known(request, token, fingerprint, mailbox, message_id, State(state), orjson.loads(answer), identity)


def _tell(connection: Connection, known: Known | None, outcome: str, tell: Tell) -> None:
    """Of messages alone: what was saved as a draft has another answer."""
    if known is not None and known.answer.get("outcome") == ACCEPTED:
        tell(connection, known, outcome)


def _unwatched(db: Database, write: Callable[[Connection], T]) -> asyncio.Future[T]:
    """Its failure need not be heard: what it leaves is told at the next start, and waiting writes fail as well."""
    future = db.post(write)
    future.add_done_callback(lambda future: future.cancelled() or future.exception())
    return future
