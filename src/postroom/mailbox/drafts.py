"""Drafts of one mailbox for one caller: the Drafts folder alone, and never a moment without the newest text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from postroom.base.errors import Code, GatewayError, not_found
from postroom.base.turns import StillTakenError
from postroom.imap.changes import is_flag
from postroom.mail.model import Shown
from postroom.mail.outgoing.check import check
from postroom.mail.outgoing.compose import compose
from postroom.mail.outgoing.model import Outgoing, StrictAddress
from postroom.mail.outgoing.redraft import read_draft
from postroom.mailbox.bound import LARGEST_DRAFT
from postroom.mailbox.downloads import Download
from postroom.mailbox.faults import why_undone
from postroom.mailbox.finding import uid_of
from postroom.mailbox.folders import Folder
from postroom.mailbox.organizing import Organizer
from postroom.mailbox.sight import Sight
from postroom.mailbox.uids import Asked, asked_for, check_uids, gone

_DRAFTS = "Drafts"
"""What Drafts is called where there is none yet."""
_FLAGS = ("\\Draft", "\\Seen")
_OF_THE_SERVER = ("\\Recent", "\\Deleted")
_TOO_LARGE = f"The draft is larger than {LARGEST_DRAFT:,} octets; another mail program must change or send it."
_PATIENCE = 60.0
"""Seconds to wait for whoever changes or sends the same draft."""

MakeRoom = Callable[[int | None], Awaitable[None]]
"""Awaited before so many octets are fetched."""
Source = Callable[[str | None, str], Awaitable[tuple[Shown, Download]]]


@dataclass(frozen=True, slots=True)
class Saved:
    """A draft that lies in Drafts; `uid` is None if the server does not tell it and it could not be found."""

    uid: str | None
    folder: str
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A draft as it lies there."""

    message: Outgoing
    flags: frozenset[str]
    """Those that somebody has set and a new version should have too."""


