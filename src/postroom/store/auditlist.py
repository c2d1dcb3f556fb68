"""Reading the audit trail as a list: newest first, filtered, in pages of bounded work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection
from typing import Any

import orjson

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


_SELECT = """
    SELECT seq, line FROM audit
    WHERE seq < :top AND seq >= :low
    AND (json_extract(line, '$.phase') != 'intent' OR seq IN (SELECT seq FROM audit_open))
    AND (:action IS NOT NULL OR json_extract(line, '$.phase') != 'summary')
    AND coalesce(json_extract(line, '$.mailbox'), '') IN (SELECT value FROM json_each(:mailboxes))
    AND (:token IS NULL OR json_extract(line, '$.token') = :token)
    AND (:mailbox IS NULL OR json_extract(line, '$.mailbox') = :mailbox)
    AND (:action IS NULL OR json_extract(line, '$.action') = :action)
    AND (:outcome IS NULL OR json_extract(line, '$.outcome') = :outcome)
    AND (:since IS NULL OR json_extract(line, '$.at') >= :since)
    AND (:until IS NULL OR json_extract(line, '$.at') < :until)
    ORDER BY seq DESC LIMIT :most
"""


async def listing(db: Database, wanted: Wanted) -> Listed:
    """Records as they stand in the trail."""
    return await db.read(lambda connection: _listing(connection, wanted))


def _listing(connection: Connection, wanted: Wanted) -> Listed:
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM audit").fetchone()
    top = last + 1 if wanted.before is None else min(wanted.before, last + 1)
    low = max(1, top - _WINDOW)
    values = {
        "top": top,
        "low": low,
        "most": wanted.limit + 1,
        "mailboxes": orjson.dumps(["", *wanted.mailboxes]).decode(),
        "since": None if wanted.since is None else to_text(wanted.since),
        "until": None if wanted.until is None else to_text(wanted.until),
        **{name: getattr(wanted, name) for name in ("token", "mailbox", "action", "outcome")},
    }
    rows = connection.execute(_SELECT, values).fetchall()
    kept = rows[: wanted.limit]
    more = kept[-1][0] if len(rows) > wanted.limit else low if low > 1 else None
    return Listed(tuple(orjson.loads(line) for _, line in kept), more)
