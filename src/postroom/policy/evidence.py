"""What is at hand of a message when rules judge it; what is not is None, and makes an answer unknown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol

from postroom.base.kleene import Truth
from postroom.mail.model import Authentication, Head, Part

Source = Literal["visible", "own", "sent"]
"""Where an address may be known from: visible mail, what this profile sent through the gateway, the Sent folder."""


class Known(Protocol):
    """What the gateway's own records and visible mail tell. None where they cannot be asked here."""

    def in_reply_to_own(self, ids: tuple[str, ...]) -> Truth:
        """Whether some of these Message-IDs is of a message that this profile sent."""
        ...

    def known_correspondent(self, address: str, source: Source) -> Truth:
        """Whether `local@domain` is known from there, this message left out."""
        ...


class NobodyAsked:
    """Records that tell nothing."""

    def in_reply_to_own(self, ids: tuple[str, ...]) -> Truth:
        return None

    def known_correspondent(self, address: str, source: Source) -> Truth:
        return None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message as far as it was looked at.

    Its head must hold the header fields that `Messages.fields` names, if the message has them.
    """

    head: Head
    now: datetime
    """Aware."""
    received_at: datetime | None = None
    """INTERNALDATE, aware."""
    size: int | None = None
    """RFC822.SIZE."""
    flags: frozenset[str] | None = None
    """As the server tells them, such as `\\Seen`."""
    authentication: Authentication = field(default_factory=Authentication)
    """Of `mail.authentication`: from trusted results alone."""
    dkim_domains: frozenset[str] | None = None
    """Of `mail.authentication.signing_domains`."""
    signals: frozenset[str] | None = None
    """Of `mail.signals.SIGNALS`, once the content was read."""
    parts: tuple[Part, ...] | None = None
    """Attachments."""
    subject: str | None = None
    """The filtered subject, nothing redacted, once detectors have seen it; "" without one."""
    text: str | None = None
    """The filtered text, nothing redacted, whole; "" without one."""
    is_whole: bool = False
    """The content was read whole: `truncated` says of what is shown alone that it is cut."""
    found_in_subject: frozenset[str] | None = None
    """Names of detectors, and of patterns of the operator, that find something there."""
    found_in_body: frozenset[str] | None = None
    known: Known = field(default_factory=NobodyAsked)

    def without_content(self) -> Evidence:
        """What a list has at hand."""
        return replace(
            self,
            signals=None,
            parts=None,
            subject=None,
            text=None,
            is_whole=False,
            found_in_subject=None,
            found_in_body=None,
        )
