"""What is judged before it is sent: the message as it is meant, and what the gateway knows of those it concerns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from postroom.base.kleene import Truth
from postroom.mail.model import Head
from postroom.mail.outgoing.model import Outgoing, StrictAddress
from postroom.policy.attachmentrules import PartFacts
from postroom.policy.outbound.ownsecrets import OwnSecrets


class Operation(StrEnum):
    """What the caller wants to do with a message."""

    SEND = "send"
    SEND_DRAFT = "send_draft"
    REPLY = "reply"
    REPLY_ALL = "reply_all"
    FORWARD = "forward"
    """With what this caller may see of the message."""
    FORWARD_RAW = "forward_raw"
    """With the message's own octets."""
    SAVE = "save"
    """As a draft, which only a person can send."""


class Finding(Protocol):
    """Where a detector finds something, and which one."""

    @property
    def name(self) -> str: ...


class Detect(Protocol):
    """What these detectors find in a text; words that tell of it may stand in the `context`."""

    def __call__(self, text: str, names: Collection[str], context: str = "") -> Iterable[Finding]: ...


class Addresses(Protocol):
    """Compiled address patterns."""

    def holds(self, address: StrictAddress) -> bool: ...


@dataclass(frozen=True, slots=True)
class Answered:
    """The message that is answered or forwarded, one that the caller may see."""

    head: Head
    """With all of its fields."""
    participants: frozenset[str] = frozenset()
    """Keys (`StrictAddress.key`) of From, Reply-To, To and Cc of the visible messages of its thread."""
    thread: str = ""
    """The name of the thread in the records of what was sent."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A message as somebody wants to send it."""

    outgoing: Outgoing
    octets: int
    """Of the composed message."""
    operation: Operation = Operation.SEND
    answered: Answered | None = None
    derived: frozenset[str] = frozenset()
    """Keys of recipients that the gateway took from the message answered: they are not told to the caller."""
    own_draft: bool = False
    """It was saved as a draft of this profile by an earlier request."""
    files: tuple[PartFacts, ...] = ()
    """What is known of each of its files, and of those that are forwarded."""
    file_texts: tuple[str, ...] = ()
    """The text in them, as far as it can be had."""
    file_pages: tuple[str, ...] = ()
    """The HTML in them, of which the same goes."""
    files_unread: bool = False
    """There is more text in them than could be had: it may say anything."""

    def supplied(self, addresses: tuple[StrictAddress, ...]) -> tuple[str, ...]:
        """Those of them that the caller named, as `local@domain`."""
        return tuple(one.address for one in addresses if one.key not in self.derived)


@dataclass(frozen=True, slots=True)
class SentRecord:
    """A message of this profile that was sent, or that waits for a person's leave."""

    at: datetime
    """Aware: when it was accepted."""
    recipients: frozenset[str]
    """Keys."""
    new_recipients: int
    """How many of them this profile had not written to before."""
    octets: int
    message_id: str
    thread: str = ""
    """As in `Answered`; empty for a message that answers none."""


@dataclass(frozen=True, slots=True)
class SendEvidence:
    """What the gateway's records, the configuration and visible mail tell; hidden mail tells nothing (POLICY 4.2 C14).

    What cannot be told is unknown, and counts against the message.
    """

    now: datetime
    """Aware, in UTC."""
    internal: Addresses
    """The mailbox's own organisation, and its own addresses."""
    own: Addresses
    """The mailbox's own addresses."""
    contacts: Addresses
    """The list `contacts`."""
    secrets: OwnSecrets
    detect: Detect
    correspondents: Mapping[str, Truth] = field(default_factory=lambda: MappingProxyType({}))
    """By key: whether they wrote in mail that the caller may see, and DMARC did not fail. Unknown if missing."""
    sent: tuple[SentRecord, ...] | None = None
    """Of the last seven days at least, and of the longest window of a policy; None if they cannot be had."""
    written_to: frozenset[str] | None = None
    """Keys of everybody whom this profile ever wrote to; None if it cannot be told."""
    untrusted_read: datetime | None = None
    """Aware: when this token last read the body of a message that is not internal."""
    reads_known: bool = False
    """Whether it is known what this token read; without it, `untrusted_read` says nothing."""
