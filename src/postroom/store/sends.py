"""The send journal: what was begun, handed over and taken, so that no message goes out twice, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import orjson

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.gateways import DEAD, dead, is_alive
from postroom.store.spending import spend_in
from postroom.store.times import to_text
from postroom.store.worker import StoreError

KEPT = timedelta(days=7)
"""How long a caller's key answers; and how long what may have been taken is looked for."""
KEPT_AUTOMATIC = timedelta(minutes=10)
_UNKNOWN = (
    "UPDATE sends SET state = 'unknown', until = CASE WHEN key IS NULL AND draft IS NULL THEN ? ELSE '9999' END WHERE "
)
"""What somebody may ask for again stands in the way until it is settled: time makes nothing certain."""


ACCEPTED, UNKNOWN, REJECTED = "accepted", "unknown", "rejected"
"""How a message ended, in the words that callers and receivers are told."""


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
    """Nothing stands in the way if `known` is None, `wait` is 0 and nobody is at it."""

    known: Known | None = None
    wait: int = 0
    """Seconds until the token may send again."""
    is_under_way: bool = False
    """Another gateway is sending it at this moment."""


_COLUMNS = "request, token, fingerprint, mailbox, message_id, state, answer, identity"
_SAME = (
    f"SELECT gateway, {_COLUMNS} FROM sends "  # noqa: S608 - constants
    "WHERE (token = ? AND key = ?) OR (mailbox = ? AND draft = ?) ORDER BY at DESC"
)
_INSERT = (
    "INSERT INTO sends "
    "(request, token, key, fingerprint, mailbox, message_id, draft, identity, state, answer, at, until, gateway) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?)"
)


_SETTLED = "UPDATE sends SET state = 'accepted', answer = ?, until = ? WHERE request = ? AND state <> 'accepted'"
_FORGET = "DELETE FROM sends WHERE request = ?"
_HANDED = """
    UPDATE sends SET state = 'handing', answer = ?
    WHERE request = ? AND gateway = ? AND state IN ('begun', 'handing')
"""

Soon = asyncio.Future[bool]
"""Whether something changed, once it is written; or the failure to write it."""


async def claim(
    db: Database, wanted: Claim, most: int, now: datetime, gateway: str = "", tell: Tell = nobody
) -> Claimed:
    """Begin a message, and count it as one of at most `most` in an hour (0: any number), unless it is known already.

    What was begun and never handed over is begun anew, unless another gateway that is alive is at it.
    """
    return await db.write(lambda connection: _claim(connection, wanted, most, now, gateway, tell))


async def handing(db: Database, request: str, answer: Mapping[str, Any], gateway: str = "") -> None:
    """On the disk when it returns: from now on the server may have it.

    Raises StoreError if it is not claimed by this gateway any more, as when that slept and others took it for dead.
    """
    await db.write(lambda connection: _hand(connection, request, answer, gateway))


def accepted_soon(db: Database, request: str, answer: Mapping[str, Any], tell: Tell = nobody) -> Soon:
    """The server has it; or the same, with an answer that says more."""
    return db.post(lambda connection: _accept(connection, request, answer, tell))


def unknown_soon(db: Database, request: str, now: datetime, tell: Tell = nobody) -> Soon:
    """Nobody knows whether the server has it. Until that is written it stands as `handing`, which says the same."""
    return db.post(lambda connection: _forsake(connection, request, now, tell))


def settled_soon(db: Database, request: str, answer: Mapping[str, Any], now: datetime, tell: Tell = nobody) -> Soon:
    """What nobody knew the end of was taken; it answers as long as any other from now on."""
    values = (orjson.dumps(answer).decode(), to_text(now + KEPT), request)

    def write(connection: Connection) -> bool:
        if connection.execute(_SETTLED, values).rowcount != 1:
            return False
        _tell(connection, _one(connection, request), ACCEPTED, tell)
        return True

    return db.post(write)


def forget_soon(db: Database, request: str) -> Soon:
    """Nothing left: its key is free."""
    return db.post(lambda connection: connection.execute(_FORGET, (request,)).rowcount == 1)


def rejected_soon(db: Database, request: str, tell: Tell = nobody) -> Soon:
    """The server certainly does not have it: its key is free."""

    def write(connection: Connection) -> bool:
        known = _one(connection, request)
        if known is None:
            return False
        connection.execute(_FORGET, (request,))
        tell(connection, known, REJECTED)
        return True

    return db.post(write)


