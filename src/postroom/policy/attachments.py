"""Which files may leave: the only place that releases a part's octets."""

from __future__ import annotations

from dataclasses import replace

from postroom.base.levels import Files
from postroom.mail.model import Part, Released
from postroom.policy.attachmentrules import Attachments
from postroom.policy.filefacts import facts_of

_CALENDARS = frozenset(("text/calendar", "text/x-vcalendar", "application/ics"))
"""Types of invitations, whose fields are shown whatever may be had of files (RFC 5545)."""
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
    """A part with leave to be read for its text, if that is what a bound caller may have of it; else None.

    One whose size is hidden was judged by it before.
    """
    facts = facts_of(part)
    facts = replace(facts, size=0) if facts.size is None else facts
    return Released(part) if facts.scannable and rules.level(facts) is Files.TEXT else None


def hides_size(part: Part, place: int, rules: Attachments) -> bool:
    """Whether the size of a file would tell how long is what is redacted where its words are shown.

    It may be told where all of the file may be had, and has to be where it alone decides that nothing may.
    """
    facts = facts_of(part, place=place)
    level = rules.level(facts)
    if level is Files.DOWNLOAD or rules.level(replace(facts, size=0)) is not level:
        return False
    is_calendar = part.content_type in _CALENDARS or (part.filename or "").lower().endswith(".ics")
    return level is Files.TEXT or is_calendar


def release(part: Part) -> Released:
    """The part with leave to be downloaded. The policy of an unbound token: every file, and the source itself."""
    return Released(part)
