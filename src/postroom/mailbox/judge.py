"""What a bound caller's policy makes of what it wants to send, over its records and the mail that it may see."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from postroom.base.errors import Code, GatewayError
from postroom.base.kleene import Truth
from postroom.base.levels import Outcome
from postroom.mail.model import Shown
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import StrictAddress
from postroom.mailbox.bound import Bound
from postroom.mailbox.records import senders_of
from postroom.policy.detectors import found
from postroom.policy.outbound import Judgement, judge
from postroom.policy.outbound.compiling import WayOut
from postroom.policy.outbound.correspondence import asked_about
from postroom.policy.outbound.files import with_files
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.outbound.plan import Answered, Plan, SendEvidence, SentRecord
from postroom.policy.outbound.plan import Operation as Purpose
from postroom.policy.outbound.replies import PolicyReply, reply_under
from postroom.policy.outbound.rules import OutboundRules
from postroom.policy.people import named_in
from postroom.store.own import Own, OwnMessage

__all__ = ["Answered", "Judge", "Judgement", "Means", "Plan", "Purpose", "answered", "is_sent", "refusal"]

_LOOKED_BACK = timedelta(days=31)
"""How long ago what was sent may still count."""
Keys = frozenset[str]


@dataclass(frozen=True, slots=True)
class Means:
    """What judging takes beside the caller's sight."""

    way: WayOut
    own: Own
    secrets: OwnSecrets
    turn: asyncio.Lock
    """One message of an identity is judged and counted at a time."""


class Judge:
    """Of one caller and one mailbox."""

    def __init__(self, sight: Bound, means: Means) -> None:
        self._sight = sight
        self._means = means

    @property
    def rules(self) -> Sequence[OutboundRules]:
        """Of each policy, the grant first."""
        return self._means.way.rules

    def reply(self, shown: Shown, identities: Identities, *, everyone: bool) -> PolicyReply:
        """Whom an answer to a message goes to, and of what it is one."""
        threading = None if shown.withheld else shown.threading  # drafts and what was sent would tell its ids
        return reply_under(shown.head, identities, self.rules, everyone=everyone, threading=threading)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """While a message is judged and counted: of this gateway's one at a time."""
        async with self._means.turn:
            yield

    async def counted(self) -> int:
        """How many messages count so far: asked for before one is judged, and told when it is noted."""
        return await self._means.own.count()

    async def judge(self, plan: Plan) -> Judgement:
        """How it ends, at the most. Raises a `GatewayError` if what it rests on cannot be had now."""
        files = plan.outgoing.files
        if files:
            plan = await asyncio.to_thread(with_files, plan)
        evidence = await self._evidence()
        asked = asked_about(plan, self.rules, evidence)
        if asked:
            evidence = replace(evidence, correspondents=await self._correspondents(asked))
        if not files and len(plan.outgoing.text or "") + len(plan.outgoing.html or "") < 4_096:
            return judge(plan, evidence, self.rules)
        return await asyncio.to_thread(judge, plan, evidence, self.rules)

    async def note(self, plan: Plan, *, held: bool, after: int) -> bool:
        """It is about to be handed over, or to a person as a draft: from now on it counts.

        False if another gateway has counted one since there were `after`: then it must be judged anew.
        """
        keys = tuple(one.key for one in plan.outgoing.recipients)
        written_to = await self._means.own.written_to()
        thread = plan.answered.thread if plan.answered else ""
        new = sum(key not in written_to for key in keys)
        message = OwnMessage(plan.outgoing.message_id, self._sight.now(), keys, new, plan.octets, thread, held)
        return await self._means.own.note_sent(message, after)

    async def forget(self, message_id: str) -> None:
        """It was refused: it counts no more."""
        await self._means.own.forget_sent(message_id)

    async def _evidence(self) -> SendEvidence:
        own, known, now = self._means.own, self._means.way.known, self._sight.now()
        sent = await own.sent(now - _LOOKED_BACK)
        return SendEvidence(
            now=now,
            internal=known.internal,
            own=known.own,
            contacts=known.contacts,
            secrets=self._means.secrets,
            detect=found,
            sent=tuple(map(_record, sent)),
            written_to=await own.written_to(),
            untrusted_read=await own.last_untrusted_read(),
            reads_known=True,
        )

    async def _correspondents(self, asked: Iterable[StrictAddress]) -> dict[str, Truth]:
        """Whether these wrote, in mail that the caller may see and that DMARC does not call forged."""
        told: dict[str, Truth] = dict.fromkeys((one.key for one in asked), False)
        for folder in await self._sight.incoming():
            if all(told.values()):
                break
            for row in await self._sight.seen(folder):
                if self._sight.judged(row).authentication.dmarc != "fail":
                    told |= dict.fromkeys(told.keys() & senders_of([row]).keys(), True)
        return told


def _record(message: OwnMessage) -> SentRecord:
    return SentRecord(
        at=message.at,
        recipients=frozenset(message.recipients),
        new_recipients=message.new_recipients,
        octets=message.octets,
        message_id=message.message_id,
        thread=message.thread,
    )


def answered(shown: Shown, thread: Sequence[Shown]) -> Answered:
    """A message that the caller sees, as one that is answered; `thread` is what it sees of the conversation."""
    people = {
        one.key
        for message in thread
        for field in message.written.fields
        if field.name.lower() in ("from", "reply-to", "to", "cc")
        for one in named_in(field.value).addresses
    }
    ids = [message.threading.message_id or message.uid for message in thread] or [shown.uid]
    return Answered(shown.written, frozenset(people), ids[0])


def is_sent(judgement: Judgement) -> bool:
    return judgement.outcome is Outcome.SEND


def refusal(judgement: Judgement) -> GatewayError:
    """What a caller is told whose message may not even be saved, or which cannot be: the reasons that decide."""
    reasons = judgement.decisive
    addresses = list(dict.fromkeys(address for one in reasons for address in one.addresses))
    details: dict[str, object] = {"outcome": judgement.outcome.name.lower()}
    details |= {"recipients": addresses} if addresses else {}
    return GatewayError(Code.POLICY_DENIED, " ".join(dict.fromkeys(one.sentence for one in reasons)), **details)
