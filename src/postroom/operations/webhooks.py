"""What became of deliveries to webhooks, and one of them queued again."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from postroom.base.caller import Scope
from postroom.base.errors import Code, GatewayError, not_found
from postroom.config import MailboxConfig
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Integer, MailboxAsk
from postroom.operations.operation import READS, Call, Effect, operation
from postroom.operations.rows import affordable
from postroom.operations.trail import unwritable
from postroom.store.connection import Connection
from postroom.store.courierqueue import State
from postroom.store.deliverylist import Listed, find, is_disabled, queue_again

_ENVELOPE = 100
"""Characters of an answer beside its list."""
_QUEUES = Effect(read_only=False, idempotent=False, destructive=False, open_world=True)


class DeliveriesAsk(MailboxAsk):
    limit: Annotated[Integer, Field(ge=1, le=500)] = 20
    status: Literal["due", "running", "delivered", "failed", "dropped"] | None = None


class ReplayAsk(MailboxAsk):
    delivery_id: str


class Delivery(Answer):
    """An event for one webhook; what it says of its message is in no record."""

    id: str
    """The same on every attempt, and in the header webhook-id."""
    endpoint: str
    """Name of the webhook."""
    type: str
    """Of the event, such as message.received."""
    state: str
    """due, running, delivered, failed (ten attempts were in vain) or dropped (not to be told any more)."""
    created: str
    """ISO 8601 in UTC."""
    attempts: int
    """How many were begun."""
    next_attempt: str | None
    """ISO 8601 in UTC; null when there is none."""
    status_code: int | None
    """HTTP status of the last answer; null where there was none."""
    said: str | None
    """How the last answer began, which is the receiver's word, or why there was none."""


class Deliveries(Answer):
    deliveries: list[Delivery]
    """Newest first."""
    left_out: int = 0
    """Set only when there are more deliveries than a model is shown."""


class Replayed(Answer):
    """Queued again, under the same id and in the same words."""

    id: str
    endpoint: str
    """Name of the webhook."""
    state: str
    """due."""


@operation(
    "GET /mailboxes/{mailbox}/webhooks/deliveries",
    title="Webhook deliveries",
    effect=READS,
    access=Access(Scope.ADMIN),
)
async def webhook_deliveries(call: Call, ask: DeliveriesAsk) -> Deliveries:
    """What was told to one mailbox's webhooks, newest first."""
    mailbox = call.directory.named(call.caller, ask.mailbox).name
    if call.books is None:  # nothing is delivered here
        return Deliveries(deliveries=[])
    found = await call.books.queue.listing(mailbox, None if ask.status is None else State(ask.status), ask.limit)
    told = list(map(_told, found))
    kept = affordable(told, call.budget and call.budget - _ENVELOPE)
    return Deliveries(deliveries=told[:kept], **({"left_out": len(told) - kept} if kept < len(told) else {}))


@operation(
    "POST /mailboxes/{mailbox}/webhooks/deliveries/{delivery_id}/replay",
    title="Replay a delivery",
    effect=_QUEUES,
    access=Access(Scope.ADMIN),
)
async def replay_webhook(call: Call, ask: ReplayAsk) -> Replayed:
    """Queue a recorded delivery again, under the same id."""
    mailbox = call.directory.named(call.caller, ask.mailbox)
    if call.books is None:
        raise unwritable()
    now = call.now()

    def queued(connection: Connection) -> Listed:
        known = find(connection, mailbox.name, ask.delivery_id)
        if known is None:
            raise not_found("There is no such delivery. Use an id that webhook_deliveries returns.")
        _check(known, mailbox, disabled=is_disabled(connection, mailbox.name, known.endpoint))
        queue_again(connection, mailbox.name, known.id, now)
        return known

    known = await call.books.queue.replay(queued)
    call.note(delivery=known.id, endpoint=known.endpoint)
    return Replayed(id=known.id, endpoint=known.endpoint, state=State.DUE.value)


def _check(known: Listed, mailbox: MailboxConfig, *, disabled: bool) -> None:
    """Raises `conflict` with what to do for what cannot be delivered again now."""
    where = f"Webhook {known.endpoint} of mailbox {mailbox.name}"
    if known.endpoint not in {one.name for one in mailbox.webhooks}:
        message = f"{where} is not in the configuration any more; the operator must add it first."
        raise GatewayError(Code.CONFLICT, message, reason="endpoint_gone", endpoint=known.endpoint)
    if disabled:
        command = f"postroom webhook enable {mailbox.name} {known.endpoint}"
        message = f"{where} is disabled; once its receiver works, the operator runs: {command}."
        raise GatewayError(Code.CONFLICT, message, reason="endpoint_disabled", endpoint=known.endpoint)
    if known.state is State.RUNNING:
        message = "This delivery is being attempted now. Look at it again in half a minute."
        raise GatewayError(Code.CONFLICT, message, reason="in_progress", retryable=True, retry_after=30)


def _told(one: Listed) -> Delivery:
    return Delivery(
        id=one.id,
        endpoint=one.endpoint,
        type=one.type,
        state=one.state.value,
        created=one.created,
        attempts=one.tries,
        next_attempt=one.next_at if one.state is State.DUE else None,
        status_code=one.status,
        said=one.said,
    )
