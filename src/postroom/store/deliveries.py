"""The webhook queue: what each endpoint is to be told, in the words that it will be told in, until it was."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from postroom.store.connection import Connection
from postroom.store.times import to_text

_INSERT = """
    INSERT INTO deliveries
        (id, mailbox, endpoint, type, body, folder, uid_validity, uid, state, created, next_at, tries)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'due', ?, ?, 0)
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
    """Within a transaction: to be delivered from now on."""
    moment = to_text(now)
    for one in due:
        where = (one.folder, one.uid_validity, one.uid)
        connection.execute(_INSERT, (new_id(), one.mailbox, one.endpoint, one.type, one.body, *where, moment, moment))


def new_id() -> str:
    """`evt_` and 128 random bits in hex (Standard Webhooks: an id has no dot)."""
    return f"evt_{secrets.token_hex(16)}"
