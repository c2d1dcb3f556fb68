"""The unfiltered mailbox: folders and messages as the server has them. Imported by this package alone."""

from __future__ import annotations

import asyncio
import difflib
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime

from postroom.base.errors import Code, GatewayError, invalid, not_found
from postroom.base.turns import Turns
from postroom.config import FoldersConfig
from postroom.imap import changes, commands
from postroom.imap.commands import Namespaces
from postroom.imap.connection import Connection
from postroom.imap.faults import DeadlineFault, ImapFault, LostFault, RefusedFault
from postroom.imap.pool import Pool
from postroom.imap.watching import Standing, standing
from postroom.mailbox.cache import NO_MORE, MessageCache, RowCache
from postroom.mailbox.changing import ChangingFolder
from postroom.mailbox.conversations import Conversations
from postroom.mailbox.faults import NO_SUCH_FOLDER, imap_error, read_only, refusal
from postroom.mailbox.folders import INBOX, Folder, read_folders
from postroom.mailbox.naming import new_name, shown_name
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.session import Sessions
from postroom.mailbox.statistics import Statistics, read_statistics

_ALIVE = 5.0
"""Seconds for which a server that answered is taken to be there, where nothing but that matters."""
_PATIENCE = 4
"""Commands' deadlines that one call may take in all."""
_MOST_NAMED = 8_000
"""Characters of folder names that an error tells."""
_MOST_COMPARED, _LONGEST_COMPARED = 300, 60
"""Names that are compared with one that does not exist, and their letters: nearness costs time."""


_MOST_ROW_CACHES = 8
"""Sets of header fields with which rows are kept: one for unbound callers, and one for each such set of a policy."""


class _NamespacesLost(Exception):
    """The server ended the connection when it was asked for its namespaces."""


