"""Sending: a new message, an answer, a draft; each at most once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from postroom.base.caller import Scope
from postroom.base.errors import GatewayError, invalid
from postroom.mail.outgoing.compose import checked
from postroom.mail.outgoing.model import Cleared, Outgoing, StrictAddress
from postroom.mail.outgoing.replying import Reply, derive_reply
from postroom.mailbox.drafts import Drafts, Saved
from postroom.mailbox.faults import why_undone
from postroom.mailbox.outbox import Outbox
from postroom.mailbox.sending import Taken
from postroom.mailbox.sentcopy import Copy
from postroom.mailbox.view import MailboxView
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Boolean, MailboxAsk, Uid
from postroom.operations.books import stopped_by_operator
from postroom.operations.drafting import Draft, left_out_of, note_recipients, saved_draft
from postroom.operations.journal import Entry, Facts
from postroom.operations.operation import SENDS, Call, Surface, operation
from postroom.operations.outgoing import (
    BodyAsk,
    Key,
    MessageAsk,
    check_may_attach,
    files_of,
    fingerprint,
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
    """A message that the server has taken."""

    outcome: str
    """accepted: the only one that is no error."""
    message_id: str
    from_: str = Field(alias="from")
    to: list[str]
    cc: list[str]
    accepted: list[str]
    """Recipients that the server took it for, those of bcc among them."""
    refused: list[Refused]
    """Recipients that it did not."""
    sent_copy: str
    """filed, by_server, failed, or none where there is no IMAP."""
    signals: list[str] = Field(default_factory=list)
    """Set only for an answer that goes elsewhere than to the author."""
    warnings: list[str] = Field(default_factory=list)
    """Set only if there are any."""
    repeated: bool
    """It was sent before, by a call with the same key, and not again."""


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
    claim = _claim(call, outbox, sender, print_, ask.idempotency_key)
    return await _Delivery(call, outbox, claim, meant).once()


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
    claim = _claim(call, outbox, sender, print_, ask.idempotency_key)
    answer = _Answering(call, ask, view, outbox, sender)
    if ask.draft:
        return await _saved(call, claim, answer, view.drafts)
    outbox.check_can_send()

    async def answered(_: Copy) -> str | None:
        try:
            await view.mark_answered(ask.folder, ask.uid)
        except GatewayError as error:
            return f"The answer was sent: do not send it again. But the message is not marked so: {why_undone(error)}"
        return None

    return await _Delivery(call, outbox, claim, answer.meant, answered, answer.said).once()


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
    claim = _claim(call, outbox, sender, hashlib.sha256(f"draft {name}".encode()).hexdigest(), ask.idempotency_key)
    if uid_validity:
        claim = replace(claim, key=claim.key or f"draft {name}", automatic=False, draft=ask.uid)
    elif claim.automatic:  # without a numbering a uid may come to name another draft
        claim = replace(claim, key=None)
    async with drafts.held(ask.uid):
        told = await _Delivery(call, outbox, claim, meant, sent).once()
        if told.repeated and uid_validity and told.sent_copy != "failed":
            await drafts.discard(ask.uid)  # it may still be there if nobody knew until now that it was sent
    return told


class _Answering:
    """An answer to a message that is read only when it is certain that it was not sent before."""

    def __init__(self, call: Call, ask: ReplyAsk, view: MailboxView, outbox: Outbox, sender: StrictAddress) -> None:
        self._call = call
        self._ask = ask
        self._view = view
        self._outbox = outbox
        self._sender = sender
        self.reply: Reply | None = None
        self._signals: list[str] = []

    async def meant(self, message_id: str) -> Outgoing:
        ask = self._ask
        shown = await self._view.message(ask.folder, ask.uid)
        if shown.reading is not None and "reply_to_differs" in shown.reading.signals:
            self._signals = ["reply_to_differs"]
        self.reply = derive_reply(shown.head, self._outbox.identities, everyone=ask.reply_all)
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

    def said(self) -> dict[str, list[str]]:
        """What the caller should know of whom this goes to."""
        return {"signals": self._signals, "warnings": left_out_of(self.reply)}


async def _nothing(_: Copy) -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Delivery:
    """One message from its claim in the journal to its copy in Sent."""

    call: Call
    outbox: Outbox
    claim: Claim
    meant: Callable[[str], Awaitable[Outgoing]]
    """The message under this Message-ID."""
    afterwards: Callable[[Copy], Awaitable[str | None]] = _nothing
    """What else to do once it was taken; a warning if that failed, and no error."""
    said: Callable[[], dict[str, list[str]]] = dict

    async def once(self) -> Sent:
        facts, repeated = await self.call.journal.once(self.claim, self._attempt, self.outbox.is_in_sent)
        self.call.note(message_id=facts["message_id"], accepted=facts["accepted"], refused=len(facts["refused"]))
        self.call.note(sent_copy=facts["sent_copy"], repeated=repeated)
        return Sent(**{name: value for name, value in facts.items() if value or name in _ALWAYS}, repeated=repeated)

    async def _attempt(self, entry: Entry) -> Facts:
        outgoing = checked(await self.meant(self.claim.message_id))
        cleared = await self.outbox.clear(outgoing)
        self.call.note(message_id=cleared.message_id, sha256=await self.outbox.digest(cleared))
        self.call.note(recipients=list(cleared.recipients))

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


_ALWAYS = ("to", "cc", "accepted", "refused")


async def _saved(call: Call, claim: Claim, answer: _Answering, drafts: Drafts) -> Draft:
    """An answer as a draft; with a key of the caller's, saved once."""

    async def attempt(entry: Entry) -> Facts:
        meant = checked(await answer.meant(claim.message_id))
        note_recipients(call, meant)
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


def _claim(call: Call, outbox: Outbox, sender: StrictAddress, print_: str, key: str | None) -> Claim:
    """A caller's key is its own word; a call of a model without one is known again by what it says."""
    named = f"key {hashlib.sha256(key.encode()).hexdigest()}" if key is not None else None
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
    )