class Drafts:
    """`source` opens a message's octets as the caller may see them."""

    def __init__(self, sight: Sight, organizer: Organizer, source: Source) -> None:
        self._sight = sight
        self._account = sight.account
        self._organizer = organizer
        self._source = source

    async def folder(self) -> Folder | None:
        """Where drafts lie; None if there are none yet."""
        return await self._sight.special("drafts")

    async def save(self, outgoing: Outgoing, flags: Collection[str] = ()) -> Saved:
        """File a new draft, with these flags besides; its Message-ID must be new as well.

        Raises a `GatewayError` if it may not be there, with `outcome` unknown in its details if it may be all the same.
        """
        octets = await asyncio.to_thread(_draft_octets, outgoing)
        await self._sight.note_draft(outgoing.message_id, octets)
        try:
            folder, told = await self._account.file("drafts", _DRAFTS, octets, {*_FLAGS, *flags})
        except GatewayError as error:
            if error.details.get("reason") not in ("lost", "timeout"):
                raise
            if (saved := await self._seen(outgoing.message_id)) is None:
                raise self.perhaps_saved(error.details["reason"]) from error
            return saved
        if told is not None:
            return Saved(self._sight.naming.write(folder.name, told[1], told[0]), folder.name)
        saved = await self._seen(outgoing.message_id)
        return saved or Saved(None, folder.name, "The server does not tell the new draft's uid; list_drafts shows it.")

    @asynccontextmanager
    async def held(self, uid: str) -> AsyncIterator[None]:
        """Have a draft for oneself, so that nobody else changes or sends it meanwhile. Raises `conflict`."""
        try:
            async with self._account.draft_turns.of(await self.numbers(uid), _PATIENCE):
                yield
        except StillTakenError:
            message = "Another call is changing or sending this draft. List the drafts, then try again."
            raise GatewayError(Code.CONFLICT, message, argument="uid", retryable=True) from None

    async def read(
        self, uid: str, sender: StrictAddress, make_room: MakeRoom, *, replaced: Collection[str] = ()
    ) -> Written:
        """A draft. Raises a `GatewayError`; `sender` and `replaced` as for `read_draft`."""
        check_uids(self._sight.naming, [uid], whole=True, several=False)
        shown, download = await self._source((await self._named()).name, uid)
        if is_deleted(shown):
            raise gone(uid)
        await make_room(shown.size)
        pieces, size = [], 0
        async for piece in download.octets():
            pieces.append(piece)
            if (size := size + len(piece)) > LARGEST_DRAFT:
                raise GatewayError(Code.TOO_LARGE, _TOO_LARGE, limit=LARGEST_DRAFT)
        octets = b"".join(pieces)
        await self._check_own(shown, octets)
        draft = await asyncio.to_thread(read_draft, octets, sender, replaced=replaced)
        return Written(draft, frozenset(flag for flag in shown.flags if flag not in _OF_THE_SERVER and is_flag(flag)))

    async def discard(self, uid: str) -> str | None:
        """Erase a draft whose text lies elsewhere by now; why it is still there, or None. Never raises for that."""
        try:
            folder, asked = await self._asked(uid)
            results = await self._organizer.erase(folder.name, asked)
        except GatewayError as error:
            return f"The old draft {uid} may still be there: {why_undone(error)}"
        (result,) = results.results
        if result.error is not None and result.error.code is not Code.NOT_FOUND:
            return f"The old draft {uid} may still be there: {why_undone(result.error)}"
        return results.note

    async def delete(self, uid: str) -> None:
        """Move a draft to Trash, or erase it where there is no Trash. Raises a `GatewayError`."""
        folder, asked = await self._asked(uid)
        if await self._sight.own_drafts() is not None:
            await self._check_whose(folder, uid)
        if await self._account.special("trash") is None:
            results = await self._organizer.erase(folder.name, asked)
        else:
            results = await self._organizer.delete(folder.name, asked, permanent=False)
        (result,) = results.results
        if result.error is not None:
            raise result.error

    async def saved(self, message_id: str) -> Saved | None:
        """The draft with this Message-ID, if one of the newest has it. Raises a `GatewayError`."""
        folder = await self.folder()
        uid = await self._find(folder, message_id) if folder is not None else None
        return Saved(uid, folder.name) if folder is not None and uid is not None else None

    def perhaps_saved(self, reason: str | None = None) -> GatewayError:
        """What is told of a draft that the server may have, and that is not seen there."""
        message = (
            f"Mailbox {self._account.name}: the connection was lost while the draft was saved; it may be there all the "
            "same. List the drafts before you save it again."
        )
        details: dict[str, Any] = {"mailbox": self._account.name, "outcome": "unknown", "retryable": False}
        return GatewayError(Code.IMAP_ERROR, message, **details | ({"reason": reason} if reason else {}))

    async def numbers(self, uid: str) -> tuple[int, int]:
        """UID and UIDVALIDITY (0 of a server that tells none) of a draft, whatever this caller calls it."""
        _, asked = await self._asked(uid)
        ((number, uid_validity),) = asked.values()
        return number, uid_validity or 0

    async def _asked(self, uid: str) -> tuple[Folder, Asked]:
        check_uids(self._sight.naming, [uid], whole=True, several=False)
        folder = await self._named()
        return folder, asked_for(self._sight.naming, folder.name, [uid], whole=True, several=False)

    async def _check_whose(self, folder: Folder, uid: str) -> None:
        shown, download = await self._source(folder.name, uid)
        await self._check_own(shown, b"".join([piece async for piece in download.octets()]))

    async def _check_own(self, shown: Shown, octets: bytes) -> None:
        """Whether its octets are the caller's to send: of others' drafts only where it may have their source."""
        own, message_id = await self._sight.own_drafts(), shown.threading.message_id or ""
        if own is not None and own.get(message_id) != sha256(octets).hexdigest():
            raise gone(shown.uid)
        if own is None and not await self._sight.has_drafted(message_id, octets):
            if shown.withheld:
                raise gone(shown.uid)
            self._sight.check_source()

    async def _named(self) -> Folder:
        folder = await self.folder()
        if folder is None:
            raise not_found("This mailbox has no Drafts folder, so it has no drafts. Make one with create_draft.")
        return folder

    async def _seen(self, message_id: str) -> Saved | None:
        """As `saved`; None also if that cannot be found out now."""
        try:
            return await self.saved(message_id)
        except GatewayError:
            return None

    async def _find(self, folder: Folder, message_id: str) -> str | None:
        async with self._sight.open(folder.name) as opened:
            uid = await uid_of(opened, message_id, deep=False)
            return self._sight.naming.write(opened.name, uid, opened.uid_validity) if uid is not None else None


def _draft_octets(outgoing: Outgoing) -> bytes:
    octets = compose(outgoing, draft=True)
    check(octets, outgoing, draft=True)
    return octets


def is_deleted(draft: Shown) -> bool:
    """It only waits to be erased, on a server that cannot erase single messages."""
    return "\\Deleted" in draft.flags
