"""Reading the audit trail as a list: newest first, filtered, in pages of bounded work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import to_text

_WINDOW = 50_000
"""Records that one page looks at: a rare filter over a long trail is answered in several pages."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Records of these mailboxes and of none, before record `before` and with each value that is given.

    Of a call that has ended it is its outcome, of one that has not its intent. Counts of a minute are listed only
    for an action that is named.
    """

    mailboxes: Sequence[str]
    limit: int
    before: int | None = None
    token: str | None = None
    mailbox: str | None = None
    action: str | None = None
    outcome: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """The records, and where to go on: before that record, or None at the end."""

    records: tuple[dict[str, Any], ...]
    next: int | None


_NAMED = ("token", "mailbox", "action", "outcome")


async def listing(db: Database, wanted: Wanted) -> Listed:
    """Records as they stand in the trail."""
    return await db.read(lambda connection: _listing(connection, wanted))


def _listing(connection: Connection, wanted: Wanted) -> Listed:
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM audit").fetchone()
    top = last + 1 if wanted.before is None else min(wanted.before, last + 1)
    low = max(1, top - _WINDOW)
    conditions = [("seq < ?", top), ("seq >= ?", low), *_conditions(wanted)]
    where = " AND ".join(condition for condition, *_ in conditions)
    query = f"SELECT seq, line FROM audit WHERE {where} ORDER BY seq DESC LIMIT ?"  # noqa: S608 - constants
    values = [value for _, *values in conditions for value in values]
    rows = connection.execute(query, (*values, wanted.limit + 1)).fetchall()
    kept = rows[: wanted.limit]
    more = kept[-1][0] if len(rows) > wanted.limit else low if low > 1 else None
    return Listed(tuple(orjson.loads(line) for _, line in kept), more)


def _conditions(wanted: Wanted) -> Iterator[tuple[Any, ...]]:
    """Each condition with its values."""
    yield (f"({_said('phase')} <> 'intent' OR seq IN (SELECT seq FROM audit_open))",)  # noqa: S608 - constants
    if wanted.action is None:
        yield (f"{_said('phase')} <> 'summary'",)
    places = ", ".join("?" for _ in ("", *wanted.mailboxes))
    yield f"coalesce({_said('mailbox')}, '') IN ({places})", "", *wanted.mailboxes
    for name in _NAMED:
        if (value := getattr(wanted, name)) is not None:
            yield f"{_said(name)} = ?", value
    if wanted.since is not None:
        yield f"{_said('at')} >= ?", to_text(wanted.since)
    if wanted.until is not None:
        yield f"{_said('at')} < ?", to_text(wanted.until)


def _said(name: str) -> str:
    return f"json_extract(line, '$.{name}')"
