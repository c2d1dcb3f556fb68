"""One mailbox's way out for one caller: who it may speak as, one attempt for each message, the copy in Sent."""

from __future__ import annotations

import asyncio
from functools import cached_property
from uuid import uuid4

from postroom.base.errors import Code, GatewayError
from postroom.config import MailboxConfig
from postroom.mail.model import Shown
from postroom.mail.outgoing.compose import compose, new_message_id
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import Cleared, Outgoing, StrictAddress
from postroom.mail.outgoing.replying import Reply, derive_reply
from postroom.mailbox.judge import Judge
from postroom.mailbox.sending import BeforeMessage, Taken, hand_over
from postroom.mailbox.sentcopy import Copy, SentCopies
from postroom.policy.outbound import Judgement, check_sendable, clear, permit_sender
from postroom.smtp import Submitter

_MUCH = 256 * 1024
"""Octets of text and files from which on a message is another thread's work."""


class Outbox:
    """Made anew for each call by the directory; what it remembers is the mailbox's."""

    def __init__(
        self,
        settings: MailboxConfig,
        submitter: Submitter | None,
        copies: SentCopies | None,
        judge: Judge | None = None,
    ) -> None:
        self.name = settings.name
        self.judge = judge
        """What binds the caller; None for nothing."""
        self._settings = settings
        self._submitter = submitter
        self._copies = copies

    @cached_property
    def identities(self) -> Identities:
        return Identities.read(self._settings.sender_identities, self._settings.own_address)

    def sender(self, given: str | None) -> StrictAddress:
        """Who speaks. Raises `validation_error`, or `invalid_identity` for nobody that mail may be sent as."""
        sender = self.identities.sender(given)
        self.check_sender(sender)
        return sender

    def check_sender(self, sender: StrictAddress) -> None:
        """Raises `invalid_identity` for nobody that mail may be sent as."""
        permit_sender(sender, self.identities)

    def reply(self, shown: Shown, *, everyone: bool) -> tuple[Reply, frozenset[str]]:
        """The answer to a message, and the keys of those of its recipients whom the caller did not name."""
        if self.judge is not None:
            under = self.judge.reply(shown, self.identities, everyone=everyone)
            return under.reply, under.derived
        reply = derive_reply(shown.head, self.identities, everyone=everyone, threading=shown.threading)
        return reply, frozenset()

    def new_message_id(self, sender: StrictAddress) -> str:
        return new_message_id(sender, uuid4())

    def check_can_send(self) -> None:
        """Raises `conflict` for a mailbox that can only be read."""
        self._sends()

    async def compose(self, outgoing: Outgoing) -> bytes:
        """The octets that would leave. Raises `validation_error` and `invalid_identity`."""
        check_sendable(outgoing, self.identities)
        return compose(outgoing) if _size(outgoing) < _MUCH else await asyncio.to_thread(compose, outgoing)

    async def clear(self, outgoing: Outgoing, octets: bytes, judgement: Judgement | None) -> Cleared:
        """The octets with leave to be sent: a bound caller's message has it by its judgement alone."""
        if (judgement is None) != (self.judge is None):
            raise ValueError("a message is judged by the policy of a bound caller, and of no other")
        if len(octets) < _MUCH:
            return clear(outgoing, octets, self.identities, judgement)
        return await asyncio.to_thread(clear, outgoing, octets, self.identities, judgement)

    async def submit(self, cleared: Cleared, before_message: BeforeMessage) -> Taken:
        """One attempt. Raises `smtp_error` as `hand_over` does; some recipients may be refused.

        A bound caller's message goes to all of its recipients or to none.
        """
        partial = self.judge is None
        return await hand_over(self._sends(), self.name, cleared, partial=partial, before_message=before_message)

    async def file_copy(self, outgoing: Outgoing, cleared: Cleared) -> Copy:
        """A copy in Sent, with Bcc, which only its owner reads."""
        if self._copies is None:
            return Copy("none")
        octets = cleared.octets
        if outgoing.bcc:
            octets = await asyncio.to_thread(compose, outgoing, draft=True)
        return await self._copies.file(octets, cleared.message_id)

    @property
    def copy_before(self) -> str:
        """What is known of a copy before `file_copy`."""
        return "none" if self._copies is None else self._copies.state_before

    async def is_in_sent(self, message_id: str) -> bool:
        """Whether Sent has it: then the server took it, for of what nobody knows no copy was filed."""
        return self._copies is not None and await self._copies.holds(message_id)

    def _sends(self) -> Submitter:
        if self._submitter is None:
            message = f"Mailbox {self.name} has no SMTP server; it can only be read. A draft can still be saved."
            raise GatewayError(Code.CONFLICT, message, argument="mailbox")
        return self._submitter


def _size(outgoing: Outgoing) -> int:
    return len(outgoing.text or "") + len(outgoing.html or "") + sum(len(file.octets) for file in outgoing.files)
