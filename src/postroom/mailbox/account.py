"""The unfiltered mailbox: folders and messages as the server has them. Imported by this package alone."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from postroom.base.errors import not_found
from postroom.config import FoldersConfig
from postroom.imap import commands
from postroom.imap.connection import Connection
from postroom.imap.faults import ImapFault, RefusedFault
from postroom.imap.pool import Pool
from postroom.mailbox.cache import RowCache
from postroom.mailbox.faults import imap_error
from postroom.mailbox.folders import INBOX, Folder, read_folders
from postroom.mailbox.reading import OpenFolder

_NO_SUCH_FOLDER = {"NONEXISTENT", "TRYCREATE", "CANNOT"}


class Account:
    """One mailbox over its pool. Every IMAP failure leaves here as a `GatewayError`, translated once."""

    def __init__(self, name: str, pool: Pool, special: FoldersConfig) -> None:
        self.name = name
        self._pool = pool
        self._overrides = {use: name for use, name in special.model_dump().items() if name}
        self._folders: dict[str, Folder] = {}
        self._rows = RowCache()

    async def folders(self) -> tuple[Folder, ...]:
        """All folders, asked anew, INBOX first."""
        async with self._connected() as connection:
            return await self._list(connection)

    @asynccontextmanager
    async def open(self, folder: str) -> AsyncIterator[OpenFolder]:
        """A folder open for reading. Raises `not_found` with the names that do exist."""
        known = await self._resolve(folder)
        async with self._connected(known) as connection:
            yield OpenFolder(connection, known.name, self._rows)

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
        try:
            async with self._pool.connection(folder.raw if folder else None) as connection:
                yield connection
        except RefusedFault as fault:
            if folder is not None and fault.code in _NO_SUCH_FOLDER:
                self._folders.pop(folder.name, None)
                raise not_found(f"Folder {folder.name!r} does not exist any more.", argument="folder") from fault
            raise imap_error(fault, self.name) from fault
        except ImapFault as fault:
            raise imap_error(fault, self.name) from fault

    async def _list(self, connection: Connection) -> tuple[Folder, ...]:
        prefix = await commands.personal_prefix(connection)
        folders = read_folders(await commands.list_folders(connection), prefix, self._overrides)
        self._folders = {folder.name: folder for folder in folders}
        return folders

    async def _resolve(self, name: str) -> Folder:
        """INBOX needs no listing; any other name must be one that the server listed, and is sent as it spelled it."""
        if name.upper() == INBOX:
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
        nearest = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        return not_found(
            f"There is no folder of that name{hint}. Use a name that list_folders returns.",
            argument="folder",
            folders=names[:100],
        )
