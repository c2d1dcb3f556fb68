"""Reading the audit trail back: whatever was changed, removed, added or cut is found, and the place is named."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any

import orjson

from postroom.store.audit import NOTHING_BEFORE, Tip, canonical
from postroom.store.auditkeys import DayKey, sealed, stored_key
from postroom.store.connection import Connection
from postroom.store.database import Database


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong at a record; `seq` is its number."""

    seq: int
    words: str

    def __str__(self) -> str:
        return f"record {self.seq:,}: {self.words}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`records` were read, `sealed` of them have a seal that could be checked with the keys at hand."""

    records: int
    sealed: int
    findings: tuple[Finding, ...]


_MOST_FINDINGS = 100
_PAGE = 5_000
_FIRST = "SELECT seq, CAST(line AS BLOB) FROM audit ORDER BY seq LIMIT ?"
_NEXT = "SELECT seq, CAST(line AS BLOB) FROM audit WHERE seq > ? ORDER BY seq LIMIT ?"


async def verify(db: Database, known: Sequence[Tip], first_key: DayKey | None = None) -> Verdict:
    """Read every record. `known` are records noted elsewhere, as in `audit.head`; read them before calling.

    Without `first_key` only the last day's seals can be checked, since older keys are erased.
    """
    return await db.read(lambda connection: _verify(connection, known, first_key))


def _verify(connection: Connection, known: Sequence[Tip], first_key: DayKey | None) -> Verdict:
    reading = _Reading(known, first_key, stored_key(connection))
    for seq, line in _records(connection):
        reading.take(seq, line)
        if len(reading.findings) >= _MOST_FINDINGS:
            break
    else:
        reading.end()
    return Verdict(reading.records, reading.sealed, tuple(reading.findings[:_MOST_FINDINGS]))


def _records(connection: Connection) -> Iterator[tuple[int, bytes]]:
    """All of them by their numbers, as octets: a text that is no UTF-8 is a finding, not a failure of the reading."""
    rows = connection.execute(_FIRST, (_PAGE,)).fetchall()
    while rows:
        yield from rows
        rows = connection.execute(_NEXT, (rows[-1][0], _PAGE)).fetchall() if len(rows) == _PAGE else ()


class _Reading:
    """One walk over the records in their order."""

    def __init__(self, known: Sequence[Tip], first: DayKey | None, present: DayKey | None) -> None:
        self.findings: list[Finding] = []
        self.records = self.sealed = 0
        self._known: dict[int, list[str]] = {}
        for tip in known:
            self._known.setdefault(tip.seq, []).append(tip.hash)
        self._present = present
        self._keys = {key.number: key for key in (first, present) if key is not None}
        self._before = Tip(0, NOTHING_BEFORE)
        self._key_number = 0

    def take(self, seq: int, line: bytes) -> None:
        self.records += 1
        if seq < 1:
            self._found(seq, "has a number that no record has; it was moved or put there")
            return
        here = Tip(seq, sha256(line).hexdigest())
        record = _parsed(line)
        if record is None:
            self._found(seq, "is not a record; it was changed or put there")
        else:
            self._judge(seq, record)
        if any(hash_ != here.hash for hash_ in self._known.pop(seq, ())):
            self._found(
                seq, "is not the one that was noted outside of the trail; it was changed, or all of it rewritten"
            )
        self._before = here

    def end(self) -> None:
        """What should have followed."""
        last = self._before.seq
        if missing := max((seq for seq in self._known if seq > last), default=0):
            self._found(last + 1, f"and all after it up to {missing:,} at least are missing; the end was cut off")
        for seq in sorted(seq for seq in self._known if 0 < seq <= last):
            self._found(seq, "was noted outside of the trail and is missing")
        if self._present is None:
            if self.records:
                self._found(last, "has no key any more; it was removed from the database")
        elif self.records == 0 or self._key_number != self._present.number:
            self._found(last + 1, "and what followed is missing; the last day's key sealed more than is here")

    def _judge(self, seq: int, record: Mapping[str, Any]) -> None:
        self._judge_place(seq, record)
        self._judge_seal(seq, record)

    def _judge_place(self, seq: int, record: Mapping[str, Any]) -> None:
        before = self._before
        if seq != before.seq + 1:
            more = f", and so are all up to {seq - 1:,}" if seq > before.seq + 2 else ""
            self._found(before.seq + 1, f"is missing{more}")
        elif record.get("prev") != before.hash:
            words = "does not follow from the one before it; one of the two was changed, or something was put or taken"
            self._found(seq, words)
        if record.get("seq") != seq:
            self._found(seq, f"calls itself {record.get('seq')!r:.40}; it was moved or copied here")

    def _judge_seal(self, seq: int, record: Mapping[str, Any]) -> None:
        number = record.get("key")
        if not isinstance(number, int) or number < self._key_number:
            self._found(seq, "names a key out of turn; it was changed")
            return
        self._key_number = number
        key = self._key(number)
        if key is None:
            return
        body = {name: value for name, value in record.items() if name != "mac"}
        if hmac.compare_digest(sealed(key, canonical(body)).encode(), str(record.get("mac")).encode()):
            self.sealed += 1
        else:
            self._found(seq, "has a seal that is not its own; it was changed")

    def _key(self, number: int) -> DayKey | None:
        """The key of that number, made from the one before where that is at hand."""
        if number not in self._keys and (before := self._keys.get(number - 1)) is not None:
            self._keys[number] = before.next(date.min)
        return self._keys.get(number)

    def _found(self, seq: int, words: str) -> None:
        self.findings.append(Finding(seq, words))


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The record, if the line is exactly how a record is written."""
    try:
        record = orjson.loads(line)
        return record if isinstance(record, dict) and canonical(record) == line else None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # the latter: nested deeper than it writes
        return None
