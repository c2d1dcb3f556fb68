"""What endpoints of webhooks are to be told, in the words that it will be told in, and no more than can wait."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from postroom.store.connection import Connection
from postroom.store.times import to_text

DELIVERIES = "deliveries"
"""The topic of what is enqueued."""
MOST_WAITING = 10_000
"""Events that wait for one endpoint; more of them push out the oldest."""
GAP = "gap"
"""The type of an event that says how many were pushed out."""
_PUSHED_OUT = "too many events were waiting"

_INSERT = """
    INSERT INTO deliveries
        (id, mailbox, endpoint, type, body, folder, uid_validity, uid, state, created, next_at, tries)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'due', ?, ?, 0)
"""
_KNOWN = "SELECT disabled, gaps FROM endpoints WHERE mailbox = ? AND name = ?"
_OPEN = "SELECT COUNT(*) FROM deliveries WHERE mailbox = ? AND endpoint = ? AND ended IS NULL"
_PUSH_OUT = """
    UPDATE deliveries SET state = 'dropped', said = ?, ended = ? WHERE id IN (
        SELECT id FROM deliveries
        WHERE mailbox = ? AND endpoint = ? AND ended IS NULL AND state = 'due' AND type <> 'gap'
        ORDER BY created LIMIT ?
    )
"""
_UNTOLD_GAP = """
    SELECT id, body FROM deliveries
    WHERE mailbox = ? AND endpoint = ? AND ended IS NULL AND type = 'gap' AND state = 'due' AND tries = 0
"""
_LATEST_GAP = """
    SELECT MAX(next_at) FROM deliveries WHERE mailbox = ? AND endpoint = ? AND ended IS NULL AND type = 'gap'
"""


@dataclass(frozen=True, slots=True)
class Due:
    """Something that one endpoint is to be told. `id` is made when it is written, and stays on every attempt."""

    mailbox: str
    endpoint: str
    type: str
    body: str
    """JSON, complete: the same octets at each attempt."""
    folder: str | None = None
    """With `uid_validity` and `uid` the message that it is about, if it is about one."""
    uid_validity: int | None = None
    uid: int | None = None


def enqueue(connection: Connection, due: Iterable[Due], now: datetime) -> None:
    """Within a transaction: to be delivered from now on; what is for a disabled endpoint is for nobody."""
    groups: dict[tuple[str, str], list[Due]] = {}
    for one in due:
        groups.setdefault((one.mailbox, one.endpoint), []).append(one)
    for (mailbox, endpoint), group in groups.items():
        disabled, gaps = connection.execute(_KNOWN, (mailbox, endpoint)).fetchone() or (None, 0)
        if disabled is None:
            for one in group:
                _insert(connection, one, now, to_text(now))
            _bound(connection, mailbox, endpoint, now, tells=bool(gaps))
            connection.announce(DELIVERIES, mailbox)


def body_of(event: str, now: datetime, data: Mapping[str, Any]) -> str:
    """The payload of an event: its type, its time and its data, as Standard Webhooks has them."""
    return orjson.dumps({"type": event, "timestamp": to_text(now), "data": dict(data)}).decode()


def new_id() -> str:
    """`evt_` and 128 random bits in hex (Standard Webhooks: an id has no dot)."""
    return f"evt_{secrets.token_hex(16)}"


def _insert(connection: Connection, one: Due, now: datetime, at: str) -> None:
    what = (one.mailbox, one.endpoint, one.type, one.body, one.folder, one.uid_validity, one.uid)
    connection.execute(_INSERT, (new_id(), *what, to_text(now), at))


def _bound(connection: Connection, mailbox: str, endpoint: str, now: datetime, *, tells: bool) -> None:
    """Push out the oldest that are too many, and let one event that nobody was told of yet say how many they were."""
    (waiting,) = connection.execute(_OPEN, (mailbox, endpoint)).fetchone()
    if waiting <= MOST_WAITING:
        return
    gap = connection.execute(_UNTOLD_GAP, (mailbox, endpoint)).fetchone()
    over = waiting - MOST_WAITING + (1 if tells and gap is None else 0)
    pushed = connection.execute(_PUSH_OUT, (_PUSHED_OUT, to_text(now), mailbox, endpoint, over)).rowcount
    if not tells:
        return
    if gap is None:
        body = body_of(GAP, now, {"mailbox": mailbox, "dropped": pushed})
        _insert(connection, Due(mailbox, endpoint, GAP, body), now, _next_gap(connection, mailbox, endpoint, now))
    else:
        told = orjson.loads(gap[1])
        told["data"]["dropped"] += pushed
        connection.execute("UPDATE deliveries SET body = ? WHERE id = ?", (orjson.dumps(told).decode(), gap[0]))


def _next_gap(connection: Connection, mailbox: str, endpoint: str, now: datetime) -> str:
    """With the last that was attempted in vain: until then it counts on, or gaps would take the place of events."""
    (latest,) = connection.execute(_LATEST_GAP, (mailbox, endpoint)).fetchone()
    return max(to_text(now), latest or "")
