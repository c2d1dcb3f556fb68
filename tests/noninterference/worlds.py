"""Two worlds that look the same to one caller: one list of slots, and what is hidden in each of them by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from postroom.base.clock import HandClock
from tests.noninterference import mail
from tests.noninterference.memory import MemoryFolder, MemoryServer
from tests.noninterference.policies import ATTACHMENTS_NEVER_TOLD, PROFILES, TOLD_AS_IT_CAME, WITHHOLDING

SPECIAL = {"Sent": "\\Sent", "Drafts": "\\Drafts", "Trash": "\\Trash"}
STANDING = ("INBOX", "Archive", "Shown", *SPECIAL)
"""Folders that are there in both worlds; whether they are told is the policy's."""
HIDDEN = ("Legal", "Legal/Case", "Hidden", "Secret")
"""Folders that each world has or has not by itself: no policy here tells them."""
READ = {
    "bare": ("INBOX", "Archive"),
    "texts": ("INBOX", "Archive", "Sent", "Drafts"),
    "raw": ("INBOX", "Archive", "Sent", "Drafts"),
}
"""Folders whose messages the caller may see, if it is not the usual three."""
_USUAL = ("INBOX", "Archive", "Sent")
_OFTEN_HIDDEN = 0.5


@dataclass(eq=False)
class World:
    """A server, and which of its messages the caller may not see."""

    server: MemoryServer
    hidden: set[tuple[str, int]] = field(default_factory=set)


@dataclass
class Pair:
    """Both worlds of one example, and what happens to them meanwhile."""

    profile: str
    worlds: tuple[World, World]
    one_numbering: bool = True
    """A UID that is given in one world is taken in the other: then a message has the same in both."""

    @property
    def read(self) -> tuple[str, ...]:
        return READ.get(self.profile, _USUAL)

    @property
    def tops(self) -> dict[str, int]:
        """The highest UID that a folder ever had in one of the worlds."""
        return {name: self._next_uid(name) - 1 for name in STANDING}

    def put_visible(self, name: str, rng: Random) -> None:
        """One message in both, as much alike as is seen of it."""
        senders = mail.OWNER if name in ("Drafts", "Sent") else mail.FRIENDS
        if rng.random() < 0.2:
            told = mail.withheld(rng, WITHHOLDING[self.profile])
        elif self.profile in TOLD_AS_IT_CAME:
            told = (mail.arbitrary(rng, senders),) * 2
        else:
            told = mail.visible(rng, senders, files_differ=self.profile in ATTACHMENTS_NEVER_TOLD)
        uids = self._new_uids(name)
        for world, meant, uid in zip(self.worlds, told, uids, strict=True):
            world.server.folder(name).put(meant.stored(), uid)

    def put_hidden(self, name: str, rng: Random, among: Sequence[World]) -> None:
        """Any hidden message in each of these worlds."""
        uids = self._new_uids(name)
        for world, uid in zip(self.worlds, uids, strict=True):
            if world in among:
                how = rng.choice(PROFILES[self.profile])
                world.server.folder(name).put(mail.hidden(rng, how).stored(), uid)
                world.hidden.add((name, uid))

    def put_unread(self, name: str, rng: Random, world: World) -> None:
        """Whatever, in a folder that the caller cannot read, in this world alone."""
        uids = self._new_uids(name)
        uid = uids[self.worlds.index(world)]
        world.server.folder(name).put(mail.arbitrary(rng).stored(), uid)
        world.hidden.add((name, uid))

    def _new_uids(self, name: str) -> list[int]:
        """The next UID of a folder in each world; where there is one numbering it is taken in all of them."""
        folders = [world.server.folder(name) for world in self.worlds]
        if not self.one_numbering:
            return [folder.uid_next for folder in folders]
        uid = self._next_uid(name)
        for folder in folders:
            folder.uid_next = uid + 1
        return [uid, uid]

    def _next_uid(self, name: str) -> int:
        return max(world.server.folder(name).uid_next for world in self.worlds)


def two_worlds(profile: str, slots: Sequence[int], *, one_numbering: bool = True) -> Pair:
    """Worlds made of slots, each a seed of its own, so that a slot can be left out without changing the others."""
    pair = Pair(profile, (World(MemoryServer()), World(MemoryServer())), one_numbering)
    for world in pair.worlds:
        for name in STANDING:
            world.server.create(name, SPECIAL.get(name, ""))
    for seed in slots:
        _fill(pair, Random(seed))
    return pair


