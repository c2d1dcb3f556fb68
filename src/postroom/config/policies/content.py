"""The section of a policy on content: what of a message may be read, and what is redacted in it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from postroom.config.policies.values import (
    DetectorName,
    DomainName,
    ExpressionText,
    FindingLevel,
    HeaderName,
    Where,
)
from postroom.config.section import Section
from postroom.config.values import Positive

SHOWN_HEADERS = ("from", "to", "cc", "reply-to", "subject", "date", "list-id")
NEVER_SHOWN = ("received", "authentication-results")
"""Header fields that no policy opens."""


class DetectorsConfig(Section):
    """What is done where a detector finds something; those left out keep their defaults."""

    otp: FindingLevel = "redact"
    """One-time and verification codes."""
    reset_link: FindingLevel = "redact"
    """Links that reset, confirm or log in."""
    secret: FindingLevel = "redact"  # noqa: S105 - the name of a detector
    """Keys and tokens of known providers, and what is assigned to a name like one."""
    private_key: FindingLevel = "redact"
    """Private keys in PEM form."""
    jwt: FindingLevel = "redact"
    """JSON web tokens."""
    password: FindingLevel = "redact"  # noqa: S105 - the name of a detector
    """What follows a word for password."""
    card: FindingLevel = "redact"
    """Numbers of payment cards."""
    iban: FindingLevel = "flag"
    """Numbers of bank accounts."""
    phone: FindingLevel = "off"
    """Telephone numbers."""
    email_address: FindingLevel = "off"
    """Mail addresses in the text."""
    national_id: FindingLevel = "off"
    """Numbers by which a state knows a person."""
    crypto_seed: FindingLevel = "off"
    """Words that open a wallet."""
    recovery_codes: FindingLevel = "off"
    """Lists of codes that stand for a second factor."""


class PatternConfig(Section):
    """A detector of your own; what it finds is shown as `[redacted:NAME]`."""

    name: DetectorName
    """What it is called; unique."""
    re2: ExpressionText
    """A regular expression of RE2."""
    action: FindingLevel
    """What is done where it finds something."""
    where: Where = "both"
    """Where to look."""
    case: bool = False
    """Case matters."""


class LinksConfig(Section):
    """What is shown of links."""

    mode: Literal["remove", "domain", "full"] = "domain"
    """Nothing, the host, or the whole address."""
    unwrap: bool = True
    """Known wrappers are undone, without asking anybody."""
    allow_domains: tuple[DomainName, ...] = ()
    """Hosts whose links are shown in full in mode `domain`, and those below them."""
    show_full_for: tuple[DomainName, ...] = ()
    """More of them."""


class ContentPolicy(Section):
    """What of a message may be read."""

    body: Literal["none", "text", "text+html"] = "text"
    """Which forms of the body; `text+html` adds cleaned html."""
    max_chars: Positive = 20_000
    """Characters of a body at most."""
    headers: tuple[HeaderName, ...] = SHOWN_HEADERS
    """Header fields that may appear."""
    raw: bool = False
    """The message's own octets may be had."""
    raw_overrides_content: bool = False
    """`raw` is meant although other keys of this section would hide what it shows."""
    hidden_text: Literal["remove", "mark"] = "remove"
    """What becomes of text that a human would not see."""
    quoted_history: Literal["keep", "collapse", "remove"] = "keep"
    """What becomes of quoted history."""
    links: LinksConfig = LinksConfig()
    """What is shown of links."""
    images: Literal["placeholder", "alt"] = "placeholder"
    """`alt` shows the text that stands for an image."""
    calendar: Literal["none", "fields"] = "fields"
    """Invitations are shown as fields, or not."""
    unicode: Literal["strict", "keep-joiners"] = "strict"
    """Whether joiners stay where no script needs them."""
    markup: Literal["neutralise", "keep"] = "neutralise"
    """Whether markup that a model's host could act on is made harmless."""
    spotlight: Literal["fields", "fence", "datamark"] = "fields"
    """How foreign text is marked; no protection by itself."""
    detectors: DetectorsConfig = DetectorsConfig()
    """What is done where a detector finds something."""
    patterns: tuple[PatternConfig, ...] = Field(default=())
    """Detectors of your own."""
