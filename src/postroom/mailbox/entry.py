"""A configured mailbox with its two sides; it stays inside this package, since the account in it is unfiltered."""

from __future__ import annotations

from dataclasses import dataclass

from postroom.config import MailboxConfig
from postroom.mailbox.account import Account
from postroom.mailbox.sentcopy import SentCopies
from postroom.smtp import Submitter


@dataclass(frozen=True, slots=True)
class Entry:
    """One configured mailbox; without IMAP or SMTP that side is None."""

    settings: MailboxConfig
    account: Account | None
    submitter: Submitter | None
    copies: SentCopies | None
    """Of what it sends; None without both sides."""