def _fill(pair: Pair, rng: Random) -> None:
    if rng.random() < 0.15:
        change_hidden_folders(pair, rng)
        return
    name = rng.choice(("INBOX", "INBOX", "INBOX", "Drafts", *STANDING))
    if name not in pair.read:
        for world in pair.worlds:
            if rng.random() < _OFTEN_HIDDEN:
                pair.put_unread(name, rng, world)
    elif rng.random() < _OFTEN_HIDDEN:
        pair.put_hidden(name, rng, [world for world in pair.worlds if rng.random() < _OFTEN_HIDDEN])
    else:
        pair.put_visible(name, rng)


def change_hidden_folders(pair: Pair, rng: Random) -> None:
    """A hidden folder comes, goes, or gets mail, in one world."""
    world, name = rng.choice(pair.worlds), rng.choice(HIDDEN)
    there = world.server.folders.get(name.encode())
    if there is None:
        folder = world.server.create(name)
        folder.put(mail.arbitrary(rng, (*mail.FRIENDS, *mail.CLINIC)).stored())
    elif rng.random() < 0.5:
        del world.server.folders[name.encode()]
    else:
        there.put(mail.arbitrary(rng).stored())


def meanwhile(pair: Pair, clocks: Sequence[HandClock], seed: int) -> str:
    """Something that others do between two calls; what is seen of it is the same in both worlds."""
    rng = Random(seed)
    what = rng.choice((*_OF_HIDDEN, *(_OF_ONE_NUMBERING if pair.one_numbering else ()), _deliver))
    if rng.random() < 0.1:
        for clock in clocks:
            clock.wind(90)
        return "the time passes"
    what(pair, rng)
    return what.__name__.strip("_")


def _deliver_hidden(pair: Pair, rng: Random) -> None:
    pair.put_hidden(rng.choice(("INBOX", *pair.read)), rng, [rng.choice(pair.worlds)])


def _deliver_unread(pair: Pair, rng: Random) -> None:
    names = [name for name in STANDING if name not in pair.read]
    pair.put_unread(rng.choice(names), rng, rng.choice(pair.worlds))


def _some_hidden(pair: Pair, rng: Random) -> tuple[MemoryFolder, int, World] | None:
    world = rng.choice(pair.worlds)
    there = sorted((name, uid) for name, uid in world.hidden if uid in world.server.folder(name).messages)
    if not there:
        return None
    name, uid = rng.choice(there)
    return world.server.folder(name), uid, world


def _expunge_hidden(pair: Pair, rng: Random) -> None:
    if (found := _some_hidden(pair, rng)) is not None:
        folder, uid, world = found
        folder.take(uid)
        world.hidden.discard((folder.raw.decode(), uid))


def _flag_hidden(pair: Pair, rng: Random) -> None:
    if (found := _some_hidden(pair, rng)) is not None:
        folder, uid, _ = found
        kept = folder.messages[uid].flags & {"Legal"}
        folder.flag(uid, kept | frozenset(rng.sample(mail.FLAGS, rng.randrange(4))))


def _hide_folders(pair: Pair, rng: Random) -> None:
    change_hidden_folders(pair, rng)


def _deliver(pair: Pair, rng: Random) -> None:
    pair.put_visible(rng.choice(("INBOX", *pair.read)), rng)


def _some_visible(pair: Pair, rng: Random) -> tuple[str, int] | None:
    first, second = pair.worlds
    there = [
        (name, uid)
        for name in pair.read
        for uid in sorted(first.server.folder(name).messages)
        if uid in second.server.folder(name).messages and (name, uid) not in first.hidden | second.hidden
    ]
    return rng.choice(there) if there else None


def _expunge(pair: Pair, rng: Random) -> None:
    if (found := _some_visible(pair, rng)) is not None:
        for world in pair.worlds:
            world.server.folder(found[0]).take(found[1])


def _flag(pair: Pair, rng: Random) -> None:
    if (found := _some_visible(pair, rng)) is not None:
        flags = frozenset(rng.sample(mail.FLAGS, rng.randrange(4)))
        for world in pair.worlds:
            world.server.folder(found[0]).flag(found[1], flags)


_OF_HIDDEN = (_deliver_hidden, _deliver_unread, _expunge_hidden, _flag_hidden, _hide_folders)
_OF_ONE_NUMBERING = (_expunge, _flag)
"""What is done to messages that go by one UID in both worlds."""
