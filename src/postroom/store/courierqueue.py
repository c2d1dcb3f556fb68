"""Deliveries on their way: claimed for a while by whoever attempts them, then ended, or due again later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from postroom.store.connection import Connection
from postroom.store.times import LEAP, from_text, to_text

HELD = timedelta(seconds=30)
"""How long an attempt may take; what is claimed longer was left behind, and is due again."""
_BEHIND = timedelta(seconds=1)
KEPT = timedelta(days=30)
MOST_KEPT = 10_000
"""Ended deliveries that are kept for each endpoint."""
_ALL = 1_000_000_000

_EARLIEST = """
    SELECT e.mailbox, e.name, (
        SELECT MIN(d.next_at) FROM deliveries AS d
        WHERE d.mailbox = e.mailbox AND d.endpoint = e.name AND d.ended IS NULL
    ) FROM endpoints AS e WHERE e.disabled IS NULL
"""
_DUE = """
    SELECT id, type, body, folder, uid_validity, uid, tries FROM deliveries
    WHERE mailbox = ? AND endpoint = ? AND ended IS NULL AND next_at <= ? ORDER BY next_at LIMIT ?
"""
_CLAIM = "UPDATE deliveries SET state = 'running', owner = ?, next_at = ?, tries = tries + 1 WHERE id = ?"
_OURS = "WHERE id = ? AND owner = ? AND state = 'running'"
_END = f"UPDATE deliveries SET state = ?, ended = ?, status = ?, said = ?, owner = NULL {_OURS}"  # noqa: S608 - constants
_AGAIN = f"UPDATE deliveries SET state = 'due', next_at = ?, status = ?, said = ?, owner = NULL {_OURS}"  # noqa: S608 - constants
_UNTRIED = f"UPDATE deliveries SET state = 'due', next_at = ?, tries = tries - 1, owner = NULL {_OURS}"  # noqa: S608 - constants
_PUT_OFF = """
    UPDATE deliveries SET next_at = ?
    WHERE mailbox = ? AND endpoint = ? AND ended IS NULL AND state = 'due' AND folder IS NOT NULL AND next_at < ?
"""
_PULL_IN = """
    UPDATE deliveries SET next_at = CASE WHEN state = 'running' THEN ? ELSE ? END
    WHERE ended IS NULL AND (
        next_at > ?
        OR (state = 'running' AND next_at > ?)
        OR (state = 'due' AND tries = 0 AND type <> 'gap' AND next_at > ?)
    )
"""
_GIVE_BACK = "UPDATE deliveries SET state = 'due', next_at = ?, owner = NULL WHERE owner = ? AND state = 'running'"
_SURPLUS = """
    DELETE FROM deliveries WHERE id IN (
        SELECT id FROM deliveries WHERE mailbox = ? AND endpoint = ? AND ended IS NOT NULL
        ORDER BY ended DESC LIMIT ? OFFSET ?
    )
"""


class State(StrEnum):
    """How far a delivery came."""

    DUE = "due"
    RUNNING = "running"
    DELIVERED = "delivered"
    FAILED = "failed"
    """Attempted as often as it may be."""
    DROPPED = "dropped"
    """Not to be told any more: its message is hidden or gone, its endpoint disabled, or too many waited."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery that is ours to attempt now. `tries` counts this attempt."""

    id: str
    mailbox: str
    endpoint: str
    type: str
    body: str
    folder: str | None
    uid_validity: int | None
    uid: int | None
    tries: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of an attempt: a status if there was an answer, and what it, or we, had to say."""

    status: int | None
    said: str


Place = tuple[str, str]
"""A mailbox and the name of one of its endpoints."""


def earliest(connection: Connection) -> dict[Place, datetime]:
    """When each endpoint that is not disabled has something to be attempted, or claimed anew."""
    rows = connection.execute(_EARLIEST).fetchall()
    return {(mailbox, name): from_text(at) for mailbox, name, at in rows if at is not None}


def claim(connection: Connection, place: Place, most: int, owner: str, now: datetime) -> list[Claimed]:
    """At most so many that are due, the longest due first; that they are attempted is written down with it."""
    rows = connection.execute(_DUE, (*place, to_text(now), most)).fetchall()
    for row in rows:
        connection.execute(_CLAIM, (owner, to_text(now + HELD), row[0]))
    return [_claimed(place, row) for row in rows]


def end(connection: Connection, one: Claimed, owner: str, how: tuple[State, Answered], now: datetime) -> bool:
    """It is attempted no more; False if the claim was another's by now."""
    state, answered = how
    values = (state, to_text(now), answered.status, answered.said, one.id, owner)
    return connection.execute(_END, values).rowcount == 1


def again(connection: Connection, one: Claimed, owner: str, answered: Answered, at: datetime) -> bool:
    """It is due again at that time; False if the claim was another's by now."""
    values = (to_text(at), answered.status, answered.said, one.id, owner)
    return connection.execute(_AGAIN, values).rowcount == 1


def put_off(connection: Connection, one: Claimed, owner: str, at: datetime) -> None:
    """No attempt was made; nor will one be before that time, of anything about messages for the same endpoint.

    The others come first then: it may be that this message alone cannot be looked for.
    """
    moment = to_text(at)
    connection.execute(_UNTRIED, (to_text(at + _BEHIND), one.id, owner))
    connection.execute(_PUT_OFF, (moment, one.mailbox, one.endpoint, moment))


def pull_in(connection: Connection, longest: timedelta, now: datetime) -> None:
    """What was to be attempted later than anything can be, `longest` from now on at most, by a clock set back since."""
    held = now + HELD
    values = (held, now, now + longest + LEAP, held + LEAP, now + LEAP)
    connection.execute(_PULL_IN, tuple(map(to_text, values)))


def give_back(connection: Connection, owner: str, now: datetime) -> None:
    """Whatever this owner has claimed is due, for it ends."""
    connection.execute(_GIVE_BACK, (to_text(now), owner))


def drop_all(connection: Connection, place: Place, why: str, now: datetime) -> None:
    """Nothing that waits for this endpoint, or is attempted now, is told any more."""
    update = "UPDATE deliveries SET state = 'dropped', said = ?, ended = ?, owner = NULL "
    connection.execute(f"{update} WHERE mailbox = ? AND endpoint = ? AND ended IS NULL", (why, to_text(now), *place))


def forget(connection: Connection, places: Sequence[Place], now: datetime) -> None:
    """Ended deliveries past their time, and for each of these endpoints those that are too many."""
    connection.execute("DELETE FROM deliveries WHERE ended <= ?", (to_text(now - KEPT),))
    for place in places:
        connection.execute(_SURPLUS, (*place, _ALL, MOST_KEPT))


def _claimed(place: Place, row: tuple[Any, ...]) -> Claimed:
    identifier, event, body, folder, uid_validity, uid, tries = row
    return Claimed(identifier, *place, event, body, folder, uid_validity, uid, tries + 1)
