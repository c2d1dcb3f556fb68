"""Sending: a new message, an answer, a draft; each at most once."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from postroom.base.caller import Scope
from postroom.base.errors import GatewayError, invalid
from postroom.mail.model import Shown
from postroom.mail.outgoing.compose import checked
from postroom.mail.outgoing.model import Outgoing, StrictAddress
from postroom.mail.outgoing.replying import Reply
from postroom.mailbox.drafts import Drafts, Saved
from postroom.mailbox.faults import why_undone
from postroom.mailbox.judge import Answered, Purpose, answered
from postroom.mailbox.outbox import Outbox
from postroom.mailbox.sentcopy import Copy
from postroom.mailbox.view import MailboxView
from postroom.operations.access import Access
from postroom.operations.ask import Boolean, MailboxAsk, Uid
from postroom.operations.delivery import Case, Delivery, Sent, claim
from postroom.operations.drafting import Draft, check_may_save, left_out_of, note_recipients, saved_draft
from postroom.operations.journal import Entry, Facts
from postroom.operations.operation import SENDS, Call, operation
from postroom.operations.outgoing import (
    BodyAsk,
    Key,
    MessageAsk,
    check_may_attach,
    files_of,
    fingerprint,
    forwarding,
    recipients_of,
)
from postroom.store.sends import Claim

_SEND = Access(Scope.SEND)
_DRAFT_STAYS = "The draft stays where it is, since Sent has no copy; delete it when you need it no more."
_KEY_WORDS = "A retry with the same key is not sent again"


class Send(MessageAsk):
    idempotency_key: Annotated[Key | None, Field(description=_KEY_WORDS)] = None


class ReplyAsk(BodyAsk):
    uid: Uid
    folder: str | None = None
    reply_all: Boolean = False
    """A copy to everybody that the message was to, but for the mailbox's own addresses."""
    draft: Annotated[Boolean, Field(description="Save it as a draft, send nothing")] = False
    idempotency_key: Key | None = None
    """A retry with the same key is not sent again."""


class SendDraft(MailboxAsk):
    uid: Uid
    idempotency_key: Key | None = None
    """A retry with the same key is not sent again; without one, none with the same uid is."""


@operation("POST /mailboxes/{mailbox}/send", title="Send mail", effect=SENDS, access=_SEND, audited=recipients_of)
async def send(call: Call, ask: Send) -> Sent:
    """Send a new message. It is delivered at once and cannot be undone; when unsure, use create_draft."""
    check_may_attach(call, ask.attachments)
    outbox = call.outbox(ask.mailbox)
    outbox.check_can_send()
    sender = outbox.sender(ask.author)
    if not (ask.to or ask.cc or ask.bcc):
        raise invalid("to", "give at least one address in to, cc or bcc")

    async def meant(message_id: str) -> Outgoing:
        return Outgoing(
            from_=sender,
            to=ask.to or (),
            cc=ask.cc or (),
            bcc=ask.bcc or (),
            reply_to=ask.reply_to or (),
            subject=ask.subject or "",
            text=ask.body_text or None,
            html=ask.body_html or None,
            files=await files_of(call, ask),
            message_id=message_id,
            date=call.now(),
        )

    print_ = await fingerprint("send", outbox.name, ask)
    claimed = claim(call, outbox, sender, print_, ask.idempotency_key)
    return await Delivery(call, outbox, claimed, meant, case=Case(forwarding(ask))).once()


@operation(
    "POST /mailboxes/{mailbox}/messages/{uid}/reply",
    title="Reply",
    effect=SENDS,
    access=Access(Scope.SEND, instead={"draft": Scope.DRAFT}),
    audited=lambda ask: {"messages": 1, "draft": ask.draft},
)
async def reply(call: Call, ask: ReplyAsk) -> Sent | Draft:
    """Answer a message; recipients, subject and thread are derived. With draft: true it is saved, else sent at once."""
    check_may_attach(call, ask.attachments)
    view, outbox = call.mailbox(ask.mailbox), call.outbox(ask.mailbox)
    view.check_uids([ask.uid], whole=True, several=False)
    sender = outbox.sender(ask.author)
    print_ = await fingerprint("reply", outbox.name, ask)
    claimed = claim(call, outbox, sender, print_, ask.idempotency_key)
    answer = _Answering(call, ask, view, outbox, sender)
    if ask.draft:
        return await _saved(call, claimed, answer, view.drafts)
    outbox.check_can_send()

    async def afterwards(_: Copy) -> str | None:
        try:
            await view.mark_answered(ask.folder, ask.uid)
        except GatewayError as error:
            return f"The answer was sent: do not send it again. But the message is not marked so: {why_undone(error)}"
        return None

    case = Case(Purpose.REPLY_ALL if ask.reply_all else Purpose.REPLY, answer.answered, view.drafts)
    return await Delivery(call, outbox, claimed, answer.meant, afterwards, answer.said, case).once()


