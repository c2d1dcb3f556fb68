"""Which files may leave: the only place that releases a part's octets."""

from __future__ import annotations

from postroom.mail.model import Part, Released

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


def release(part: Part) -> Released:
    """The part with leave to be downloaded. The policy of an unbound token: every file, and the source itself."""
    return Released(part)
