"""How messages ended that were sent through the gateway, told to whoever may know that they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from postroom.base.clock import Clock
from postroom.events.endpoint import Endpoint
from postroom.store.deliveries import Due, body_of
from postroom.store.sends import Known

SEND_OUTCOME = "send.outcome"


def outcomes_for(endpoints: Sequence[Endpoint], clock: Clock) -> Callable[[Known, str], Sequence[Due]]:
    """From a message and its outcome to what is due: a bound endpoint hears of its own identity's messages alone."""

    def due(known: Known, outcome: str) -> list[Due]:
        told = [one for one in endpoints if _concerns(one, known)]
        data = {"mailbox": known.mailbox, "message_id": known.message_id, "outcome": outcome}
        body = body_of(SEND_OUTCOME, clock.now(), data)
        return [Due(one.mailbox, one.name, SEND_OUTCOME, body) for one in told]

    return due


def _concerns(endpoint: Endpoint, known: Known) -> bool:
    if endpoint.mailbox != known.mailbox or not endpoint.wants(SEND_OUTCOME):
        return False
    return not endpoint.is_bound or endpoint.caller.identity == known.identity
