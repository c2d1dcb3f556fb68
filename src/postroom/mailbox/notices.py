"""What people are told of a mailbox, in few words: that something happened, where, and to which message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from postroom.store.deliveries import body_of

READY = "ready"
"""The first of a stream: from here on."""
RECEIVED = "message.received"
FLAGS = "message.flags"
DELETED = "message.deleted"
RESET = "mailbox.reset"
UNREACHABLE = "mailbox.unreachable"
RECOVERED = "mailbox.recovered"


@dataclass(frozen=True, slots=True)
class Notice:
    """`data` holds names, ids and flags, never what a message says."""

    type: str
    data: Mapping[str, object]

    def json(self, now: datetime) -> str:
        """As JSON, with the time at which it is told."""
        return body_of(self.type, now, self.data)


def of_message(kind: str, mailbox: str, folder: str, uid: str, **more: object) -> Notice:
    """Of one message, by the id that the receiver knows it under."""
    return Notice(kind, {"mailbox": mailbox, "folder": folder, "uid": uid, **more})


def of_mailbox(kind: str, mailbox: str, **more: object) -> Notice:
    """Of a mailbox, or of a folder of it."""
    return Notice(kind, {"mailbox": mailbox, **more})