async def of_request(db: Database, request: str) -> Known | None:
    """What came of the call of this name."""
    return await db.read(lambda connection: _one(connection, request))


async def unknown(db: Database, most: int, now: datetime) -> list[Known]:
    """Of those that nobody knows the end of, the newest, of the last days alone."""
    query = f"SELECT {_COLUMNS} FROM sends WHERE state = 'unknown' AND at > ? ORDER BY at DESC LIMIT ?"  # noqa: S608 - constants
    since = to_text(now - KEPT)
    rows = await db.read(lambda connection: connection.execute(query, (since, most)).fetchall())
    return list(map(_known, rows))


async def recover(db: Database, now: datetime, gateway: str = "", tell: Tell = nobody) -> None:
    """What dead gateways had begun was never sent, and of what they were handing over nobody knows."""
    gone = dead(gateway, now)

    def sort(connection: Connection) -> None:
        connection.execute(f"DELETE FROM sends WHERE state = 'begun' AND {DEAD}", gone)  # noqa: S608 - constants
        left = connection.execute(f"SELECT request FROM sends WHERE state = 'handing' AND {DEAD}", gone).fetchall()  # noqa: S608 - constants
        for (request,) in left:
            _forsake(connection, request, now, tell)

    await db.write(sort)


def _claim(connection: Connection, wanted: Claim, most: int, now: datetime, gateway: str, tell: Tell) -> Claimed:
    connection.execute("DELETE FROM sends WHERE until <= ? AND state IN ('accepted', 'unknown')", (to_text(now),))
    rows = connection.execute(_SAME, (wanted.token, wanted.key, wanted.mailbox, wanted.draft)).fetchall()
    for owner, *row in rows:
        known = _known(row)
        on_its_way = known.state in (State.BEGUN, State.HANDING)
        if on_its_way and owner != gateway and is_alive(connection, owner, now):
            return Claimed(is_under_way=True)
        if known.state is State.HANDING and owner != gateway:
            _forsake(connection, known.request, now, tell)
        if known.state is not State.BEGUN:
            return Claimed(known)
        connection.execute(_FORGET, (known.request,))
    wait = spend_in(connection, (wanted.token, "sends"), 1, most, now) if most else 0
    if wait:
        return Claimed(wait=wait)
    kept = KEPT_AUTOMATIC if wanted.automatic else KEPT
    named = (wanted.request, wanted.token, wanted.key, wanted.fingerprint, wanted.mailbox, wanted.message_id)
    values = (*named, wanted.draft, wanted.identity, State.BEGUN, to_text(now), to_text(now + kept), gateway)
    connection.execute(_INSERT, values)
    return Claimed()


def _hand(connection: Connection, request: str, answer: Mapping[str, Any], gateway: str) -> None:
    if connection.execute(_HANDED, (orjson.dumps(answer).decode(), request, gateway)).rowcount != 1:
        raise StoreError("the journal has lost a message that was claimed")


def _accept(connection: Connection, request: str, answer: Mapping[str, Any], tell: Tell) -> bool:
    """It is told once, whichever write is the first to succeed."""
    before = _one(connection, request)
    if before is None:
        return False
    told = orjson.dumps(answer).decode()
    connection.execute("UPDATE sends SET state = 'accepted', answer = ? WHERE request = ?", (told, request))
    if before.state is not State.ACCEPTED:
        _tell(connection, _one(connection, request), ACCEPTED, tell)
    return True


def _forsake(connection: Connection, request: str, now: datetime, tell: Tell) -> bool:
    """Nobody knows what became of it."""
    statement = f"{_UNKNOWN}request = ? AND state IN ('begun', 'handing')"
    if connection.execute(statement, (to_text(now + KEPT), request)).rowcount != 1:
        return False
    _tell(connection, _one(connection, request), UNKNOWN, tell)
    return True


def _one(connection: Connection, request: str) -> Known | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM sends WHERE request = ?", (request,)).fetchone()  # noqa: S608 - constants
    return _known(row) if row else None


def _known(row: Sequence[str]) -> Known:
    request, token, fingerprint, mailbox, message_id, state, answer, identity = row
    return Known(request, token, fingerprint, mailbox, message_id, State(state), orjson.loads(answer), identity)


def _tell(connection: Connection, known: Known | None, outcome: str, tell: Tell) -> None:
    """Of messages alone: what was saved as a draft has another answer."""
    if known is not None and known.answer.get("outcome") == ACCEPTED:
        tell(connection, known, outcome)
