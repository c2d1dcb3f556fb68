"""The rules by which content is shown: one value, be it an unbound reader's or what a policy and restrictions allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Protocol

from postroom.base.levels import Finding


class BodyRule(IntEnum):
    """Which forms of a body are shown."""

    NONE = 0
    TEXT = 1
    TEXT_AND_HTML = 2


class LinkRule(IntEnum):
    """What is shown of a link's target."""

    REMOVE = 0
    DOMAIN = 1
    """Its host."""
    FULL = 2


class HistoryRule(IntEnum):
    """What becomes of quoted history."""

    REMOVE = 0
    COLLAPSE = 1
    """A line says how many lines there were."""
    KEEP = 2


class Spotlight(IntEnum):
    """How untrusted text is marked; no security control."""

    FIELDS = 0
    FENCE = 1
    DATAMARK = 2


class Spans(Protocol):
    """A compiled pattern: where it finds something in a text, as half-open ranges in ascending order.

    None if the text is too long to be looked through, which is no leave to show it.
    """

    def spans(self, text: str) -> list[tuple[int, int]] | None: ...


@dataclass(frozen=True, slots=True)
class ContentPattern:
    """A detector of the operator's own; its marker is `[redacted:NAME]`."""

    name: str
    pattern: Spans
    action: Finding
    in_subject: bool = True
    in_body: bool = True


@dataclass(frozen=True, slots=True)
class ContentRules:
    """The defaults are those of an unbound reader, who redacts nothing."""

    body: BodyRule = BodyRule.TEXT_AND_HTML
    max_chars: int | None = None
    """Characters of a body at most, cut after redaction; None leaves it to the call."""
    headers: frozenset[str] | None = None
    """Names of header fields that may appear, lower case; None for all."""
    raw: bool = True
    """The message's own octets may be had."""
    mark_hidden: bool = False
    """Text that no human sees is shown as `[hidden: ...]` instead of being removed."""
    history: HistoryRule = HistoryRule.KEEP
    links: LinkRule = LinkRule.FULL
    unwrap: bool = True
    """Known wrappers of links are undone, without asking anybody."""
    full_link_domains: frozenset[str] = frozenset()
    """Hosts whose links are shown in full all the same, and those of their subdomains."""
    image_alt: bool = True
    """The text that stands for an image is shown."""
    calendar: bool = True
    """Invitations are shown as fields."""
    keep_joiners: bool = False
    neutralise: bool = True
    """Markup that a model's host could act on is made harmless."""
    spotlight: Spotlight = Spotlight.FIELDS
    detectors: Mapping[str, Finding] = field(default_factory=lambda: MappingProxyType({}))
    """By name; one that is missing is off."""
    patterns: tuple[ContentPattern, ...] = ()

    @property
    def removes_anything(self) -> bool:
        """Whether something may be found that is not to be shown."""
        found = (*self.detectors.values(), *(one.action for one in self.patterns))
        return any(action <= Finding.REDACT for action in found)


UNBOUND = ContentRules()
"""Of a reader whose mailboxes are whole."""

BOUND = ContentRules(
    body=BodyRule.TEXT,
    max_chars=20_000,
    headers=frozenset({"from", "to", "cc", "reply-to", "subject", "date", "list-id"}),
    raw=False,
    links=LinkRule.DOMAIN,
    image_alt=False,
    detectors=MappingProxyType(
        dict.fromkeys(("otp", "reset_link", "secret", "private_key", "jwt", "password", "card"), Finding.REDACT)
        | {"iban": Finding.FLAG}
    ),
)
"""What a policy grants that says nothing about content."""
