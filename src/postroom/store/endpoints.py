"""Endpoints of webhooks as deliveries left them: working, failing since when, or disabled until somebody acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from postroom.store import audit
from postroom.store.audit import Event
from postroom.store.connection import Connection
from postroom.store.courierqueue import Place, drop_all
from postroom.store.database import Database
from postroom.store.times import from_text, to_text

_GONE = "the configuration has this webhook no more"
_DISABLED = "the endpoint was disabled"

_REGISTER = """
    INSERT INTO endpoints (mailbox, name, settings, gaps) VALUES (?, ?, ?, ?)
    ON CONFLICT (mailbox, name) DO UPDATE SET
        failing_since = CASE WHEN endpoints.settings = excluded.settings THEN endpoints.failing_since END,
        disabled = CASE WHEN endpoints.settings = excluded.settings THEN endpoints.disabled END,
        settings = excluded.settings,
        gaps = excluded.gaps
"""
_FAILING = "UPDATE endpoints SET failing_since = ? WHERE mailbox = ? AND name = ? AND failing_since IS NULL"
_WORKING = "UPDATE endpoints SET failing_since = NULL WHERE mailbox = ? AND name = ? AND failing_since IS NOT NULL"
_TRIED = """
    SELECT 1 FROM deliveries
    WHERE mailbox = ? AND endpoint = ? AND tries >= ? AND state IN ('due', 'running', 'failed')
        AND (ended IS NULL OR ended >= ?) LIMIT 1
"""
_DISABLE = "UPDATE endpoints SET disabled = ? WHERE mailbox = ? AND name = ? AND disabled IS NULL"
_ENABLE = "UPDATE endpoints SET disabled = NULL, failing_since = NULL WHERE mailbox = ? AND name = ?"
_STANDING = """
    SELECT failing_since, disabled, (
        SELECT COUNT(*) FROM deliveries AS d
        WHERE d.mailbox = endpoints.mailbox AND d.endpoint = endpoints.name AND d.ended IS NULL
    ) FROM endpoints WHERE mailbox = ? AND name = ?
"""


@dataclass(frozen=True, slots=True)
class Registered:
    """An endpoint of the configuration; a disabled one whose `settings` have changed begins anew."""

    mailbox: str
    name: str
    settings: str
    """A hash of where it is posted to and signed by what."""
    gaps: bool
    """It wants to be told how many events it missed."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How an endpoint does, and how many events wait for it."""

    failing_since: datetime | None = None
    disabled: datetime | None = None
    waiting: int = 0


def register(connection: Connection, known: Sequence[Registered], now: datetime) -> None:
    """At the start: these are all there are; what waits for any other is told to nobody."""
    for one in known:
        connection.execute(_REGISTER, (one.mailbox, one.name, one.settings, int(one.gaps)))
    left = {(one.mailbox, one.name) for one in known}
    for place in connection.execute("SELECT mailbox, name FROM endpoints").fetchall():
        if tuple(place) not in left:
            connection.execute("DELETE FROM endpoints WHERE mailbox = ? AND name = ?", tuple(place))
            drop_all(connection, tuple(place), _GONE, now)


def failing(connection: Connection, place: Place, now: datetime) -> datetime:
    """An attempt failed: since when nothing has succeeded."""
    connection.execute(_FAILING, (to_text(now), *place))
    row = connection.execute("SELECT failing_since FROM endpoints WHERE mailbox = ? AND name = ?", place).fetchone()
    return now if row is None or row[0] is None else from_text(row[0])


def working(connection: Connection, place: Place) -> bool:
    """An attempt succeeded; whether the one before it had failed."""
    return connection.execute(_WORKING, place).rowcount == 1


def was_tried(connection: Connection, place: Place, times: int, since: datetime) -> bool:
    """Whether an event was attempted so often, and did not succeed, that is on its way or ended after that moment."""
    return connection.execute(_TRIED, (*place, times, to_text(since))).fetchone() is not None


def disable(connection: Connection, place: Place, reason: str, now: datetime) -> bool:
    """Nothing more is told to it; the audit says so. False if that is so already."""
    if connection.execute(_DISABLE, (to_text(now), *place)).rowcount != 1:
        return False
    drop_all(connection, place, _DISABLED, now)
    mailbox, name = place
    facts = {"endpoint": name, "reason": reason}
    audit.add(connection, [Event("event", "webhook.disabled", now, mailbox=mailbox, outcome="ok", facts=facts)])
    return True


async def enable(db: Database, place: Place, now: datetime) -> Standing:
    """It is told again of what happens from now on; how it stood before."""

    def enabled(connection: Connection) -> Standing:
        before = _standing(connection, place)
        connection.execute(_ENABLE, place)
        facts = {"endpoint": place[1]}
        audit.add(connection, [Event("event", "cli.webhook.enable", now, mailbox=place[0], facts=facts)])
        return before

    return await db.write(enabled)


async def standing(db: Database, place: Place) -> Standing:
    """How it does; one that no gateway has met yet does well."""
    return await db.read(lambda connection: _standing(connection, place))


def _standing(connection: Connection, place: Place) -> Standing:
    row = connection.execute(_STANDING, place).fetchone()
    if row is None:
        return Standing()
    since, disabled, waiting = row
    return Standing(from_text(since) if since else None, from_text(disabled) if disabled else None, waiting)