@operation("POST /mailboxes/{mailbox}/drafts/{uid}/send", title="Send a draft", effect=SENDS, access=_SEND)
async def send_draft(call: Call, ask: SendDraft) -> Sent:
    """Send a draft. It is delivered at once and cannot be undone; when unsure, leave it a draft."""
    outbox, drafts = call.outbox(ask.mailbox), call.mailbox(ask.mailbox).drafts
    outbox.check_can_send()
    sender = outbox.sender(None)
    number, uid_validity = await drafts.numbers(ask.uid)

    async def meant(message_id: str) -> Outgoing:
        draft = await drafts.read(ask.uid, sender, call.place.take)
        return replace(draft.message, message_id=message_id, date=call.now())

    async def sent(copy: Copy) -> str | None:
        return _DRAFT_STAYS if copy.state == "failed" else await drafts.discard(ask.uid)

    name = f"{outbox.name} {number}-{uid_validity}"
    claimed = claim(call, outbox, sender, hashlib.sha256(f"draft {name}".encode()).hexdigest(), ask.idempotency_key)
    if uid_validity:
        claimed = replace(claimed, key=claimed.key or f"draft {name}", automatic=False, draft=ask.uid)
    elif claimed.automatic:  # without a numbering a uid may come to name another draft
        claimed = replace(claimed, key=None)
    async with drafts.held(ask.uid):
        case = Case(Purpose.SEND_DRAFT, draft_uid=ask.uid)
        told = await Delivery(call, outbox, claimed, meant, sent, case=case).once()
        if told.repeated and told.outcome == "accepted" and uid_validity and told.sent_copy != "failed":
            await drafts.discard(ask.uid)  # it may still be there if nobody knew until now that it was sent
    return told


class _Answering:
    """An answer to a message that is read only when it is certain that it was not sent before."""

    def __init__(self, call: Call, ask: ReplyAsk, view: MailboxView, outbox: Outbox, sender: StrictAddress) -> None:
        self._call = call
        self._ask = ask
        self._view = view
        self.outbox = outbox
        self._sender = sender
        self.reply: Reply | None = None
        self.derived: frozenset[str] = frozenset()
        self._shown: Shown | None = None
        self._signals: list[str] = []

    async def meant(self, message_id: str) -> Outgoing:
        ask = self._ask
        shown = await self._view.message(ask.folder, ask.uid)
        self._shown = shown
        if shown.reading is not None and "reply_to_differs" in shown.reading.signals:
            self._signals = ["reply_to_differs"]
        self.reply, self.derived = self.outbox.reply(shown, everyone=ask.reply_all)
        return Outgoing(
            from_=self._sender,
            to=self.reply.to,
            cc=self.reply.cc,
            subject=self.reply.subject,
            text=ask.body_text or None,
            html=ask.body_html or None,
            files=await files_of(self._call, ask),
            message_id=message_id,
            date=self._call.now(),
            in_reply_to=self.reply.in_reply_to,
            references=self.reply.references,
        )

    async def answered(self) -> tuple[Answered | None, frozenset[str]]:
        """What is answered, for whoever judges the answer, and whom the gateway took from it."""
        if self._shown is None:
            return None, self.derived
        thread = await self._view.conversation(self._ask.folder, self._ask.uid)
        return answered(self._shown, thread), self.derived

    def said(self) -> dict[str, list[str]]:
        """What the caller should know of whom this goes to."""
        return {"signals": self._signals, "warnings": left_out_of(self.reply)}


async def _saved(call: Call, claim: Claim, answer: _Answering, drafts: Drafts) -> Draft:
    """An answer as a draft; with a key of the caller's, saved once."""

    async def attempt(entry: Entry) -> Facts:
        meant = checked(await answer.meant(claim.message_id))
        note_recipients(call, meant)
        await check_may_save(call, answer.outbox, meant, answer.derived)
        await entry.handing(_draft_facts(meant, answer, Saved(None, "")))
        try:
            saved = await drafts.save(meant)
        except GatewayError as error:
            if error.details.get("outcome") != "unknown":
                entry.rejected()
            raise
        await entry.accepted(facts := _draft_facts(meant, answer, saved))
        return facts

    async def found(message_id: str) -> bool:
        if await drafts.saved(message_id) is None:
            raise drafts.perhaps_saved()
        return True

    keyed = claim if not claim.automatic else replace(claim, key=None)
    facts, repeated = await call.journal.once(keyed, attempt, found, counts=False)
    told = {name: value for name, value in facts.items() if name in Draft.model_fields}
    if repeated and told["uid"] is None and (saved := await drafts.saved(facts["message_id"])):
        told |= {"uid": saved.uid, "folder": saved.folder}
    return Draft(**told)


def _draft_facts(meant: Outgoing, answer: _Answering, saved: Saved) -> Facts:
    return {"message_id": meant.message_id, **saved_draft(saved, meant, answer.reply).json_ready()}
