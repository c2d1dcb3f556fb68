"""How many messages each folder holds, and how full a mailbox is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from postroom.imap.connection import Connection
from postroom.imap.statistics import Counts, Quota, count, count_all, quota
from postroom.mailbox.folders import Folder


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of one mailbox, in the order of its folders; `quota` is None where the server has none."""

    folders: tuple[tuple[Folder, Counts], ...]
    quota: Quota | None


async def read_statistics(connection: Connection, folders: Sequence[Folder]) -> Statistics:
    """Counts of every folder that can be opened, in one command where the server can, and the quota."""
    together = await count_all(connection) or {}
    counts = [
        (folder, told if (told := together.get(folder.raw)) and told.known else await count(connection, folder.raw))
        for folder in folders
        if folder.selectable
    ]
    return Statistics(tuple(counts), await quota(connection))
