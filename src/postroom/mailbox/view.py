"""One mailbox as one caller may see it: the only road from an operation to mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from postroom.base.caller import Caller
from postroom.base.clock import Clock
from postroom.base.errors import GatewayError
from postroom.base.seal import Seal
from postroom.config import MailboxConfig
from postroom.mail.model import Fetched, Shown
from postroom.mailbox.account import Account
from postroom.mailbox.cursors import Cursors, Position, bad_cursor
from postroom.mailbox.folders import Folder
from postroom.mailbox.listing import read_page
from postroom.mailbox.uids import changed, gone, read_uid, write_uid
from postroom.policy.visibility import show


@dataclass(frozen=True, slots=True)
class Listing:
    """A page for a caller: what it sees, how to go on, and why something may be missing."""

    folder: str
    rows: tuple[Shown, ...]
    next_cursor: str | None
    incomplete: str | None


class MailboxView:
    """Made anew for each call by the directory; decides anew at each use."""

    def __init__(self, caller: Caller, settings: MailboxConfig, account: Account, seal: Seal, clock: Clock) -> None:
        self.name = settings.name
        self._caller = caller
        self._settings = settings
        self._account = account
        self._seal = seal
        self._clock = clock

    @property
    def default_folder(self) -> str:
        return self._settings.imap.default_folder if self._settings.imap else "INBOX"

    async def folders(self) -> tuple[Folder, ...]:
        return await self._account.folders()

    async def page(self, folder: str | None, *, limit: int, cursor: str | None) -> Listing:
        """The newest rows of a folder, or those after `cursor`. Raises a `GatewayError`."""
        async with self._account.open(folder or self.default_folder) as opened:
            cursors = self._cursors(opened.name)
            position = cursors.read(cursor, self._clock.now()) if cursor else None
            if position and position.uid_validity != opened.uid_validity:
                raise bad_cursor("is stale: the server has renumbered this folder")
            below = position.uid if position else None
            page = await read_page(opened, below=below, limit=limit, show=self._show)
            following = Position(page.last_uid, opened.uid_validity) if page.last_uid else None
            return Listing(opened.name, page.rows, self._sealed(cursors, following), page.incomplete)

    def cursor_after(self, row: Shown) -> str:
        """A cursor that goes on behind this row of a page: for an answer that had to be cut shorter."""
        uid, uid_validity = read_uid(row.uid)
        return self._cursors(row.folder).write(Position(uid, uid_validity or 0), self._clock.now())

    async def messages(self, folder: str | None, uids: Sequence[str]) -> Mapping[str, Shown | GatewayError]:
        """Each uid's message with its content, or why there is none. Raises for what concerns all of them."""
        asked = {uid: read_uid(uid, f"uids[{place}]" if len(uids) > 1 else "uid") for place, uid in enumerate(uids)}
        async with self._account.open(folder or self.default_folder) as opened:
            current = {
                uid: number for uid, (number, validity) in asked.items() if validity in (None, opened.uid_validity)
            }
            found = await opened.messages(current.values()) if current else {}
        answers: dict[str, Shown | GatewayError] = {}
        for uid in uids:
            fetched = found.get(current[uid]) if uid in current else None
            shown = self._show(fetched) if fetched else None
            answers[uid] = shown or (gone(uid) if uid in current else changed(uid))
        return answers

    def _show(self, fetched: Fetched) -> Shown | None:
        return show(fetched, write_uid(fetched.uid, fetched.uid_validity))

    def _cursors(self, folder: str) -> Cursors:
        bound = (self.name.encode(), folder.encode(), b"list_messages", self._settings.fingerprint)
        return Cursors(self._seal, self._caller.identity, bound)

    def _sealed(self, cursors: Cursors, position: Position | None) -> str | None:
        return cursors.write(position, self._clock.now()) if position else None
