"""The copy of what was sent, in Sent: filed by us, unless the server files its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from postroom.base.errors import GatewayError
from postroom.mailbox.account import Account
from postroom.mailbox.faults import why_undone
from postroom.mailbox.finding import uid_of
from postroom.mailbox.folders import Folder

_SENT = "Sent"
"""What Sent is called where there is none yet."""
_FILING_HOSTS = ("smtp.gmail.com", "smtp.googlemail.com", "smtp.office365.com", "smtp-mail.outlook.com")
"""Servers for submission that are known to file what they take."""

State = Literal["filed", "by_server", "failed", "none"]
PENDING = "pending"
"""Until it is known; written down, and never answered."""


@dataclass(frozen=True, slots=True)
class Copy:
    """`warning` is why there is none though there should be; then the message was sent all the same."""

    state: State
    warning: str | None = None


class SentCopies:
    """One mailbox's. What `auto` finds out is remembered while the process runs."""

    def __init__(self, account: Account, policy: Literal["auto", "yes", "no"], smtp_host: str) -> None:
        self._account = account
        self._by_server = {"yes": True, "no": False}.get(policy)
        if policy == "auto" and smtp_host.lower() in _FILING_HOSTS:
            self._by_server = True

    @property
    def state_before(self) -> str:
        """What is known of a copy before it was seen to."""
        return "by_server" if self._by_server else PENDING

    async def file(self, octets: bytes, message_id: str) -> Copy:
        """See to it that Sent has the message that the server has just taken. Never raises a `GatewayError`."""
        if self._by_server:
            return Copy("by_server")
        try:
            if self._by_server is None:
                sent = await self._account.made_special("sent", _SENT)
                self._by_server = await self._is_there_already(sent, message_id)
                if self._by_server:
                    return Copy("by_server")
            await self._append(octets, message_id)
        except GatewayError as error:
            why = why_undone(error)
            return Copy("failed", f"The message was sent: do not send it again. But Sent has no copy of it: {why}")
        return Copy("filed")

    async def holds(self, message_id: str) -> bool:
        """Whether Sent has a message with this id; False also if that cannot be found out now."""
        try:
            sent = await self._account.special("sent")
            if sent is None:
                return False
            async with self._account.open(sent.name) as opened:
                return await uid_of(opened, message_id) is not None
        except GatewayError:
            return False

    async def _is_there_already(self, sent: Folder, message_id: str) -> bool:
        async with self._account.open(sent.name) as opened:
            return "X-GM-EXT-1" in opened.capabilities or await uid_of(opened, message_id, deep=False) is not None

    async def _append(self, octets: bytes, message_id: str) -> None:
        try:
            await self._account.file("sent", _SENT, octets, ["\\Seen"])
        except GatewayError as error:
            # It may have been filed before the connection was lost.
            if error.details.get("reason") not in ("lost", "timeout") or not await self.holds(message_id):
                raise
