"""The tokens the gateway issued: who may call, what for, and until when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime

from postroom.base.caller import Scope, Toolset
from postroom.store import audit
from postroom.store.audit import Event
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.times import from_text, to_text
from postroom.store.worker import StoreError

_COLUMNS = 'id, name, hash, scopes, mailboxes, created, expires, revoked, last_used_day, toolset, "user", profile'
_INSERT = f"INSERT INTO tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants
_SELECT = f"SELECT {_COLUMNS} FROM tokens"  # noqa: S608 - constants
_REVOCABLE = f"{_SELECT} WHERE (name = ? OR id = ?) AND revoked IS NULL ORDER BY created, id"
_TOUCH = "UPDATE tokens SET last_used_day = ? WHERE id = ? AND coalesce(last_used_day, '') < ?"


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What is known of a token; the token itself is not, only `sha256:` and the hex digits of its hash."""

    id: str
    name: str
    hash: str
    scopes: frozenset[Scope]
    mailboxes: frozenset[str]
    created: datetime
    expires: datetime | None
    revoked: datetime | None = None
    last_used: date | None = None
    """The day only: the hour would tell of its owner's habits."""
    toolset: Toolset = Toolset.MAILBOX
    user: str | None = None
    """Whose it is, of one that is bound to a profile."""
    profile: str | None = None

    def live(self, now: datetime) -> bool:
        """Whether it may be used at that time."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class NameTakenError(StoreError):
    """A live token has this name already."""


async def create(db: Database, record: TokenRecord) -> None:
    """Keep a new token, and say so in the audit; NameTakenError if another that is live then has the name."""
    await db.write(lambda connection: _create(connection, record))


async def listing(db: Database) -> list[TokenRecord]:
    """All tokens, also those that ended, oldest first."""
    return await db.read(lambda connection: _select(connection, f"{_SELECT} ORDER BY created, id"))


async def by_hash(db: Database, hash_: str) -> TokenRecord | None:
    """The token with this hash, live or not."""
    found = await db.glance(lambda connection: _select(connection, f"{_SELECT} WHERE hash = ?", hash_))
    return found[0] if found else None


async def revoke(db: Database, name_or_id: str, at: datetime) -> list[TokenRecord]:
    """End every token of that name or id that was not revoked yet, and return those; none if there is none."""
    return await db.write(lambda connection: _revoke(connection, name_or_id, at))


async def touch(db: Database, token_id: str, day: date) -> None:
    """Note that the token was used on that day; an earlier day than the noted one changes nothing."""
    await db.write(lambda connection: _touch(connection, token_id, day))


def _create(connection: Connection, record: TokenRecord) -> None:
    same = _select(connection, f"{_SELECT} WHERE name = ?", record.name)
    if any(other.live(record.created) for other in same):
        raise NameTakenError(f"there is a token named {record.name} already; revoke it, or take another name")
    connection.execute(_INSERT, _row(record))
    facts: dict[str, object] = {"id": record.id, "scopes": sorted(record.scopes), "mailboxes": sorted(record.mailboxes)}
    if record.profile is not None:
        facts |= {"toolset": record.toolset, "identity": f"{record.user}/{record.profile}"}
    audit.add(connection, [Event("event", "cli.token.create", record.created, token=record.name, facts=facts)])


def _revoke(connection: Connection, name_or_id: str, at: datetime) -> list[TokenRecord]:
    found = _select(connection, _REVOCABLE, name_or_id, name_or_id)
    for record in found:
        connection.execute("UPDATE tokens SET revoked = ? WHERE id = ?", (to_text(at), record.id))
    revoked = [replace(record, revoked=at) for record in found]
    audit.add(
        connection,
        [Event("event", "cli.token.revoke", at, token=record.name, facts={"id": record.id}) for record in revoked],
    )
    return revoked


def _touch(connection: Connection, token_id: str, day: date) -> None:
    connection.execute(_TOUCH, (day.isoformat(), token_id, day.isoformat()))


def _select(connection: Connection, query: str, *values: str) -> list[TokenRecord]:
    return [_record(*row) for row in connection.execute(query, values)]


def _row(record: TokenRecord) -> tuple[str | None, ...]:
    return (
        record.id,
        record.name,
        record.hash,
        " ".join(sorted(record.scopes)),
        " ".join(sorted(record.mailboxes)),
        to_text(record.created),
        None if record.expires is None else to_text(record.expires),
        None if record.revoked is None else to_text(record.revoked),
        None if record.last_used is None else record.last_used.isoformat(),
        str(record.toolset),
        record.user,
        record.profile,
    )


def _record(  # noqa: PLR0913 - each column is an argument
    id_: str,
    name: str,
    hash_: str,
    scopes: str,
    mailboxes: str,
    created: str,
    expires: str | None,
    revoked: str | None,
    last_used_day: str | None,
    toolset: str,
    user: str | None,
    profile: str | None,
) -> TokenRecord:
    return TokenRecord(
        id=id_,
        name=name,
        hash=hash_,
        scopes=frozenset(map(Scope, scopes.split())),
        mailboxes=frozenset(mailboxes.split()),
        created=from_text(created),
        expires=None if expires is None else from_text(expires),
        revoked=None if revoked is None else from_text(revoked),
        last_used=None if last_used_day is None else date.fromisoformat(last_used_day),
        toolset=Toolset(toolset),
        user=user,
        profile=profile,
    )
