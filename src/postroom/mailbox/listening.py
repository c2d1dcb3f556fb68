"""A mailbox's listener: runs while somebody wants to hear of its folders, and comes back after every fault."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from postroom.base.backoff import rest_after
from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.base.logs import Log
from postroom.imap.faults import BusyFault, ImapFault
from postroom.imap.pool import CROWDED_REST
from postroom.imap.watching import Standing
from postroom.mailbox.account import Account
from postroom.mailbox.board import Board
from postroom.mailbox.ear import ASKING, Ear, never_began
from postroom.mailbox.folders import Folder

LINGER = 30.0
"""Seconds for which a folder is listened to after the last who wanted it: a caller that polls comes back."""
MOST_FOLDERS = 50
"""Of one mailbox that are listened to at a time; others are looked at by those who wait for them."""
_STRIKES = 2
"""IDLEs in a row that never began after which the server is asked instead."""


class Listener:
    """Of one mailbox. `run` is its task, `want` and `release` count who wants which folder."""

    def __init__(self, account: Account, board: Board, clock: Clock, log: Log | None, chance: Callable[[], float]):
        self._account = account
        self._board = board
        self._clock = clock
        self._log = log
        self._chance = chance
        self._wanted: dict[str, int] = {}
        self._unwanted_since: dict[str, float] = {}
        self._ear: Ear | None = None
        self._turned = False
        self._trusted: set[str] = set()
        self._failures = 0
        self._strikes = 0

    @property
    def is_wanted(self) -> bool:
        return bool(self._wanted)

    def want(self, folder: str) -> bool:
        """Count one more who wants it; False, and not counted, if there are too many to listen to."""
        if folder not in self._wanted:
            if len(self._wanted) >= MOST_FOLDERS:
                return False
            self._turn()
        self._wanted[folder] = self._wanted.get(folder, 0) + 1
        self._unwanted_since.pop(folder, None)
        return True

    def release(self, folder: str) -> None:
        """Count one less of those who were counted."""
        self._wanted[folder] -= 1
        if not self._wanted[folder]:
            self._unwanted_since[folder] = self._clock.monotonic()

    def tick(self) -> None:
        """From time to time: forget folders that nobody wants any more, and end a round of listening that is due."""
        now = self._clock.monotonic()
        for folder, since in list(self._unwanted_since.items()):
            if now - since >= LINGER:
                del self._wanted[folder], self._unwanted_since[folder]
                self._turn()
        if self._ear is not None:
            self._ear.nudge()

    async def run(self) -> None:
        """Listen until cancelled, whatever happens."""
        try:
            while True:
                await self._clock.sleep(await self._tried())
        finally:
            self._doubt_all()

    async def _tried(self) -> float:
        """Listen, or ask, until something goes wrong; the seconds to rest after it."""
        rest = None
        try:
            await self._heard()
            return 0.0
        except ImapFault as fault:
            self._tell("listen.failed", fault.reason)
            rest = fault.retry_after
        except GatewayError as error:
            self._tell("listen.failed", str(error.details.get("reason", error.code)))
        except Exception as error:  # noqa: BLE001 - a supervisor: whatever it is, others wait for this task
            if self._log is not None:
                self._log.error("listen.failed", error, mailbox=self._account.name)
        self._doubt_all()
        self._failures += 1
        return rest if rest is not None else rest_after(self._failures - 1, self._chance())

    async def _heard(self) -> None:
        try:
            await self._listen()
        except BusyFault:
            await self._asked()

    async def _listen(self) -> None:
        connection = await self._account.listener()
        self._ear = Ear(connection, self._clock, self._happened, idles=self._strikes < _STRIKES)
        try:
            while not self._ear.is_outdated:
                self._turned = False
                await self._turned_to(self._ear)
                while not (self._turned or self._ear.is_outdated):
                    await self._ear.listen()
                    self._failures = self._strikes = 0
        except ImapFault as fault:
            self._strikes += never_began(connection, fault)
            raise
        finally:
            self._ear.close()
            self._ear = None

    async def _turned_to(self, ear: Ear) -> None:
        """Nobody was told of what came while the ear was turned, not even where it listened before."""
        there = [folder.name for folder in await ear.turn_to(await self._folders())]
        for name in self._trusted.intersection(there):
            self._happened(name)
        self._trust(there)

    async def _asked(self) -> None:
        """Where the server has no room for a listener: how the folders stand is asked over the pool for a while."""
        self._tell("listen.polling", BusyFault.reason)
        until = self._clock.monotonic() + CROWDED_REST
        before: dict[str, Standing] = {}
        while self._clock.monotonic() < until:
            before = await self._compared(before)
            self._trust(before)
            self._failures = 0
            await self._clock.sleep(ASKING)

    async def _compared(self, before: Mapping[str, Standing]) -> dict[str, Standing]:
        asked = {folder.name: await self._account.standing(folder) for folder in await self._folders()}
        found = {name: now for name, now in asked.items() if now is not None}
        for name, now in found.items():
            if name in before and (now != before[name] or not now.tells):
                self._happened(name)
        return found

    async def _folders(self) -> list[Folder]:
        """Those that are wanted and exist."""
        found: list[Folder] = []
        for name in list(self._wanted):
            try:
                found.append(await self._account.folder(name))
            except GatewayError as error:
                if error.code is not Code.NOT_FOUND:
                    raise
                self._tell("listen.no_folder", str(error.code))
        return found

    def _turn(self) -> None:
        """Other folders are wanted than before."""
        self._turned = True
        if self._ear is not None:
            self._ear.nudge(at_once=True)

    def _happened(self, folder: str) -> None:
        self._board.touch((self._account.name, folder))

    def _trust(self, folders: Collection[str]) -> None:
        for name in self._trusted.difference(folders):
            self._board.doubt((self._account.name, name))
        for name in folders:
            self._board.trust((self._account.name, name))
        self._trusted = set(folders)

    def _doubt_all(self) -> None:
        self._trust(())

    def _tell(self, event: str, reason: str) -> None:
        if self._log is not None:
            self._log.warning(event, mailbox=self._account.name, reason=reason)
