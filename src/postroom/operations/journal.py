"""Sending at most once: a message is claimed before anything leaves, and a repeat hears what became of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.base.turns import StillTakenError, Turns
from postroom.mailbox.sending import unknown_outcome
from postroom.mailbox.sentcopy import PENDING
from postroom.operations.debts import Debts
from postroom.operations.trail import Trail, unwritable
from postroom.store import sends
from postroom.store.audit import Event
from postroom.store.connection import Connection
from postroom.store.database import Database
from postroom.store.deliveries import Due, enqueue
from postroom.store.sends import Claim, Claimed, Known, State, Tell
from postroom.store.worker import StoreError

PATIENCE = 60.0
"""Seconds that a repeat waits for the call that is sending the same message."""

_NO_COPY = "The message was sent, but no copy of it is found in Sent."
_LOOKS = 0.5
"""Seconds between looks at whether another gateway has sent it."""
_SETTLING = 300.0
_MOST_SETTLED = 50
"""Messages of unknown end that are looked for at a time."""

Facts = Mapping[str, Any]
"""What is answered, as JSON values."""


Outcomes = Callable[[Known, str], Sequence[Due]]
"""From a message and how it ended, or that nobody knows, to what is to be delivered to whom."""


def nobody(_: Known, __: str) -> Sequence[Due]:
    """Nobody wants to know."""
    return ()


class Entry:
    """One message on its way; what is told to it decides what a repeat will hear."""

    def __init__(self, database: Database, claim: Claim, gateway: str, debts: Debts, tell: Tell) -> None:
        self._database = database
        self._claim = claim
        self._gateway = gateway
        self._debts = debts
        self._tell = tell
        self.state = State.BEGUN

    async def handing(self, answer: Facts) -> None:
        """Before the first octet of the message leaves. `answer` is what will be true if the server takes it.

        Raises `unavailable` if it cannot be written down; then nothing may leave.
        """
        try:
            await sends.handing(self._database, self._claim.request, answer, self._gateway)
        except StoreError as failure:
            raise unwritable() from failure
        self.state = State.HANDING

    def rejected(self) -> None:
        """The server certainly does not have it."""
        self.state = State.BEGUN

    async def accepted(self, answer: Facts) -> None:
        """The server has it. A store that fails now changes nothing of that: it is written when it works again."""
        self.state = State.ACCEPTED
        with suppress(StoreError):
            await self.more(answer)

    def more(self, answer: Facts) -> sends.Soon:
        """What else there is to tell of a message that the server has."""
        request = self._claim.request
        return self._debts.write(request, lambda: sends.accepted_soon(self._database, request, answer, self._tell))


Attempt = Callable[[Entry], Awaitable[Facts]]
Found = Callable[[str], Awaitable[bool]]
"""Whether a Message-ID stands in Sent, where nobody but the server has put it."""


class Journal:
    """One for the process, over the table of sends."""

    def __init__(
        self, database: Database, clock: Clock, sends_per_hour: int, gateway: str = "", due: Outcomes = nobody
    ) -> None:
        self._database = database
        self._clock = clock
        self._most = sends_per_hour
        self._gateway = gateway
        self._due = due
        self._turns = Turns()
        self._debts = Debts()

    async def once(self, claim: Claim, attempt: Attempt, found: Found, *, counts: bool = True) -> tuple[Facts, bool]:
        """What came of the message, and whether that was known before: then nothing was done now.

        `attempt` sends it, or raises; whatever it raises frees the key, unless the server may have the message.
        What does not count as a message sent spends nothing. Raises `conflict` for a key that names another message
        or is in use, `rate_limited`, `smtp_error` with outcome `unknown` again, and what `attempt` raises.
        """
        async with self._turn(claim):
            claimed = await self._claimed(claim, self._most if counts else 0)
            if claimed.wait:
                raise self._too_many(claimed.wait)
            if claimed.known is not None:
                return await self._again(claim, claimed.known, found), True
            return await self._first(claim, attempt, counts), False

    async def settled(self, intent: Mapping[str, Any]) -> tuple[str, Facts] | None:
        """How a call ended that was cut off, as far as the journal knows: for the audit of the next start."""
        known = await sends.of_request(self._database, intent["request"])
        if known is None:
            tool = intent["action"].rpartition(".")[2]
            drafted = intent.get("facts", {}).get("draft")
            begun_at_all = tool in ("send", "send_draft") or (tool == "reply" and not drafted)
            return ("failed", {}) if begun_at_all else None
        how = {State.BEGUN: "failed", State.ACCEPTED: "ok"}.get(known.state, "unknown")
        return how, {"message_id": known.message_id}

    async def keep_settling(self, is_in_sent: Callable[[str, str], Awaitable[bool]], trail: Trail) -> None:
        """For as long as the process runs: look in Sent, by mailbox and Message-ID, for what may have left."""
        while True:
            await self._clock.sleep(_SETTLING)
            try:
                waiting = await sends.unknown(self._database, _MOST_SETTLED, self._clock.now())
            except StoreError:
                continue
            for known in waiting:
                if await is_in_sent(known.mailbox, known.message_id) and await self._is_settled_by_us(known):
                    facts = {"message_id": known.message_id, "request": known.request}
                    trail.later(
                        Event("event", "send.settled", trail.now, None, known.token, known.mailbox, "ok", facts=facts)
                    )

    async def recover(self) -> None:
        """After the audit has heard of it: nothing of a dead gateway is on its way. Raises StoreError.

        What we could not write when the store did not work is written now.
        """
        await sends.recover(self._database, self._clock.now(), self._gateway, self._tell)
        self._debts.pay()

    async def _claimed(self, claim: Claim, most: int) -> Claimed:
        """Once no other gateway is sending it."""
        deadline = self._clock.monotonic() + PATIENCE
        while True:
            try:
                claimed = await sends.claim(self._database, claim, most, self._clock.now(), self._gateway, self._tell)
            except StoreError as failure:
                raise unwritable() from failure
            if not claimed.is_under_way:
                return claimed
            if self._clock.monotonic() >= deadline:
                raise _in_progress()
            await self._clock.sleep(_LOOKS)

    async def _first(self, claim: Claim, attempt: Attempt, is_sent: bool) -> Facts:
        entry = Entry(self._database, claim, self._gateway, self._debts, self._tell)
        rejected = False
        try:
            return await attempt(entry)
        except GatewayError as error:
            if error.details.get("outcome") == sends.REJECTED:
                entry.rejected()
                rejected = is_sent
            raise
        finally:  # whatever it was, even being cancelled
            self._left(claim, entry.state, rejected=rejected)

    def _left(self, claim: Claim, state: State, *, rejected: bool) -> None:
        """What stands in the journal of an attempt that has ended so."""
        database, request, now = self._database, claim.request, self._clock.now()
        if state is State.BEGUN and rejected:
            self._debts.write(request, lambda: sends.rejected_soon(database, request, self._tell))
        elif state is State.BEGUN:
            self._debts.write(request, lambda: sends.forget_soon(database, request))
        elif state is State.HANDING:
            self._debts.write(request, lambda: sends.unknown_soon(database, request, now, self._tell))

    def _tell(self, connection: Connection, known: Known, outcome: str) -> None:
        enqueue(connection, self._due(known, outcome), self._clock.now())

    async def _again(self, claim: Claim, known: Known, found: Found) -> Facts:
        if known.fingerprint != claim.fingerprint:
            raise _another(claim)
        if known.token != claim.token:
            raise _sent_by_another()
        if known.state is State.ACCEPTED:
            return await self._whole(known, found)
        if not await found(known.message_id):
            raise unknown_outcome(known.mailbox, known.message_id, repeated=True)
        answer = _settled(known)
        self._settling(known, answer)
        return answer

    async def _whole(self, known: Known, found: Found) -> Facts:
        """The answer; of a call that was cut off before it saw to the copy in Sent, with what is there."""
        if known.answer.get("sent_copy") != PENDING:
            return known.answer
        if not await found(known.message_id):
            return {**known.answer, "sent_copy": "failed", "warnings": [*known.answer["warnings"], _NO_COPY]}
        answer = {**known.answer, "sent_copy": "filed"}
        self._debts.write(known.request, lambda: sends.accepted_soon(self._database, known.request, answer, self._tell))
        return answer

    async def _is_settled_by_us(self, known: Known) -> bool:
        try:
            return await self._settling(known, _settled(known))
        except StoreError:
            return False

    def _settling(self, known: Known, answer: Facts) -> sends.Soon:
        """It stands in Sent, so the server has it."""
        database, request, now = self._database, known.request, self._clock.now()
        return self._debts.write(request, lambda: sends.settled_soon(database, request, answer, now, self._tell))

    @asynccontextmanager
    async def _turn(self, claim: Claim) -> AsyncIterator[None]:
        if claim.key is None:
            yield
            return
        try:
            async with self._turns.of((claim.token, claim.key), PATIENCE):
                yield
        except StillTakenError:
            raise _in_progress() from None

    def _too_many(self, seconds: int) -> GatewayError:
        message = f"This token may send {self._most:,} messages an hour; try again in {seconds} s."
        return GatewayError(Code.RATE_LIMITED, message, retry_after=seconds, limit=self._most)


def _settled(known: Known) -> Facts:
    return {**known.answer, "sent_copy": "by_server"}


def _in_progress() -> GatewayError:
    message = "The same message is being sent by another call. Call again to hear what became of it."
    return GatewayError(Code.CONFLICT, message, reason="in_progress", retryable=True)


def _another(claim: Claim) -> GatewayError:
    if claim.draft is not None:
        message = "This key was used for another message. Give each message a key of its own, or none: a draft has one."
    else:
        message = "This key was used for another message. Give each message a key of its own."
    return GatewayError(Code.CONFLICT, message, argument="idempotency_key", retryable=False)


def _sent_by_another() -> GatewayError:
    message = "This draft was sent, or may have been, by another token's call. Look in Sent before anything else."
    return GatewayError(Code.CONFLICT, message, argument="uid", retryable=False)
