"""What an operator reads of the audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from postroom.base.caller import Scope
from postroom.mail.query.filters import read_moment
from postroom.mailbox.cursors import Position
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask, Integer
from postroom.operations.operation import READS, Call, operation
from postroom.operations.rows import Fields, affordable, is_brief
from postroom.store.auditlist import Wanted

_ENVELOPE = 100
"""Characters of an answer beside its list."""


class AuditAsk(Ask):
    limit: Annotated[Integer, Field(ge=1, le=500)] = 100
    token: str | None = None
    mailbox: str | None = None
    action: str | None = None
    outcome: Literal["ok", "refused", "failed", "unknown"] | None = None
    since: str | None = None
    before: str | None = None
    fields: Fields | None = None
    cursor: str | None = None


class AuditRecord(Answer):
    """What was done, tried or refused."""

    seq: int
    """Its number in the trail."""
    at: str
    """When, ISO 8601 in UTC."""
    action: str
    """`mcp.TOOL`, `http.TOOL`, `cli.COMMAND`, `auth.failure`, `config.load`, `gateway.start` or `gateway.stop`."""
    token: str | None
    """Public name of the token."""
    mailbox: str | None
    outcome: str | None
    """ok, refused, failed, unknown (the server may have done it); null while a call runs, and for a mere event."""
    code: str | None
    """Of the error that was answered."""
    request: str | None
    """What the intent and the outcome of a call have in common."""
    facts: dict[str, Any]
    """Numbers, recipients of outgoing mail, ids; never what a message says."""


class BriefAuditRecord(Answer):
    """The same in as few words as it takes; what is null or empty is not in it."""

    at: str
    """When, ISO 8601 in UTC."""
    action: str
    """As in a whole record."""
    token: str = ""
    """Public name of the token."""
    mailbox: str = ""
    outcome: str = ""
    """As in a whole record."""
    code: str = ""
    """Of the error that was answered."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """As in a whole record."""


class AuditLog(Answer):
    records: list[AuditRecord | BriefAuditRecord]
    """Newest first."""
    next_cursor: str = ""
    """Set only when there is more."""


@operation("GET /audit", title="Audit log", effect=READS, access=Access(Scope.ADMIN, every_mailbox=True))
async def audit_log(call: Call, ask: AuditAsk) -> AuditLog:
    """What was changed, sent or refused, newest first. Counts of reads only for an action you name (mcp.search)."""
    wanted = _wanted(call, ask)
    if call.books is None:  # nothing is written down here
        return AuditLog(records=[])
    cursors, now = call.directory.cursors(call.caller, _bound(wanted)), call.books.trail.now
    before = None if ask.cursor is None else cursors.read(ask.cursor, now).uid
    listed = await call.books.records(replace(wanted, before=before))
    make = _brief if is_brief(call, ask.fields) else _whole
    records = [make(record) for record in listed.records]
    kept = affordable(records, call.budget and call.budget - _ENVELOPE)
    after = listed.next if kept == len(records) else listed.records[kept - 1]["seq"]
    more = {} if after is None else {"next_cursor": cursors.write(Position(after, 0), now)}
    return AuditLog(records=records[:kept], **more)


def _wanted(call: Call, ask: AuditAsk) -> Wanted:
    since = None if ask.since is None else read_moment("since", ask.since)
    until = None if ask.before is None else read_moment("before", ask.before)
    return Wanted(
        mailboxes=[mailbox.name for mailbox in call.directory.visible(call.caller)],
        limit=ask.limit,
        token=ask.token,
        mailbox=None if ask.mailbox is None else call.directory.named(call.caller, ask.mailbox).name,
        action=ask.action,
        outcome=ask.outcome,
        since=since,
        until=until,
    )


def _bound(wanted: Wanted) -> tuple[bytes, ...]:
    """What a cursor is good for: these filters, whatever the page's size."""
    filters = (wanted.token, wanted.mailbox, wanted.action, wanted.outcome, wanted.since, wanted.until)
    return (b"audit_log", repr(filters).encode("utf-8", "surrogatepass"))


def _whole(record: Mapping[str, Any]) -> AuditRecord:
    told = {name: record.get(name) for name in AuditRecord.model_fields}
    return AuditRecord.model_validate(told | {"facts": record.get("facts", {})})


def _brief(record: Mapping[str, Any]) -> BriefAuditRecord:
    told = {name: record[name] for name in BriefAuditRecord.model_fields if name in record}
    return BriefAuditRecord.model_validate(told | {"at": f"{record['at'][:19]}Z"})
