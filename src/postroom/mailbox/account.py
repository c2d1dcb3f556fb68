"""The unfiltered mailbox: folders and messages as the server has them. Imported by this package alone."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

from postroom.base.errors import GatewayError, not_found
from postroom.config import FoldersConfig
from postroom.imap import commands
from postroom.imap.commands import Namespaces
from postroom.imap.connection import Connection
from postroom.imap.faults import BusyFault, DeadlineFault, ImapFault, LostFault, RefusedFault
from postroom.imap.pool import Pool
from postroom.mailbox.cache import MessageCache, RowCache
from postroom.mailbox.faults import imap_error
from postroom.mailbox.folders import INBOX, Folder, read_folders
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.session import Sessions
from postroom.mailbox.statistics import Statistics, read_statistics

_NO_SUCH_FOLDER = {"NONEXISTENT", "TRYCREATE", "CANNOT"}
_BUSY = {"UNAVAILABLE", "INUSE", "LIMIT"}
_PATIENCE = 4
"""Commands' deadlines that one call may take in all."""
_MOST_NAMED = 8_000
"""Characters of folder names that an error tells."""
_MOST_COMPARED, _LONGEST_COMPARED = 300, 60
"""Names that are compared with one that does not exist, and their letters: nearness costs time."""


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
        self._rows = RowCache()
        self._sessions = Sessions()
        self.messages = MessageCache()

    async def folders(self) -> tuple[Folder, ...]:
        """All folders, asked anew, INBOX first."""
        try:
            async with self._connected() as connection:
                return await self._list(connection, await self._namespaces(connection))
        except _NamespacesLost:
            async with self._connected() as connection:
                return await self._list(connection, Namespaces())

    @asynccontextmanager
    async def open(self, folder: str) -> AsyncIterator[OpenFolder]:
        """A folder open for reading. Raises `not_found` with the names that do exist."""
        known = await self._resolve(folder)
        async with self._connected(known) as connection:
            yield OpenFolder(connection, known, self._rows, self._sessions.of(connection))

    async def statistics(self) -> Statistics:
        folders = await self.folders()
        async with self._connected() as connection:
            return await read_statistics(connection, folders)

    async def probe(self) -> None:
        """Connect and log in once. Raises `imap_error`."""
        try:
            await self._pool.probe()
        except ImapFault as fault:
            raise imap_error(fault, self.name) from fault

    def close(self) -> None:
        self._pool.close()

    @asynccontextmanager
    async def _connected(self, folder: Folder | None = None) -> AsyncIterator[Connection]:
        opened = False
        try:
            async with (
                asyncio.timeout(self._patience),
                self._pool.connection(folder.raw if folder else None) as connection,
            ):
                opened = True
                yield connection
        except TimeoutError:
            raise imap_error(DeadlineFault("the server is too slow for this call"), self.name) from None
        except RefusedFault as fault:
            if folder is not None and not opened and await self._is_gone(folder, fault):
                self._folders.pop(folder.name, None)
                raise not_found(f"Folder {folder.name!r} does not exist any more.", argument="folder") from fault
            raise self._told(fault) from fault
        except ImapFault as fault:
            raise imap_error(fault, self.name) from fault

    async def _is_gone(self, folder: Folder, fault: RefusedFault) -> bool:
        """Whether a folder cannot be opened because it does not exist; a refusal without a code leaves that open."""
        if fault.code is not None or folder.name == INBOX:
            return fault.code in _NO_SUCH_FOLDER
        return all(one.raw != folder.raw for one in await self.folders())

    def _told(self, fault: RefusedFault) -> GatewayError:
        busy = BusyFault("the server cannot do this now")
        return imap_error(busy if fault.code in _BUSY else fault, self.name)

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

    async def _resolve(self, name: str) -> Folder:
        """INBOX needs no listing; any other name must be one that the server listed, and is sent as it spelled it."""
        if name.isascii() and name.upper() == INBOX:
            return Folder(INBOX, INBOX.encode(), None, "inbox", selectable=True)
        known = self._folders.get(name)
        if known is None:
            await self.folders()
            known = self._folders.get(name)
        if known is None or not known.selectable:
            raise self._no_folder(name)
        return known

    def _no_folder(self, name: str) -> Exception:
        names = [folder.name for folder in self._folders.values() if folder.selectable]
        compared = {one.casefold(): one for one in reversed(names[:_MOST_COMPARED]) if len(one) <= _LONGEST_COMPARED}
        alike = difflib.get_close_matches(name[:_LONGEST_COMPARED].casefold(), compared, n=3, cutoff=0.5)
        nearest = [compared[one] for one in alike]
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        return not_found(
            f"There is no folder of that name{hint}. Use a name that list_folders returns.",
            argument="folder",
            folders=list(_some(names)),
        )


def _some(names: Sequence[str]) -> Iterator[str]:
    """The first, within what an error may take."""
    left = _MOST_NAMED
    for name in names[:100]:
        left -= len(name) + 3
        if left < 0:
            return
        yield name
