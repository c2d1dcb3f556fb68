"""The keys by which a rule on messages matches: what may be asked of a message."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from postroom.config.policies.values import (
    AddressPattern,
    DetectorName,
    DomainPattern,
    Duration,
    ExpressionText,
    Extension,
    HeaderName,
    MediaGlob,
    OneOrMore,
    Size,
    TextGlob,
    Where,
)
from postroom.config.section import Section
from postroom.config.values import Line, NotNegative

_DEEPEST = 5
FlagTest = Literal[
    "seen", "flagged", "answered", "draft", "-seen", "-flagged", "-answered", "-draft"
]  # fmt: skip
AuthResult = Literal["pass", "fail", "none", "softfail", "neutral", "policy", "temperror", "permerror"]
Source = Literal["visible", "own", "contacts", "sent"]
Anomaly = Literal[
    "hidden_text",
    "invisible_characters",
    "bidi_controls",
    "control_characters",
    "alternatives_differ",
    "link_mismatch",
    "suspicious_link",
    "homograph_link",
    "tracking_pixel",
    "remote_content",
    "display_name_address",
    "internal_name_external_address",
    "confusable_sender",
    "multiple_from",
    "reply_to_differs",
    "duplicate_header",
    "dmarc_fail",
    "auth_unknown",
    "mime_ambiguous",
    "too_complex",
    "truncated",
    "auto_submitted",
    "bulk",
    "signed",
    "encrypted",
    "first_time_sender",
]


class TextPattern(Section):
    """A pattern for text: exactly one of its forms. A bare text is `contains`; a list is any of them."""

    contains: Line | None = None
    """The text holds this, whatever the case."""
    equals: Line | None = None
    """The text is this, whatever the case."""
    glob: TextGlob | None = None
    """The whole text fits, with `*` for any run and `?` for one character, whatever the case."""
    re2: ExpressionText | None = None
    """A regular expression of RE2 finds something, whatever the case unless `case` is true."""
    case: bool = False
    """Case matters to `re2`."""

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, data: object) -> object:
        return {"contains": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _one_form(self) -> TextPattern:
        forms = (self.contains, self.equals, self.glob, self.re2)
        if sum(form is not None for form in forms) != 1:
            raise ValueError("must have exactly one of contains, equals, glob, re2")
        if self.case and self.re2 is None:
            raise ValueError("case goes with re2 alone")
        return self


class HeaderMatch(Section):
    """A header field of the message."""

    name: HeaderName
    """Its name, in any case."""
    pattern: OneOrMore[TextPattern]
    """What some field of that name must fit, decoded; without one the answer is no."""


class AuthMatch(Section):
    """What trusted Authentication-Results say; without any, each key is unknown."""

    dmarc: OneOrMore[AuthResult] | None = None
    """The result is one of these."""
    spf: OneOrMore[AuthResult] | None = None
    """The result is one of these."""
    dkim: OneOrMore[AuthResult] | None = None
    """The result is one of these."""
    dkim_domain: OneOrMore[DomainPattern] | None = None
    """Domain of a signature that passed: `domain`, or `*.domain` for those below it."""
    aligned: bool | None = None
    """What passed belongs to the domain of From, as DMARC has it (RFC 7489 3.1)."""


class AttachmentMatch(Section):
    """Some attachment fits all of these."""

    type: OneOrMore[MediaGlob] | None = None
    """Its declared type, such as `image/*`."""
    extension: OneOrMore[Extension] | None = None
    """One of the endings of its name."""
    name: OneOrMore[TextPattern] | None = None
    """Its name."""
    size_over: Size | None = None
    """It has more octets."""
    count_over: NotNegative | None = None
    """The message has more attachments than this."""
    any: bool | None = None
    """Whether there is an attachment at all."""


class ContainsMatch(Section):
    """What the subject or the text says, before anything is redacted; it needs the content."""

    detector: OneOrMore[DetectorName] | None = None
    """A detector, built in or of `content.patterns`, that finds something."""
    pattern: OneOrMore[TextPattern] | None = None
    """What the text must fit."""
    where: Where = "both"
    """Where to look."""

    @model_validator(mode="after")
    def _says_what(self) -> ContainsMatch:
        if self.detector is None and self.pattern is None:
            raise ValueError("must have detector or pattern")
        return self


class KnownMatch(Section):
    """Whether the sender is known."""

    sources: OneOrMore[Source] = ("visible", "own", "contacts")
    """Mail that may be seen, what was sent through the gateway, the list `contacts`; `sent` is the Sent folder."""
    declassify: bool = False
    """Leave for the source `sent`, which may tell of mail that is hidden."""

    @model_validator(mode="after")
    def _declassified(self) -> KnownMatch:
        if "sent" in self.sources and not self.declassify:
            raise ValueError("the source sent reads mail that may be hidden; leave it out, or write declassify: true")
        return self


class MatchConfig(Section):
    """What a message must be like; all keys must hold, and of a list in a key any."""

    from_: OneOrMore[AddressPattern] | None = Field(default=None, alias="from")
    """Every From address matches; unknown where only some do, or none can be read."""
    sender_domain: OneOrMore[DomainPattern] | None = None
    """The same on the domains of From: `domain`, or `*.domain` for those below it."""
    recipient: OneOrMore[AddressPattern] | None = None
    """Some address of To, Cc, Delivered-To or X-Original-To matches."""
    recipient_all: OneOrMore[AddressPattern] | None = None
    """Every address of To and Cc matches."""
    reply_to: OneOrMore[AddressPattern] | None = None
    """Every Reply-To address matches; without one, as `from`."""
    subject: OneOrMore[TextPattern] | None = None
    """The decoded subject."""
    header: OneOrMore[HeaderMatch] | None = None
    """Some of these header fields."""
    list_id: OneOrMore[TextGlob] | None = None
    """`present`, `absent`, or globs over the identifier of List-Id, in lower case."""
    older_than: Duration | None = None
    """At least this long in the mailbox, by the time of arrival."""
    newer_than: Duration | None = None
    """Less than this long in the mailbox."""
    size_over: Size | None = None
    """The message has more octets."""
    size_under: Size | None = None
    """The message has fewer octets."""
    flags: OneOrMore[FlagTest] | None = None
    """All of these hold; `-seen` means that it is not seen."""
    auth: AuthMatch | None = None
    """What the mailbox's own servers found out about the sender."""
    internal: bool | None = None
    """From is `internal`, and DMARC says so too unless `internal_without_dmarc`; unknown if only From does."""
    anomaly: OneOrMore[Anomaly] | None = None
    """Some of these signals is set."""
    attachment: AttachmentMatch | None = None
    """Some attachment fits; it needs the content."""
    contains: ContainsMatch | None = None
    """What the text says; it needs the content."""
    in_reply_to_own: bool | None = None
    """It answers a message that was sent through the gateway as this profile."""
    known_correspondent: KnownMatch | None = None
    """The sender is known."""
    any: Annotated[tuple[MatchConfig, ...], Field(min_length=1)] | None = None
    """Some of these hold."""
    all: Annotated[tuple[MatchConfig, ...], Field(min_length=1)] | None = None
    """All of these hold."""
    not_: MatchConfig | None = Field(default=None, alias="not")
    """This does not hold."""

    @model_validator(mode="after")
    def _sound(self) -> MatchConfig:
        if not self.model_fields_set:
            raise ValueError("must name at least one condition; for all messages use default")
        if self.depth > _DEEPEST:
            raise ValueError(f"any, all and not nest at most {_DEEPEST} deep")
        if self.list_id and len(self.list_id) > 1 and {"present", "absent"} & set(self.list_id):
            raise ValueError("present and absent stand alone in list_id")
        return self

    @property
    def inner(self) -> tuple[MatchConfig, ...]:
        """What stands in `any`, `all` and `not`."""
        negated = () if self.not_ is None else (self.not_,)
        return (*(self.any or ()), *(self.all or ()), *negated)

    @property
    def depth(self) -> int:
        """How deep `any`, `all` and `not` nest."""
        return max((1 + one.depth for one in self.inner), default=0)
