"""One message from its claim in the journal, under whatever policy binds its caller, to its copy in Sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pydantic import Field

from postroom.base.caller import Toolset
from postroom.base.errors import Code, GatewayError
from postroom.base.levels import Outcome
from postroom.mail.outgoing.compose import checked
from postroom.mail.outgoing.model import Cleared, Outgoing, StrictAddress
from postroom.mailbox.drafts import Drafts
from postroom.mailbox.judge import Answered, Judge, Judgement, Plan, Purpose, is_sent, refusal
from postroom.mailbox.outbox import Outbox
from postroom.mailbox.sending import Taken
from postroom.mailbox.sentcopy import Copy
from postroom.operations.answer import Answer
from postroom.operations.books import stopped_by_operator
from postroom.operations.journal import Entry, Facts
from postroom.operations.operation import Call, Surface
from postroom.store.sends import Claim, State


class Refused(Answer):
    """A recipient that the server did not take, with its codes (RFC 5321, RFC 3463)."""

    address: str
    code: int
    """Of SMTP."""
    enhanced: str = ""
    """Such as 5.1.1, where the server gives one."""
    temporary: bool
    """The server may take it later."""


class Sent(Answer):
    """A message that the server has taken; or, of a token whose policy wants a person to send it, a draft."""

    outcome: str
    """accepted, or drafted: it lies in Drafts for a person to send, and need not be sent again."""
    uid: str = ""
    """Set only for a draft."""
    reasons: list[str] = Field(default_factory=list)
    """Set only for a draft: why it was not sent."""
    message_id: str = ""
    """Set only for a message that was sent."""
    from_: str = Field(alias="from")
    to: list[str]
    cc: list[str]
    accepted: list[str]
    """Recipients that the server took it for, those of bcc among them."""
    refused: list[Refused]
    """Recipients that it did not."""
    sent_copy: str = ""
    """filed, by_server, failed, or none where there is no IMAP."""
    signals: list[str] = Field(default_factory=list)
    """Set only for an answer that goes elsewhere than to the author."""
    warnings: list[str] = Field(default_factory=list)
    """Set only if there are any."""
    repeated: bool
    """It was sent before, by a call with the same key, and not again."""


async def _nothing(_: Copy) -> None:
    return None


async def _nobody() -> tuple[Answered | None, frozenset[str]]:
    return None, frozenset()


@dataclass(frozen=True, slots=True)
class Case:
    """What a policy asks about a message beside what it says, and where it goes if it is not sent."""

    purpose: Purpose
    answered: Callable[[], Awaitable[tuple[Answered | None, frozenset[str]]]] = _nobody
    drafts: Drafts | None = None
    draft_uid: str | None = None
    """It lies in Drafts already."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message from its claim in the journal to its copy in Sent."""

    call: Call
    outbox: Outbox
    claim: Claim
    meant: Callable[[str], Awaitable[Outgoing]]
    """The message under this Message-ID."""
    afterwards: Callable[[Copy], Awaitable[str | None]] = _nothing
    """What else to do once it was taken; a warning if that failed, and no error."""
    said: Callable[[], dict[str, list[str]]] = dict
    case: Case = Case(Purpose.SEND)

    async def once(self) -> Sent:
        facts, repeated = await self.call.journal.once(self.claim, self._attempt, self.outbox.is_in_sent)
        self.call.note(outcome=facts["outcome"], accepted=facts["accepted"], refused=len(facts["refused"]))
        self.call.note(sent_copy=facts["sent_copy"], repeated=repeated)
        return Sent(**{name: value for name, value in facts.items() if value or name in _ALWAYS}, repeated=repeated)

    async def _attempt(self, entry: Entry) -> Facts:
        outgoing = checked(await self.meant(self.claim.message_id))
        octets = await self.outbox.compose(outgoing)
        self.call.note(message_id=outgoing.message_id, sha256=await _digest(octets))
        self.call.note(recipients=[one.address for one in outgoing.recipients])
        judge = self.outbox.judge
        if judge is None:
            return await self._sent(entry, outgoing, await self.outbox.clear(outgoing, octets, None))
        judgement = await self._judged(judge, await self._plan(outgoing, len(octets)))
        try:
            if not is_sent(judgement):
                return await self._not_sent(entry, outgoing, judgement)
            return await self._sent(entry, outgoing, await self.outbox.clear(outgoing, octets, judgement))
        except GatewayError as error:
            if error.details.get("outcome") == "rejected" or entry.state is State.BEGUN:
                await judge.forget(outgoing.message_id)
            raise

    async def _judged(self, judge: Judge, plan: Plan) -> Judgement:
        """What becomes of it; what is sent, or held for a person, counts from now on."""
        async with judge.turn():
            for _ in range(_MOST_JUDGED):
                counted = await judge.counted()
                judgement = await judge.judge(plan)
                self.call.note(decision=judgement.outcome.name.lower(), rules=[one.rule for one in judgement.reasons])
                counts = is_sent(judgement) or self._is_held(judgement)
                if not counts or await judge.note(plan, held=not is_sent(judgement), after=counted):
                    return judgement
        message = "Too many messages of this identity are sent at once. Nothing was sent; try again."
        raise GatewayError(Code.CONFLICT, message, retryable=True, retry_after=1)

    def _is_held(self, judgement: Judgement) -> bool:
        """It ends as a draft that a person may send; a relay's caller has none."""
        return judgement.outcome is not Outcome.DENY and self.call.caller.toolset is not Toolset.RELAY

    async def _plan(self, outgoing: Outgoing, octets: int) -> Plan:
        told, derived = await self.case.answered()
        own = self.case.purpose is Purpose.SEND_DRAFT
        return Plan(outgoing, octets, self.case.purpose, told, derived, own_draft=own)

    async def _not_sent(self, entry: Entry, outgoing: Outgoing, judgement: Judgement) -> Facts:
        if not self._is_held(judgement):
            raise refusal(judgement)
        uid, warnings = self.case.draft_uid, list[str]()
        if uid is None:
            saved = await (self.case.drafts or self.call.mailbox(self.outbox.name).drafts).save(outgoing)
            uid, warnings = saved.uid, [saved.warning] if saved.warning else []
        facts = {
            "outcome": "drafted",
            "uid": uid,
            "reasons": list(dict.fromkeys(one.sentence for one in judgement.decisive)),
            "from": str(outgoing.from_),
            "to": list(map(str, outgoing.to)),
            "cc": list(map(str, outgoing.cc)),
            "accepted": [],
            "refused": [],
            "sent_copy": "",
            "warnings": warnings,
        }
        await entry.accepted(facts)
        return facts

    async def _sent(self, entry: Entry, outgoing: Outgoing, cleared: Cleared) -> Facts:
        async def before_message(expected: Taken) -> None:
            if await self.call.stopped():
                raise stopped_by_operator()
            await entry.handing(self._facts(outgoing, expected))

        taken = await self.outbox.submit(cleared, before_message)
        return await self._finish(entry, outgoing, cleared, self._facts(outgoing, taken))

    async def _finish(self, entry: Entry, outgoing: Outgoing, cleared: Cleared, facts: dict[str, Any]) -> Facts:
        """The server has it: nothing that fails from here on is an error."""
        _, copy = await asyncio.gather(entry.accepted(facts), self.outbox.file_copy(outgoing, cleared))
        warnings = [*facts["warnings"], copy.warning, await self.afterwards(copy)]
        facts |= {"sent_copy": copy.state, "warnings": [one for one in warnings if one]}
        entry.more(facts)
        return facts

    def _facts(self, outgoing: Outgoing, taken: Taken) -> dict[str, Any]:
        return {
            "outcome": "accepted",
            "message_id": outgoing.message_id,
            "from": str(outgoing.from_),
            "to": list(map(str, outgoing.to)),
            "cc": list(map(str, outgoing.cc)),
            "accepted": list(taken.recipients),
            "refused": list(taken.refused),
            "sent_copy": self.outbox.copy_before,
            **({"signals": [], "warnings": []} | self.said()),
        }


async def _digest(octets: bytes) -> str:
    """SHA-256 of the octets that leave, in lower-case hex."""
    hashed = sha256(octets) if len(octets) < _MUCH else await asyncio.to_thread(sha256, octets)
    return hashed.hexdigest()


_MOST_JUDGED = 50
"""Times that a message is judged while other gateways count more of the same identity."""
_MUCH = 65_536
"""Octets that are not hashed on the loop."""
_ALWAYS = ("to", "cc", "accepted", "refused")


def claim(call: Call, outbox: Outbox, sender: StrictAddress, print_: str, key: str | None) -> Claim:
    """A caller's key is its own word; a call of a model without one is known again by what it says."""
    named = f"key {sha256(key.encode()).hexdigest()}" if key is not None else None
    if named is None and call.surface is Surface.MCP:
        named = f"same {print_}"
    return Claim(
        request=call.request,
        token=call.caller.token,
        key=named,
        automatic=key is None,
        fingerprint=print_,
        mailbox=outbox.name,
        message_id=outbox.new_message_id(sender),
        identity=call.caller.identity if call.caller.binding is not None else "",
    )
