"""The section of a policy on what is sent: to whom, how much, when, and what must wait for a person."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from postroom.config.policies.attachments import FileRules
from postroom.config.policies.matching import TextPattern
from postroom.config.policies.quiethours import WeekWindow, ZoneName
from postroom.config.policies.values import (
    AddressPattern,
    DetectorName,
    DomainName,
    Duration,
    ExpressionText,
    OneOrMore,
    OutcomeLevel,
    Pause,
    Size,
)
from postroom.config.section import Section
from postroom.config.values import NotNegative, Positive

DetectorAction = Literal["deny", "hold", "flag", "off"]


class RecipientsConfig(Section):
    """Whom a message may go to: To, Cc and Bcc alike. One that may not refuses the whole message."""

    allow: tuple[AddressPattern, ...] = ()
    """Every recipient must match one of these; `anyone` is everybody."""
    deny: tuple[AddressPattern, ...] = ()
    """No recipient may match one of these; it beats `allow`."""
    max: Positive = 5
    """Different recipients at most."""
    bcc: Literal["deny", "allow"] = "deny"
    """Whether there may be blind copies."""
    internal_only: bool = False
    """Every recipient must be `internal` or `self`."""


class UntrustedReadConfig(Section):
    """After a body from outside was read, what goes to others is held back."""

    window: Duration = timedelta(hours=24)
    """For how long."""
    action: OutcomeLevel = "hold"
    """The most that may become of a message then; `hold` ends as a draft, or as denied, until there is a door."""
    except_to: tuple[Literal["thread", "internal"], ...] = ("thread", "internal")
    """Recipients that are not held back: those of the thread that is answered, and internal ones."""


class RollingConfig(Section):
    """A sum over a time, this message included; exactly one of the sums."""

    messages: NotNegative | None = None
    """More messages than this."""
    recipients: NotNegative | None = None
    """More recipients than this."""
    new_recipients: NotNegative | None = None
    """More new recipients than this."""
    bytes: Size | None = None
    """More octets than this."""
    per: Literal["1h", "1d", "7d"]
    """Over which time."""

    @model_validator(mode="after")
    def _one_sum(self) -> RollingConfig:
        if len(self.model_fields_set) != 2:
            raise ValueError("must have per and exactly one of messages, recipients, new_recipients, bytes")
        return self


class HoldConfig(Section):
    """A condition to hold a message: all its keys must hold; unknown counts as yes."""

    external: bool | None = None
    """Some recipient is not internal."""
    new_recipient: bool | None = None
    """Some recipient was never written to by this profile, and is not in the list `contacts`."""
    recipients_over: NotNegative | None = None
    """More recipients than this."""
    attachments: bool | None = None
    """It has files."""
    detector: OneOrMore[DetectorName] | None = None
    """A detector finds something."""
    pattern: OneOrMore[TextPattern] | None = None
    """The text fits."""
    links: bool | None = None
    """It has links."""
    subject: OneOrMore[TextPattern] | None = None
    """The subject fits."""
    rolling: RollingConfig | None = None
    """A sum over a time."""
    always: bool | None = None
    """In any case."""

    @model_validator(mode="after")
    def _says_what(self) -> HoldConfig:
        if not self.model_fields_set:
            raise ValueError("must name at least one condition, or always: true")
        return self


class OutboundDetectorsConfig(Section):
    """What becomes of a message in which a detector finds something; `own_secrets` is always denied."""

    otp: DetectorAction = "deny"
    """One-time and verification codes."""
    reset_link: DetectorAction = "off"
    """Links that reset, confirm or log in."""
    secret: DetectorAction = "deny"  # noqa: S105 - the name of a detector
    """Keys and tokens of known providers."""
    private_key: DetectorAction = "deny"
    """Private keys in PEM form."""
    jwt: DetectorAction = "deny"
    """JSON web tokens."""
    password: DetectorAction = "off"  # noqa: S105 - the name of a detector
    """What follows a word for password."""
    card: DetectorAction = "hold"
    """Numbers of payment cards."""
    iban: DetectorAction = "flag"
    """Numbers of bank accounts."""
    phone: DetectorAction = "off"
    """Telephone numbers."""
    email_address: DetectorAction = "off"
    """Mail addresses in the text."""
    national_id: DetectorAction = "off"
    """Numbers by which a state knows a person."""
    crypto_seed: DetectorAction = "off"
    """Words that open a wallet."""
    recovery_codes: DetectorAction = "off"
    """Lists of codes that stand for a second factor."""


class OutboundPatternConfig(Section):
    """A detector of your own for what is sent."""

    name: DetectorName
    """What it is called; unique."""
    re2: ExpressionText
    """A regular expression of RE2."""
    action: DetectorAction
    """What becomes of a message in which it finds something."""
    case: bool = False
    """Case matters."""


class OutboundLinksConfig(Section):
    """Links in what is sent."""

    allow_domains: tuple[DomainName, ...] = ()
    """Hosts that may be linked to, and those below them."""
    others: Literal["deny", "hold", "allow"] = "hold"
    """What becomes of a message that links to others."""


class OutboundContentConfig(Section):
    """What a message that is sent may say."""

    max_chars: Positive = 20_000
    """Characters of its text at most."""
    html: Literal["deny", "allow"] = "deny"
    """Whether it may have html."""
    detectors: OutboundDetectorsConfig = OutboundDetectorsConfig()
    """What becomes of it where a detector finds something."""
    patterns: tuple[OutboundPatternConfig, ...] = ()
    """Detectors of your own."""
    links: OutboundLinksConfig = OutboundLinksConfig()
    """What may be linked to."""
    quote_max_lines: NotNegative = 50
    """Lines of quoted history at most."""


class OutboundAttachments(FileRules):
    """Files that go with a message."""

    mode: Literal["deny", "hold", "allow"] = "deny"
    """Whether there may be any."""
    max_bytes: Size = 5 << 20
    """Octets of a file at most."""
    max_count: NotNegative = 3
    """Files of a message at most."""


class MessageRate(Section):
    """Messages in any minute, hour and day."""

    per_minute: NotNegative = 2
    """In any minute."""
    per_hour: NotNegative = 20
    """In any hour."""
    per_day: NotNegative = 100
    """In any day."""


class RecipientRate(Section):
    """Recipients in any day."""

    per_day: NotNegative = 150
    """In any day."""


class SameRecipientRate(Section):
    """Messages to one recipient in any hour and day."""

    per_hour: NotNegative = 4
    """In any hour."""
    per_day: NotNegative = 12
    """In any day."""


class BytesRate(Section):
    """Octets in any day."""

    per_day: Size = 50 << 20
    """In any day."""


class RateConfig(Section):
    """How much may be sent; every one of them must have room."""

    messages: MessageRate = MessageRate()
    """Messages."""
    recipients: RecipientRate = RecipientRate()
    """Recipients."""
    same_recipient: SameRecipientRate = SameRecipientRate()
    """Messages to one recipient."""
    bytes: BytesRate = BytesRate()
    """Octets."""


class QuietHoursConfig(Section):
    """When nothing is sent without a person."""

    timezone: ZoneName
    """By whose clock, such as `Europe/Berlin`."""
    windows: tuple[WeekWindow, ...]
    """Such as `22:00-07:00`, or `Sat,Sun 00:00-24:00`; the end does not belong to it."""
    action: Literal["hold", "deny"] = "hold"
    """What becomes of a message then."""


class LoopConfig(Section):
    """Against answers to answers without end."""

    max_turns: Positive = 6
    """Messages of this profile in one thread."""
    window: Duration = timedelta(hours=24)
    """In this time."""
    no_reply_to: tuple[Literal["auto", "list", "noreply"], ...] = ("auto", "list", "noreply")
    """What is not answered: automatic mail, lists, senders that say so."""
    mark: bool = False
    """What is sent says that it was sent automatically (RFC 3834)."""


class ApprovalConfig(Section):
    """How a person lets a held message go."""

    expires: Duration = timedelta(hours=24)
    """How long it waits."""
    approvers: Annotated[int, Field(ge=1, le=2)] = 1
    """How many people must agree."""


class OutboundPolicy(Section):
    """What may be sent; the outcome is the most restrictive of all that follows."""

    mode: OutcomeLevel = "draft"
    """The most that becomes of any message; `hold` ends as a draft, or as denied, until there is a door."""
    from_: tuple[AddressPattern, ...] = Field(default=(), alias="from")
    """Addresses to send as; none listed means the mailbox's own."""
    recipients: RecipientsConfig = RecipientsConfig()
    """Whom it may go to."""
    reply_only: Literal["off", "correspondent", "thread"] = "correspondent"
    """Only to those who wrote in mail that may be seen, or only to those of the thread that is answered."""
    reply_all: Literal["deny", "hold", "allow"] = "deny"
    """Whether all may be answered."""
    reply_to: Literal["never", "same_domain", "follow"] = "same_domain"
    """Whether an answer follows Reply-To."""
    forward: Literal["deny", "sanitized", "raw"] = "sanitized"
    """Whether mail may be forwarded, and in which form."""
    require_draft: bool = False
    """Only drafts that were saved before may be sent."""
    after_untrusted_read: UntrustedReadConfig = UntrustedReadConfig()
    """After a body from outside was read, what goes to others is held back."""
    hold_when: tuple[HoldConfig, ...] = ()
    """Conditions to hold a message."""
    content: OutboundContentConfig = OutboundContentConfig()
    """What it may say."""
    attachments: OutboundAttachments = OutboundAttachments()
    """Which files may go with it."""
    rate: RateConfig = RateConfig()
    """How much may be sent."""
    quiet_hours: QuietHoursConfig | None = None
    """When nothing is sent without a person."""
    loop: LoopConfig = LoopConfig()
    """Against answers to answers without end."""
    undo_window: Pause = timedelta()
    """How long a message can be called back before it goes."""
    approval: ApprovalConfig = ApprovalConfig()
    """How a person lets a held message go."""
    draft_recipients: Literal["same", "any"] = "any"
    """Which of the rules on recipients bind a draft that only a person can send."""
    drafts: Literal["none", "own", "all"] = "own"
    """Which drafts may be seen and changed: those saved through the gateway as this profile, or all."""