class Account:
    """One mailbox over its pool. Every IMAP failure leaves here as a `GatewayError`, translated once."""

    def __init__(self, name: str, pool: Pool, special: FoldersConfig) -> None:
        self._patience = _PATIENCE * pool.command_seconds
        self.name = name
        self._pool = pool
        self._overrides = {use: name for use, name in special.model_dump().items() if name}
        self._folders: dict[str, Folder] = {}
        self._rows: OrderedDict[frozenset[str], RowCache] = OrderedDict()
        self._sessions = Sessions()
        self.messages = MessageCache()
        self.conversations = Conversations(self)
        self.draft_turns = Turns()
        """Whoever changes or sends a draft has it for themselves meanwhile."""

    async def folders(self) -> tuple[Folder, ...]:
        """All folders, asked anew, INBOX first."""
        return (await self._listing())[0]

    @asynccontextmanager
    async def open(
        self,
        folder: str,
        *,
        proved: bool = True,
        since: float = math.inf,
        glance: bool = False,
        fields: frozenset[str] = NO_MORE,
    ) -> AsyncIterator[OpenFolder]:
        """A folder open for reading. Raises `not_found` with the names that do exist.

        `fields` are header fields, in lower case, that rows must have beside those of every row.

        Without `proved` a kept connection is used as it is: for who had it just before. What was true of the folder
        `since` that moment of our clock is news enough: then one that has told since is not asked again.
        A connection that is opened for a `glance` is closed by `end_glances`, if nobody else has used it.
        """
        known = await self._resolve(folder)
        async with self._connected(known, proved=proved, since=since, glance=glance) as connection:
            yield OpenFolder(connection, known, self._rows_with(fields), self._sessions.of(connection))

    @asynccontextmanager
    async def changing(
        self, folder: str, *, proved: bool = True, fields: frozenset[str] = NO_MORE
    ) -> AsyncIterator[ChangingFolder]:
        """A folder open for changes.

        Without `proved` a kept connection is used as it is, and may turn out to be lost: for what can be done twice.
        Raises `not_found`, and `conflict` if nothing can be changed there.
        """
        known = await self._resolve(folder)
        async with self._connected(known, changes=True, proved=proved) as connection:
            opened = ChangingFolder(connection, known, self._rows_with(fields), self._sessions.of(connection))
            if opened.read_only:
                raise read_only(known.name)
            try:
                yield opened
            finally:
                self._sessions.forget_elsewhere(connection, known.raw)

    async def append(
        self, folder: Folder, octets: bytes, flags: Collection[str], received_at: datetime | None = None
    ) -> tuple[int, int] | None:
        """File a message; UIDVALIDITY and UID where the server tells them. Raises `not_found` if the folder is gone.

        If the connection is lost meanwhile (`imap_error`, reason `lost` or `timeout`) it may have been filed.
        """
        async with self._connected(since=self._pool.ago(_ALIVE)) as connection:
            try:
                return await changes.append(connection, folder.raw, octets, flags, received_at)
            except RefusedFault as fault:
                if fault.code not in NO_SUCH_FOLDER:
                    raise
                self._folders.pop(folder.name, None)
                raise not_found(f"Folder {folder.name!r} does not exist any more.", argument="folder") from fault

    async def file(
        self, use: str, name: str, octets: bytes, flags: Collection[str]
    ) -> tuple[Folder, tuple[int, int] | None]:
        """`append` in the folder of this special use, which is `made_special`.

        Another client may have renamed or deleted it, or whatever folder the connection was in: Dovecot then refuses
        without a code, and leaves. Nothing was filed, so it is done once more with folders asked anew.
        """
        folder = await self.made_special(use, name)
        try:
            return folder, await self.append(folder, octets, flags)
        except GatewayError as error:
            if error.code is not Code.NOT_FOUND and error.details.get("reason") != RefusedFault.reason:
                raise
        self._folders = {}
        folder = await self.made_special(use, name)
        return folder, await self.append(folder, octets, flags)

    async def folder(self, name: str, argument: str = "folder") -> Folder:
        """The folder of that name. Raises `not_found` with the names that do exist."""
        return await self._resolve(name, argument)

    async def create_folder(self, name: str) -> tuple[str, bool]:
        """Its name as lists tell it, and whether it was made now. Raises `validation_error` for what is no name."""
        folders, namespaces = await self._listing()
        raw = new_name(name, _delimiter(folders), namespaces)
        known = next((one for one in folders if shown_name(raw) == one.name or raw == one.raw), None)
        if known is not None and known.selectable:
            return known.name, False
        async with self._connected() as connection:
            made = await _made(connection, raw)
        self._folders = {}
        return shown_name(raw), made

    async def special(self, use: str) -> Folder | None:
        """The folder of this special use, such as `trash`, `drafts` or `sent`; None if there is none."""
        known = _of_use(self._folders.values(), use)
        return known or _of_use(await self.folders(), use)

    async def made_special(self, use: str, name: str) -> Folder:
        """The folder of this special use; where there is none, one of that name is made, as other clients do."""
        known = await self.special(use)
        if known is None:
            shown, _ = await self.create_folder(self._overrides.get(use, name))
            known = await self._resolve(shown)
        return known

    async def statistics(self) -> Statistics:
        folders = await self.folders()
        async with self._connected() as connection:
            return await read_statistics(connection, folders)

    async def listener(self) -> Connection:
        """A connection of its own to listen on; whoever asks closes it, one at a time. Raises an `ImapFault`."""
        return await self._pool.apart()

    async def standing(self, folder: Folder) -> Standing | None:
        """How a folder stands now; None if the server does not tell. Raises a `GatewayError`."""
        async with self._connected() as connection:
            with suppress(RefusedFault):
                return await standing(connection, folder.raw)
        return None

    async def probe(self) -> None:
        """Connect and log in once. Raises `imap_error`."""
        try:
            await self._pool.probe()
        except ImapFault as fault:
            raise imap_error(fault, self.name) from fault

    def end_glances(self) -> None:
        """Close what was opened to see whether something happened, and was of no other use."""
        self._pool.end_glances()

    def tidy(self) -> None:
        """Close connections that nobody has used for a while."""
        self._pool.tidy()

    def close(self) -> None:
        self._pool.close()

    def _rows_with(self, fields: frozenset[str]) -> RowCache:
        """Rows with other fields are other rows; those that nobody has asked for longest are forgotten."""
        rows = self._rows.setdefault(fields, RowCache(fields))
        self._rows.move_to_end(fields)
        if len(self._rows) > _MOST_ROW_CACHES:
            self._rows.popitem(last=False)
        return rows

    @asynccontextmanager
    async def _connected(
        self,
        folder: Folder | None = None,
        *,
        changes: bool = False,
        proved: bool = True,
        since: float = math.inf,
        glance: bool = False,
    ) -> AsyncIterator[Connection]:
        opened, raw = False, folder.raw if folder else None
        try:
            async with (
                asyncio.timeout(self._patience),
                self._pool.connection(raw, changes=changes, proved=proved, since=since, glance=glance) as connection,
            ):
                opened = True
                yield connection
        except TimeoutError:
            what = "the server is too slow for this call"
            what += ", which may be done in part: list the folder before you try again" if changes else ""
            raise imap_error(DeadlineFault(what), self.name) from None
        except RefusedFault as fault:
            if folder is not None and not opened and await self._is_gone(folder, fault):
                self._folders.pop(folder.name, None)
                raise not_found(f"Folder {folder.name!r} does not exist any more.", argument="folder") from fault
            raise refusal(fault, self.name) from fault
        except ImapFault as fault:
            raise imap_error(fault, self.name) from fault

    async def _is_gone(self, folder: Folder, fault: RefusedFault) -> bool:
        """Whether a folder cannot be opened because it does not exist; a refusal without a code leaves that open."""
        if fault.code is not None or folder.name == INBOX:
            return fault.code in NO_SUCH_FOLDER
        return all(one.raw != folder.raw for one in await self.folders())

    async def _listing(self) -> tuple[tuple[Folder, ...], Namespaces]:
        try:
            async with self._connected() as connection:
                namespaces = await self._namespaces(connection)
                return await self._list(connection, namespaces), namespaces
        except _NamespacesLost:
            async with self._connected() as connection:
                return await self._list(connection, Namespaces()), Namespaces()

    async def _namespaces(self, connection: Connection) -> Namespaces:
        try:
            return await commands.namespaces(connection)
        except LostFault as fault:
            raise _NamespacesLost from fault

    async def _list(self, connection: Connection, namespaces: Namespaces) -> tuple[Folder, ...]:
        listed = await commands.list_folders(connection)
        folders = await asyncio.to_thread(read_folders, listed, self._overrides, namespaces)
        self._folders = {folder.name: folder for folder in folders}
        return folders

    async def _resolve(self, name: str, argument: str = "folder") -> Folder:
        """INBOX needs no listing; any other name must be one that the server listed, and is sent as it spelled it."""
        if name.isascii() and name.upper() == INBOX:
            return Folder(INBOX, INBOX.encode(), None, "inbox", selectable=True)
        known = self._folders.get(name)
        if known is None:
            await self.folders()
            known = self._folders.get(name)
        if known is None or not known.selectable:
            raise self._no_folder(name, argument)
        return known

    def _no_folder(self, name: str, argument: str) -> Exception:
        names = [folder.name for folder in self._folders.values() if folder.selectable]
        compared = {one.casefold(): one for one in reversed(names[:_MOST_COMPARED]) if len(one) <= _LONGEST_COMPARED}
        alike = difflib.get_close_matches(name[:_LONGEST_COMPARED].casefold(), compared, n=3, cutoff=0.5)
        nearest = [compared[one] for one in alike]
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        return not_found(
            f"There is no folder of that name{hint}. Use a name that list_folders returns.",
            argument=argument,
            folders=list(_some(names)),
        )


def _delimiter(folders: Sequence[Folder]) -> str | None:
    """What parts levels of names: INBOX comes first, but a server may tell none for it."""
    return next((folder.delimiter for folder in folders if folder.delimiter), None)


async def _made(connection: Connection, raw: bytes) -> bool:
    """Create a folder, and have other clients show it. Raises `validation_error` if such a name cannot be."""
    try:
        made = await changes.create(connection, raw)
    except RefusedFault as fault:
        if fault.code == "CANNOT":
            raise invalid("name", "is none that this server takes") from fault
        raise
    if made:
        with suppress(RefusedFault):
            await changes.subscribe(connection, raw)
    return made


def _of_use(folders: Iterable[Folder], use: str) -> Folder | None:
    return next((folder for folder in folders if folder.special_use == use and folder.selectable), None)


def _some(names: Sequence[str]) -> Iterator[str]:
    """The first, within what an error may take."""
    left = _MOST_NAMED
    for name in names[:100]:
        left -= len(name) + 3
        if left < 0:
            return
        yield name
