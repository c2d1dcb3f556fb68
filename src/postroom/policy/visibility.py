"""The only conversion from fetched to shown: nothing that a caller sees is made anywhere else."""

from __future__ import annotations

from postroom.mail.model import Fetched, Reading, Shown


def show(fetched: Fetched, uid: str, reading: Reading | None = None) -> Shown | None:
    """The message as this caller may see it under the id `uid`, or None when it may not exist for it.

    `reading` is its content, made by `policy.content`. The policy of an unbound token: its mailboxes are whole,
    and so is what lies in them.
    """
    return Shown(
        uid=uid,
        folder=fetched.folder,
        head=fetched.head,
        received_at=fetched.received_at,
        size=fetched.size,
        flags=fetched.flags,
        has_attachments=fetched.has_attachments,
        labels=fetched.labels,
        reading=reading,
        incomplete=fetched.incomplete,
    )
