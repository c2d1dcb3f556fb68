"""The key that seals audit records: a new one each day, made from the old one, which is then erased."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from datetime import date, datetime

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.worker import StoreError

_BYTES = 32


@dataclass(frozen=True, slots=True)
class DayKey:
    """The key of one day on which something was recorded; the first has number 0."""

    number: int
    day: date
    secret: bytes = field(repr=False)

    def next(self, day: date) -> DayKey:
        """The key after this one (HKDF-Expand, RFC 5869): from it, this one cannot be found."""
        secret = HKDFExpand(algorithm=SHA256(), length=_BYTES, info=b"postroom audit: next").derive(self.secret)
        return DayKey(self.number + 1, day, secret)


def sealed(key: DayKey, octets: bytes) -> str:
    """HMAC-SHA256 in hex."""
    return hmac.digest(key.secret, octets, "sha256").hex()


async def present_key(db: Database) -> DayKey | None:
    """The key of the last record, or None before there is one."""
    return await db.read(stored_key)


def stored_key(connection: Connection) -> DayKey | None:
    row = connection.execute("SELECT number, day, secret FROM audit_key").fetchone()
    try:
        return None if row is None else DayKey(row[0], date.fromisoformat(row[1]), row[2])
    except ValueError as failure:
        raise StoreError("the audit key in the database is not one") from failure


def key_of(connection: Connection, at: datetime) -> DayKey:
    """The key for a record of that time, within a transaction. A clock that went back keeps the key it has."""
    key, day = stored_key(connection), at.date()
    if key is not None and day <= key.day:
        return key
    key = DayKey(0, day, secrets.token_bytes(_BYTES)) if key is None else key.next(day)
    connection.execute("DELETE FROM audit_key")
    connection.execute("INSERT INTO audit_key VALUES (?, ?, ?)", (key.number, key.day.isoformat(), key.secret))
    return key
