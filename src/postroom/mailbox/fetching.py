"""A FETCH that one bad message does not spoil: what its answer lacks is asked for again, with less and one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from postroom.imap import commands
from postroom.imap.commands import FetchAnswer, Items
from postroom.imap.connection import Connection
from postroom.imap.search import uids_between

Uids: TypeAlias = set[int] | range
"""Single UIDs, or all from one on."""
_MOST_ALONE = 20
"""Messages that are asked for one by one; more of them stay unread."""


async def fetch_whole(
    connection: Connection, uids: Uids, items: str, fewer: str, has: Callable[[Items], bool]
) -> FetchAnswer:
    """Those of these messages that exist: told as `has` wants it, or among `garbled`.

    `fewer` is asked for on the second try, since it is mostly a BODYSTRUCTURE that a server cannot tell. Raises the
    server's refusal if it refused every message there is.
    """
    first = await commands.uid_fetch(connection, uids, items)
    good = {uid: told for uid, told in first.messages.items() if uid in uids and has(told)}
    lacking = await _lacking(connection, uids, first) - good.keys()
    found, unread = await _again(connection, lacking, fewer, has) if lacking else ({}, set[int]())
    if first.refused is not None and unread and not good and not found:
        raise first.refused
    return FetchAnswer(good | found, frozenset(unread))


async def _lacking(connection: Connection, uids: Uids, first: FetchAnswer) -> set[int]:
    """Messages that there are, as the answer tells; if it may lack some altogether, the server is asked."""
    there: Iterable[int] = first.garbled | first.messages.keys()
    if first.partial:
        low, high = (uids[0], uids[-1]) if isinstance(uids, range) else (min(uids), max(uids))
        there = await uids_between(connection, low, high)
    return {uid for uid in there if uid in uids}


async def _again(
    connection: Connection, lacking: set[int], items: str, has: Callable[[Items], bool]
) -> tuple[dict[int, Items], set[int]]:
    """What of these can be read, and which cannot; those that turn out to be gone are in neither."""
    second = await commands.uid_fetch(connection, lacking, items)
    found = {uid: told for uid, told in second.messages.items() if uid in lacking and has(told)}
    unread = (lacking if second.partial else lacking & (second.messages.keys() | second.garbled)) - found.keys()
    alone = sorted(unread, reverse=True)[:_MOST_ALONE] if len(lacking) > 1 else []
    for uid in alone:
        third = await commands.uid_fetch(connection, [uid], items)
        if uid in third.messages and has(third.messages[uid]):
            found[uid] = third.messages[uid]
            unread.discard(uid)
    return found, unread
