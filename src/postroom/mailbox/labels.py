"""Labels of a message: its keywords, and where a server has them Gmail's, which leaves out that of the open folder."""

from __future__ import annotations

import re
from collections.abc import Iterable

from postroom.imap.commands import Items
from postroom.mailbox.folders import Folder, one_line

_BACKSLASHES = re.compile(r"\A\\+")
"""Gmail's own labels begin with one; outside quotes some write two."""
_GMAILS_OWN = {
    "inbox": "\\Inbox",
    "sent": "\\Sent",
    "drafts": "\\Draft",
    "flagged": "\\Starred",
    "important": "\\Important",
    **dict.fromkeys(("all", "trash", "junk"), ""),
}
"""Labels of Gmail's own folders; those without one hold what has none for them."""


def labels_of(items: Items, folder: Folder) -> tuple[str, ...]:
    """In order, each once."""
    if items.labels is None and all(flag.startswith("\\") for flag in items.flags or ()):
        return ()
    return tuple(sorted({*keywords(items.flags or ()), *_gmail_labels(items, folder)}))


def keywords(flags: Iterable[str]) -> list[str]:
    """A keyword is an atom (RFC 9051 9); what is none, of a server that sends it all the same, is no label."""
    return [flag for flag in flags if not flag.startswith("\\") and flag.isprintable()]


def _gmail_labels(items: Items, folder: Folder) -> list[str]:
    if items.labels is None:
        return []
    own = _GMAILS_OWN.get(folder.special_use or "", folder.name)
    return [_BACKSLASHES.sub(r"\\", one_line(label)) for label in (*items.labels, own) if label]
