"""Tests of policies in the file itself: a folder or a message, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from postroom.config.policies.matching import Anomaly, AuthResult
from postroom.config.policies.values import (
    AccessLevel,
    Duration,
    HeaderName,
    OneOrMore,
    OutcomeLevel,
    Size,
    SpecialUse,
    VerdictLevel,
)
from postroom.config.section import Section
from postroom.config.values import Line, Name


class TrialAuth(Section):
    """What the mailbox's own servers found out about the sender."""

    dmarc: AuthResult | Literal["unknown"] = "unknown"
    """As in Authentication-Results."""
    spf: AuthResult | Literal["unknown"] = "unknown"
    """As in Authentication-Results."""
    dkim: AuthResult | Literal["unknown"] = "unknown"
    """As in Authentication-Results."""


class TrialFile(Section):
    """An attachment."""

    name: Line
    """Its file name."""
    type: Line = "application/octet-stream"
    """Its declared type."""
    size: Size | None = None
    """Its octets."""


class TrialMessage(Section):
    """A message; what is left out is not there, and without text its content is not at hand."""

    from_: OneOrMore[Line] = Field(default=(), alias="from")
    """Its senders, each as in a From field."""
    to: OneOrMore[Line] = ()
    """As in a To field."""
    cc: OneOrMore[Line] = ()
    """As in a Cc field."""
    reply_to: OneOrMore[Line] = ()
    """As in a Reply-To field."""
    subject: Line | None = None
    """Its subject."""
    headers: Mapping[HeaderName, Line] = Field(default_factory=dict)
    """Other header fields by name."""
    age: Duration | None = None
    """How long it has been in the mailbox; it has just arrived if left out."""
    size: Size | None = None
    """Its octets; 1k if left out."""
    flags: tuple[Literal["seen", "flagged", "answered", "draft"], ...] = ()
    """Flags that are set."""
    auth: TrialAuth = TrialAuth()
    """What is known about the sender."""
    signals: tuple[Anomaly, ...] | None = None
    """Signals of its content."""
    text: str | None = None
    """Its text; with it, the whole content is at hand."""
    attachments: tuple[TrialFile, ...] | None = None
    """Its files."""
    detections: tuple[Line, ...] | None = None
    """Names of detectors that find something in the text."""


class TrialSend(Section):
    """A message that is to be sent, on a Wednesday at noon (UTC), and as the first."""

    from_: Line | None = Field(default=None, alias="from")
    """Its sender; the mailbox's own address if left out."""

    to: OneOrMore[Line]
    """Its recipients."""
    cc: OneOrMore[Line] = ()
    """Its other recipients."""
    bcc: OneOrMore[Line] = ()
    """Its blind copies."""
    subject: Line = "Test"
    """Its subject."""
    text: str = ""
    """Its text."""
    wrote: OneOrMore[Line] = ()
    """Addresses that wrote before, in mail that may be seen."""
    has_read: bool = False
    """Mail from outside was read a moment ago."""
    was_draft: bool = False
    """It was saved as a draft before."""


class TrialExpectation(Section):
    """What must come of it."""

    access: AccessLevel | None = None
    """Of a folder."""
    verdict: VerdictLevel | None = None
    """Of a message."""
    outcome: OutcomeLevel | None = None
    """Of sending."""


class TrialConfig(Section):
    """One test of a policy: exactly one of `folder`, `message` and `send`."""

    name: Line
    """What it is called."""
    profile: Name
    """The profile that is tested."""
    mailbox: Name | None = None
    """In which mailbox; may be left out if there is one only."""
    folder: Line | None = None
    """A folder's path, with / between its levels."""
    special_use: SpecialUse | None = None
    """What the folder is used for."""
    message: TrialMessage | None = None
    """A message in a folder that may be read."""
    send: TrialSend | None = None
    """A message that is to be sent."""
    expect: TrialExpectation
    """What must come of it."""

    @model_validator(mode="after")
    def _one_subject(self) -> TrialConfig:
        subjects = {"access": self.folder, "verdict": self.message, "outcome": self.send}
        given = {name for name, subject in subjects.items() if subject is not None}
        if len(given) != 1:
            raise ValueError("must have exactly one of folder, message, send")
        if self.expect.model_fields_set != given:
            raise ValueError(f"expect must have {given.pop()}, and nothing else")
        return self
