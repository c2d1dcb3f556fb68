"""The ordered decisions of a policy: in each list the lower one is the more restrictive, and of two that one counts."""

from __future__ import annotations

from enum import IntEnum


class Access(IntEnum):
    """What a caller may do with a folder."""

    HIDDEN = 0
    """It does not exist for the caller."""
    VISIBLE = 1
    """It is listed, and no more."""
    READABLE = 2
    WRITABLE = 3
    """What `actions` allows may be done to its messages."""


class Verdict(IntEnum):
    """What becomes of a message."""

    HIDE = 0
    """It does not exist for the caller."""
    WITHHOLD = 1
    """It is listed, and its content is not shown: a person must look."""
    ALLOW = 2


class Finding(IntEnum):
    """What is done where a detector finds something."""

    HIDE = 0
    """The whole message is hidden."""
    WITHHOLD = 1
    """The whole message is withheld."""
    REDACT = 2
    """A marker stands where it stood."""
    FLAG = 3
    """A signal tells of it."""
    OFF = 4


class Files(IntEnum):
    """How much of a message's attachments may be had."""

    NONE = 0
    """They are not mentioned."""
    METADATA = 1
    """Name, type and size."""
    TEXT = 2
    """Also the text in those that have some."""
    DOWNLOAD = 3
    """Also their octets."""


class Outcome(IntEnum):
    """How an outgoing message ends."""

    DENY = 0
    DRAFT = 1
    """Saved in Drafts, for a person to send."""
    HOLD = 2
    """It waits for a person's leave. While there is no door for that, it ends as a draft, or as denied."""
    SEND = 3
