"""Whether a message that was told of is still there for whoever was told."""

from __future__ import annotations

from postroom.mail.model import Named
from postroom.mailbox.sight import Sight


async def is_shown(sight: Sight, message: Named) -> bool:
    """Whether a row of it would be shown. Raises a `GatewayError` for a folder that cannot be opened."""
    async with sight.open(message.folder) as opened:
        if not await opened.has_numbering(message.uid_validity):
            return False
        rows = await opened.rows([message.uid])
        return any(shown is not None for shown in await sight.rows(opened, rows))
