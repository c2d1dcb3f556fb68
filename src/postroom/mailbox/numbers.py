"""Which messages a folder has, by number and flags alone: for whoever must know that something came, and not what."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from postroom.imap.faults import LostFault
from postroom.imap.wire import MAX_UID
from postroom.mail.model import Named, Shown
from postroom.mailbox.account import Account
from postroom.mailbox.following import Place
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.sight import Sight

_RENUMBERED = "the server numbered the folder anew meanwhile"


@dataclass(frozen=True, slots=True)
class Arrived:
    """UIDs above a place, ascending; none if the place is of another numbering, and then where now ends."""

    uids: tuple[int, ...]
    now: Place | None = None


class Numbers:
    """Of one mailbox, whoever may see what of it. Raises a `GatewayError` for what the server does not do.

    Most looks find nothing, and then `end` leaves no connection behind.
    """

    def __init__(self, account: Account) -> None:
        self._account = account

    def end(self) -> None:
        """Nothing more is asked for now."""
        self._account.end_glances()

    async def now(self, folder: str) -> Place:
        """Where a folder ends now: all that comes has a higher UID."""
        async with self._account.open(folder, glance=True) as opened:
            return await _end(opened)

    async def after(self, folder: str, place: Place) -> Arrived:
        """What came after that place."""
        async with self._account.open(folder, glance=True) as opened:
            if not await opened.has_numbering(place.uid_validity):
                await opened.open_again()
                return Arrived((), await _end(opened))
            return Arrived(tuple(await _above(opened, place.uid)))

    async def flags(self, folder: str, uid_validity: int, uids: Collection[int]) -> dict[int, frozenset[str] | None]:
        """The flags of those of these messages that are there; None where they could not be read."""
        async with self._account.open(folder, glance=True) as opened:
            if not await opened.has_numbering(uid_validity):
                raise LostFault(_RENUMBERED)
            found: dict[int, frozenset[str] | None] = {
                uid: marks.flags for uid, marks in (await opened.marks(uids)).items()
            }
            if missing := set(uids) - found.keys():
                there = await opened.uids(min(missing), max(missing))
                found |= dict.fromkeys(missing.intersection(there))
            return found


class Glimpse:
    """What one caller may see of messages that are named by number. `policy` is the hash of what binds it, or ""."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self.policy = b"".join(sight.seal).hex()

    async def rows(self, folder: str, uid_validity: int, uids: Collection[int]) -> dict[int, Shown]:
        """Those of these messages that it may see, as a list would show them. Raises `not_found` for the folder."""
        async with self._sight.open(folder) as opened:
            if not await opened.has_numbering(uid_validity):
                raise LostFault(_RENUMBERED)
            return await self._seen(opened, uids)

    async def shows(self, message: Named) -> bool:
        """Whether that message is there, in that numbering, and may be seen. Raises `not_found` for the folder."""
        async with self._sight.open(message.folder) as opened:
            is_there = await opened.has_numbering(message.uid_validity)
            return is_there and bool(await self._seen(opened, {message.uid}))

    async def _seen(self, opened: OpenFolder, uids: Collection[int]) -> dict[int, Shown]:
        rows = await opened.rows(uids)
        shown = await self._sight.rows(opened, rows)
        return {row.uid: one for row, one in zip(rows, shown, strict=True) if one is not None}

    def name(self, folder: str, uid: int, uid_validity: int) -> str:
        """The id that the caller knows a message by, whether it is there or not."""
        return self._sight.naming.write(folder, uid, uid_validity)

    async def may_read(self, folder: str) -> None:
        """Raises `not_found` if the folder does not exist for the caller."""
        async with self._sight.open(folder):
            pass


async def _end(opened: OpenFolder) -> Place:
    """A server's UIDNEXT may be too low."""
    top = await opened.top()
    return Place(opened.uid_validity, max(await _above(opened, top), default=top))


async def _above(opened: OpenFolder, uid: int) -> list[int]:
    return await opened.uids(uid + 1, MAX_UID) if uid < MAX_UID else []
