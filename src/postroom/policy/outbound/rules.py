"""The rules of one policy on what is sent, compiled. What a policy does not speak of is at its most permissive here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from postroom.base.kleene import Truth
from postroom.base.levels import Outcome
from postroom.config.policies.quiethours import Window
from postroom.policy.attachmentrules import PartFacts
from postroom.policy.contentrules import Spans
from postroom.policy.outbound.plan import Addresses

if TYPE_CHECKING:
    from postroom.policy.outbound.case import Case


class Circle(IntEnum):
    """To whom mail may go beside internal people."""

    THREAD = 0
    """The participants of the thread that is answered, and nobody else."""
    CORRESPONDENT = 1
    """Those who wrote, and contacts."""
    OFF = 2
    """Everybody."""


class ReplyTo(IntEnum):
    """Whether an answer goes where Reply-To points."""

    NEVER = 0
    SAME_DOMAIN = 1
    """If that is of the sender's own organisation."""
    FOLLOW = 2


class Forwarding(IntEnum):
    """In which form mail may be forwarded."""

    DENY = 0
    SANITIZED = 1
    RAW = 2


@dataclass(frozen=True, slots=True)
class RecipientRules:
    """Whom a message may go to."""

    allow: Addresses | None = None
    """None for everybody."""
    allows_self: bool = True
    """`allow` names `self`, or everybody, in so many words."""
    deny: Addresses | None = None
    most: int | None = None
    bcc: bool = True
    internal_only: bool = False


@dataclass(frozen=True, slots=True)
class UntrustedReads:
    """What becomes of a message after its writer read something from outside."""

    window: timedelta
    action: Outcome
    except_thread: bool
    except_internal: bool


@dataclass(frozen=True, slots=True)
class HoldRule:
    """One element of `hold_when`: it holds the message if all of its conditions hold, or cannot be told."""

    conditions: tuple[Callable[[Case], Truth], ...]
    sentence: str
    """What it waits for, for the caller."""


@dataclass(frozen=True, slots=True)
class OutboundPattern:
    """A detector of the operator's own."""

    name: str
    pattern: Spans
    action: Outcome


@dataclass(frozen=True, slots=True)
class LinkRules:
    """What may be linked to."""

    domains: frozenset[str]
    """Hosts, and with them those below."""
    others: Outcome


@dataclass(frozen=True, slots=True)
class WordRules:
    """What a message may say."""

    max_chars: int | None = None
    html: bool = True
    detectors: Mapping[str, Outcome] = field(default_factory=lambda: MappingProxyType({}))
    """By name; with `SEND` a finding is noted. One that is missing is off."""
    patterns: tuple[OutboundPattern, ...] = ()
    links: LinkRules | None = None
    quote_max_lines: int | None = None


@dataclass(frozen=True, slots=True)
class FileRules:
    """Which files may go with a message."""

    mode: Outcome = Outcome.SEND
    passes: Callable[[PartFacts], bool] = lambda facts: True


Quantity = Literal["messages", "recipients", "new_recipients", "bytes", "same_recipient"]


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most so much in any such time, this message included."""

    rule: str
    """The key of the policy, such as `outbound.rate.messages.per_hour`."""
    quantity: Quantity
    most: int
    window: timedelta


@dataclass(frozen=True, slots=True)
class QuietHours:
    """When nothing goes out without a person."""

    zone: ZoneInfo
    windows: tuple[Window, ...]
    action: Outcome


@dataclass(frozen=True, slots=True)
class LoopRules:
    """Against answers to answers without end."""

    max_turns: int | None = None
    """Messages of this profile in one thread, within the window."""
    window: timedelta = timedelta(hours=24)
    no_reply_to: frozenset[str] = frozenset()
    """Of `auto`, `list`, `noreply`."""


@dataclass(frozen=True, slots=True)
class OutboundRules:
    """Everything that one policy says of sending."""

    mode: Outcome = Outcome.SEND
    senders: Addresses | None = None
    """None for all that the mailbox's identities allow."""
    recipients: RecipientRules = RecipientRules()
    draft_recipients_any: bool = False
    """A draft that only a person can send is bound by `deny`, `max` and `bcc` alone."""
    circle: Circle = Circle.OFF
    reply_all: Outcome = Outcome.SEND
    reply_to: ReplyTo = ReplyTo.FOLLOW
    forward: Forwarding = Forwarding.RAW
    require_draft: bool = False
    untrusted: UntrustedReads | None = None
    holds: tuple[HoldRule, ...] = ()
    words: WordRules = WordRules()
    files: FileRules = FileRules()
    rates: tuple[RateLimit, ...] = ()
    quiet_hours: QuietHours | None = None
    loop: LoopRules = LoopRules()
    scan_chars: int = 1_000_000
    """Characters of a text that are looked through; of a longer one it is unknown what stands in it."""
