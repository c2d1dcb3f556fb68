"""A small IMAP server in the test's own event loop, whose habits can be set: what it offers, refuses, keeps quiet."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from tests.servers.peer import Listening, Peer, listening


@dataclass
class Talker:
    """One mailbox of empty messages, by folder: their UIDs, and the folder's UIDVALIDITY."""

    capabilities: bytes = b"IMAP4rev1 IDLE"
    most: int = 100
    """Connections that it has room for."""
    tells: bool = True
    """While a client idles it is told what comes."""
    begins: bool = True
    """An IDLE is answered at all."""
    folders: dict[str, list[int]] = field(default_factory=lambda: {"INBOX": [3, 5, 7], "Work": []})
    refusals: dict[str, str] = field(default_factory=dict)
    """What it answers to whoever opens one of these folders."""
    uid_validity: int = 17
    commands: list[str] = field(default_factory=list)
    logins: int = 0
    open: int = 0
    _idling: dict[int, tuple[Peer, str]] = field(default_factory=dict)
    _peers: dict[int, Peer] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def add(self, folder: str, uid: int) -> None:
        self.folders[folder].append(uid)
        for peer, name in list(self._idling.values()):
            if self.tells and name == folder:
                await peer.says(b"* %d EXISTS" % len(self.folders[folder]))

    async def hears(self, command: str, times: int = 1) -> None:
        """Returns once such a command came so often since the test began."""
        while sum(bool(re.match(command, one)) for one in self.commands) < times:
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 10)

    def count(self, command: str) -> int:
        return sum(bool(re.match(command, one)) for one in self.commands)

    def drop(self) -> None:
        """Hang up on whoever idles."""
        for peer, _ in self._idling.values():
            peer.writer.transport.abort()

    def restart(self) -> None:
        """Hang up on everybody."""
        for peer in self._peers.values():
            peer.writer.transport.abort()

    async def __call__(self, peer: Peer) -> None:
        if self.open >= self.most:
            await peer.says(b"* BYE too many connections")
            return
        self.open += 1
        self._peers[peer.number] = peer
        try:
            await peer.says(b"* OK [CAPABILITY " + self.capabilities + b"] ready")
            await self._serve(peer)
        finally:
            self.open -= 1
            del self._peers[peer.number]
            self._idling.pop(peer.number, None)

    async def _serve(self, peer: Peer) -> None:
        name = ""
        while True:
            tag, _, line = (await peer.hears()).decode().partition(" ")
            word = line.split(" ")[0]
            self.commands.append("LOGIN" if word == "LOGIN" else line)
            self.logins += word == "LOGIN"
            self.changed.set()
            if word in ("EXAMINE", "SELECT"):
                name = line.split('"')[1]
                if name in self.refusals:
                    await peer.says(f"{tag} {self.refusals[name]}".encode())
                    continue
                if name not in self.folders:
                    await peer.says(f"{tag} NO [NONEXISTENT] no such folder".encode())
                    continue
                await peer.says(*self._opened(name))
            elif word == "IDLE":
                await self._idle(peer, tag, name)
                continue
            else:
                await peer.says(*self._answer(line, name))
            await peer.says(f"{tag} OK done".encode())

    async def _idle(self, peer: Peer, tag: str, name: str) -> None:
        if not self.begins:
            return
        self._idling[peer.number] = (peer, name)
        await peer.says(b"+ idling")
        assert await peer.hears() == b"DONE"
        del self._idling[peer.number]
        await peer.says(f"{tag} OK done".encode())

    def _opened(self, name: str) -> list[bytes]:
        uids = self.folders[name]
        return [
            b"* %d EXISTS" % len(uids),
            b"* OK [UIDVALIDITY %d] ok" % self.uid_validity,
            b"* OK [UIDNEXT %d] ok" % (max(uids, default=0) + 1),
        ]

    def _answer(self, line: str, name: str) -> list[bytes]:
        if line.startswith("LIST"):
            return [f'* LIST () "/" "{folder}"'.encode() for folder in self.folders]
        if line.startswith("STATUS"):
            folder = line.split('"')[1]
            uids = self.folders[folder]
            told = f"MESSAGES {len(uids)} UIDNEXT {max(uids, default=0) + 1} UIDVALIDITY {self.uid_validity} UNSEEN 0"
            return [f'* STATUS "{folder}" ({told})'.encode()]
        if line.startswith("NOOP") and name:
            return [b"* %d EXISTS" % len(self.folders[name])]
        if search := re.match(r"UID SEARCH .*?(\d+):(\d+|\*)", line):
            low, high = int(search[1]), int(search[2]) if search[2] != "*" else 2**32
            found = [uid for uid in self.folders[name] if low <= uid <= high]
            return ["* SEARCH{}".format("".join(f" {uid}" for uid in found)).encode()]
        return [
            f"* {number} FETCH (UID {uid} FLAGS () RFC822.SIZE 4 BODY[HEADER] {{0}}\r\n)".encode()
            for number, uid in enumerate(self.folders.get(name, []), 1)
            if line.startswith("UID FETCH") and _is_among(uid, line.split(" ")[2], max(self.folders[name]))
        ]


def _is_among(uid: int, spelled: str, last: int) -> bool:
    for one in spelled.split(","):
        low, _, high = one.replace("*", str(last)).partition(":")
        if int(low) <= uid <= int(high or low) or int(high or low) <= uid <= int(low):
            return True
    return False


@contextlib.asynccontextmanager
async def talking(talker: Talker) -> AsyncIterator[Listening]:
    async with listening(talker) as server:
        yield server
