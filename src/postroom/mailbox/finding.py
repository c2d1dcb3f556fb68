"""Messages by their Message-ID: for what was filed and whose UID nobody told."""

from __future__ import annotations

from postroom.imap.faults import RefusedFault
from postroom.mail.query.tree import Header
from postroom.mailbox.reading import OpenFolder

_NEWEST = 20
"""UIDs from the top that are looked at, before the server is asked to search."""


async def uid_of(opened: OpenFolder, message_id: str, *, deep: bool = True) -> int | None:
    """The newest message with this Message-ID, or None. Without `deep` only the newest of all are looked at.

    A server may refuse to search, or find by parts of words: what it finds is read.
    """
    top = await opened.top()
    if not (opened.exists and top):
        return None
    low = max(1, top - _NEWEST + 1)
    for row in await opened.rows(await opened.uids(low, top)):
        if row.head.message_id == message_id:
            return row.uid
    if not deep or low == 1:
        return None
    try:
        hits = list(await opened.search(Header("message-id", message_id), 1, low - 1))
    except RefusedFault:
        return None
    rows = await opened.rows(sorted(hits)[-_NEWEST:])
    return max((row.uid for row in rows if row.head.message_id == message_id), default=None)
