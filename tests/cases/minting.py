"""Since cursors as a running gateway would have given them out, for cases that begin in the middle."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from postroom.base.seal import Seal
from postroom.mail.query.tree import All
from postroom.mailbox.following import Place
from postroom.mailbox.sincecursor import feed_cursors, place_key
from postroom.store import keys
from tests.servers import stores


def since_cursor(state_dir: Path, token: str, mailbox: str, uid_validity: int, last_uid: int) -> str:
    """How far INBOX of a mailbox was told to that token, for `GET /inbox?mailbox=MAILBOX&since_cursor=...`."""
    return asyncio.run(_since_cursor(state_dir, token, mailbox, Place(uid_validity, last_uid)))


async def _since_cursor(state_dir: Path, token: str, mailbox: str, place: Place) -> str:
    now = datetime.now(UTC)
    database = await stores.opened(state_dir)
    try:
        seal = Seal(await keys.ring(database, now))
    finally:
        await database.close()
    cursors = feed_cursors(seal, f"token/{token}", [mailbox], None, All())
    return cursors.write({place_key(mailbox, "INBOX"): place}, now)
