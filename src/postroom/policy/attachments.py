"""Which files may leave: the only place that releases a part's octets."""

from __future__ import annotations

from postroom.base.levels import Files
from postroom.mail.model import Part, Released
from postroom.policy.attachmentrules import Attachments
from postroom.policy.filefacts import facts_of

WHOLE_MESSAGE = Part(
    section="",
    content_type="message/rfc822",
    charset=None,
    encoding="binary",
    filename="message.eml",
    inline=False,
    content_id=None,
    size=None,
    is_body=False,
)
"""A message's own source, as a file."""


def release_under(part: Part, rules: Attachments) -> Released | None:
    """The part with leave to be downloaded by a bound caller, or None; its octets are judged once it is open."""
    return Released(part) if rules.level(facts_of(part)) >= Files.DOWNLOAD else None


def release_text(part: Part, rules: Attachments) -> Released | None:
    """A part with leave to be read for its text, if that is what a bound caller may have of it; else None."""
    facts = facts_of(part)
    return Released(part) if facts.scannable and rules.level(facts) is Files.TEXT else None


def release(part: Part) -> Released:
    """The part with leave to be downloaded. The policy of an unbound token: every file, and the source itself."""
    return Released(part)
