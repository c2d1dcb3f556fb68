"""The only conversions from fetched to shown and to admitted: what a caller sees or changes is decided here alone."""

from __future__ import annotations

from postroom.mail.model import Act, Admitted, Fetched, Named, Reading, Shown


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


def admit(message: Fetched | Named, act: Act) -> Admitted | None:
    """The message with leave to act on it like that, or None when it may not exist for this caller.

    The policy of an unbound token: every message of its mailboxes, so it need not be fetched before.
    """
    return Admitted(message.folder, message.uid, message.uid_validity, act)
