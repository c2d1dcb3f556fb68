"""Messages as the relay tells them: what its policy has left, in few words; nothing null, empty or false is told."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from postroom.mail.model import Shown
from postroom.operations.answer import Answer
from postroom.operations.room import Room, for_model
from postroom.operations.rows import DEFAULT_LIMIT, spelled, utc

FOREIGN = "subjects, names, addresses, texts, links, invitations and file names"
_FLAGS = {"\\Seen": "seen", "\\Flagged": "flagged", "\\Answered": "answered"}


class Envelope(Answer):
    """A message in a list."""

    uid: str
    from_: str = Field("", alias="from")
    to: list[str] = Field(default_factory=list)
    cc: list[str] = Field(default_factory=list)
    reply_to: list[str] = Field(default_factory=list)
    subject: str = ""
    date: str = ""
    received_at: str = ""
    """Only of a message without a date of its own."""
    seen: bool = False
    flagged: bool = False
    answered: bool = False
    """Somebody has answered it."""
    has_attachments: bool = False
    withheld: bool = False
    """Its content is for a person to see first."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """Set only when a field was cut: how many entries or characters are missing, by field."""

    @property
    def entries(self) -> int:
        return len(self.to) + len(self.cc) + 1


def envelope_fields(shown: Shown, *, people: bool, room: Room | None = None) -> dict[str, Any]:
    """The fields of an envelope; `people` are recipients too."""
    head, room = shown.head, room or for_model(DEFAULT_LIMIT)
    date = utc(head.date)
    said: dict[str, Any] = {
        "uid": shown.uid,
        "from": ", ".join(spelled(one, room) for one in room.some("from", head.from_)),
        "subject": room.line("subject", head.subject),
        "date": date,
        "received_at": None if date else utc(shown.received_at),
        "has_attachments": shown.has_attachments,
        "withheld": shown.withheld,
    }
    said |= {name: flag in shown.flags for flag, name in _FLAGS.items()}
    if people:
        for name, addresses in (("to", head.to), ("cc", head.cc), ("reply_to", head.reply_to)):
            if not (name == "reply_to" and addresses == head.from_):
                said[name] = [spelled(one, room) for one in room.some(name, addresses)]
    if room.left_out:
        said["left_out"] = dict(room.left_out)
    return {name: value for name, value in said.items() if value}


def envelope(shown: Shown) -> Envelope:
    """A message in a list."""
    return Envelope(**envelope_fields(shown, people=False))
