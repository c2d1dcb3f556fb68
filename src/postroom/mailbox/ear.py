"""One connection that listens to some folders of a mailbox: by IDLE, by NOTIFY, else by asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from postroom.base.clock import Clock
from postroom.imap.connection import Connection
from postroom.imap.faults import DeadlineFault, LostFault, RefusedFault
from postroom.imap.watching import Standing, notify, standing, standing_of, told_of
from postroom.imap.wire import Untagged
from postroom.mailbox.folders import Folder

ASKING = 10.0
"""Seconds between two questions for what a server does not tell by itself."""
LISTENING = 60.0
"""Seconds after which a server is asked whether it forgot to tell, and shows that it is there."""
_REOPEN = 10
"""Questions after which the open folder is opened again: a session does not learn that its folder was made anew."""


class Ear:
    """Tells `happened` the names of folders where something may have happened. It fetches nothing.

    One folder is open, by EXAMINE. Of the others the server tells where it offers NOTIFY; else it is asked.
    """

    def __init__(self, connection: Connection, clock: Clock, happened: Callable[[str], None], *, idles: bool) -> None:
        self._connection = connection
        self._clock = clock
        self._happened = happened
        self._idles = idles and "IDLE" in connection.capabilities
        self._open: Folder | None = None
        self._asked: dict[Folder, Standing] = {}
        self._told: Mapping[bytes, str] = {}
        """Those of the asked that the server tells of by itself, so that they need not be asked as often."""
        self._asking: bytes | None = None
        """Whose STATUS is an answer and no news."""
        self._since = 0.0
        self._rounds = 0
        self.is_outdated = False
        """A folder was made anew: Dovecot tells of it only to who connects anew."""
        connection.hear = self._hear

    async def turn_to(self, folders: list[Folder]) -> list[Folder]:
        """Listen to these from now on; those of them that can be listened to."""
        self._told, self._asked, self._rounds = {}, {}, 0
        self._open = None
        there = [folder for folder in folders if await self._is_there(folder)]
        await self._share(there[1:])
        return there

    async def listen(self) -> None:
        """Return after a round of listening. Raises an `ImapFault`."""
        self._since = self._clock.monotonic()
        if self._idles:
            await self._idle()
        else:
            await self._clock.sleep(ASKING)
        await self._ask()

    def nudge(self, *, at_once: bool = False) -> None:
        """End a round that is due, or any that is on."""
        if at_once or self._clock.monotonic() - self._since >= self._patience:
            self._connection.end_idle()

    def close(self) -> None:
        self._connection.close()

    @property
    def _patience(self) -> float:
        return ASKING if self._asked and not self._told else LISTENING

    async def _is_there(self, folder: Folder) -> bool:
        """The first is opened, of the others it is asked how they stand."""
        try:
            if self._open is None:
                await self._connection.select(folder.raw, read_only=True)
                self._open = folder
            else:
                self._asked[folder] = await self._standing(folder)
        except RefusedFault:
            return False
        return True

    async def _share(self, others: list[Folder]) -> None:
        """What the server tells by itself need not be asked."""
        if others and self._idles and await notify(self._connection, [folder.raw for folder in others]):
            self._told = {folder.raw: folder.name for folder in others}
            # What came between the question and now was told by neither.
            await self._ask_others()

    async def _idle(self) -> None:
        """A server that does not wait as it said it would is asked from now on."""
        try:
            self._idles = await self._connection.idle()
        except RefusedFault:
            self._idles = False

    async def _ask(self) -> None:
        """What a server forgot to tell, or tells only who asks."""
        self._rounds += 1
        selected = self._connection.selected
        if self._open is None or selected is None:
            raise LostFault("the server closed the folder")
        if self._rounds % _REOPEN == 0:
            again = await self._connection.select(self._open.raw, read_only=True)
            if standing_of(again) != standing_of(selected):
                self._happened(self._open.name)
        else:
            await self._connection.run("NOOP")
        before = dict(self._asked)
        await self._ask_others()
        made_anew = any(self._asked[folder].uid_validity != stood.uid_validity for folder, stood in before.items())
        self.is_outdated = made_anew and bool(self._told)

    async def _ask_others(self) -> None:
        for folder, before in list(self._asked.items()):
            self._asked[folder] = await self._compare(folder, before)

    async def _compare(self, folder: Folder, before: Standing) -> Standing:
        now = await self._standing(folder)
        if now != before or not now.tells:
            self._happened(folder.name)
        return now

    async def _standing(self, folder: Folder) -> Standing:
        self._asking = folder.raw
        try:
            return await standing(self._connection, folder.raw)
        finally:
            self._asking = None

    def _hear(self, response: Untagged | None) -> None:
        """RECENT tells nothing that EXISTS does not tell beside it."""
        name = told_of(response) if response is not None else None
        if name is not None:
            if name == self._asking:
                self._asking = None
            elif name in self._told:
                self._happened(self._told[name])
        elif self._open is not None and (response is None or response.kind != "RECENT"):
            self._happened(self._open.name)


def never_began(connection: Connection, fault: Exception) -> bool:
    """A server that announces IDLE, and falls silent or goes when it is asked for it."""
    return connection.idles == 0 and isinstance(fault, DeadlineFault | LostFault)
