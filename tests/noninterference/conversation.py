"""A connection to a server in memory: commands and answers in tokens, and news with any of them (RFC 9051 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from postroom.imap.changes import write_internal_date
from postroom.imap.faults import RefusedFault
from postroom.imap.reply import Reply, Selected
from postroom.imap.wire import Argument, Literal, Status, Token, Untagged
from tests.noninterference.asked import body_items, has, number_set, plain_items, spelled
from tests.noninterference.memory import APPENDED_AT, MemoryFolder, MemoryServer, Stored
from tests.noninterference.octets import section_of, structure

CAPABILITIES = frozenset({"IMAP4REV1", "SPECIAL-USE", "LIST-EXTENDED", "UIDPLUS", "MOVE", "IDLE", "QUOTA"})


class MemoryConnection:
    """Stands for `imap.connection.Connection`: answers come as tokens, and news with any of them (RFC 9051 5.2)."""

    closed = False

    def __init__(self, server: MemoryServer) -> None:
        self._server = server
        self._folder: MemoryFolder | None = None
        self._heard = 0
        self.capabilities = CAPABILITIES
        self.selected: Selected | None = None
        self.news = 0

    def is_open_on(self, folder: bytes, changes: bool) -> bool:
        there = self._server.folders.get(folder)
        chosen = self.selected
        return self._folder is there and chosen is not None and not (changes and chosen.examined)

    def close(self) -> None:
        self.selected = None

    async def select(self, name: bytes, *, read_only: bool) -> Selected:
        self.news += 1
        self.selected, self._folder = None, self._server.folders.get(name)
        if self._folder is None:
            raise RefusedFault("no such folder", "NONEXISTENT")
        self._heard = self._folder.changes
        self.selected = Selected(
            name,
            read_only,
            examined=read_only,
            uid_validity=self._folder.uid_validity,
            uid_next=self._folder.uid_next,
            exists=len(self._folder.messages),
        )
        return self.selected

    def hear(self) -> None:
        """What others did since."""
        if self._folder is None or self.selected is None or self._heard == self._folder.changes:
            return
        uid_next = self.selected.uid_next if self._folder.uid_next == self.selected.uid_next else None
        self.selected = replace(self.selected, exists=len(self._folder.messages), uid_next=uid_next)
        self.news += 1
        self._heard = self._folder.changes

    async def run(self, name: str, *arguments: Argument, sink: object = None) -> Reply:
        reply, refused = await self.run_leniently(name, *arguments, sink=sink)
        if refused:
            raise refused
        return reply

    async def run_leniently(
        self, name: str, *arguments: Argument, sink: object = None
    ) -> tuple[Reply, RefusedFault | None]:
        self.hear()
        reply = Reply(Status(b"P1", "OK", None, [], ""))
        refused = _COMMANDS[name](self, reply, arguments)
        if self._folder is not None and name == "UID STORE":
            self._heard = self._folder.changes  # its answers tell of it; what is moved or erased is told as news
        self.hear()
        return reply, refused

    # -- commands

    def _list(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        for folder in self._server.folders.values():
            attributes: list[Token] = [folder.attribute.encode()] if folder.attribute else []
            reply.untagged.append(Untagged("LIST", None, [attributes, b"/", folder.raw]))
        return None

    def _status(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        folder = self._server.folders[arguments[0]]  # type: ignore[index]  # a name is octets
        unseen = sum("\\Seen" not in one.flags for one in folder.messages.values())
        counts: list[Token] = [b"MESSAGES", b"%d" % len(folder.messages), b"UNSEEN", b"%d" % unseen]
        reply.untagged.append(Untagged("STATUS", None, [folder.raw, counts]))
        return None

    def _quota(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        used = sum(len(one.octets) for folder in self._server.folders.values() for one in folder.messages.values())
        limits: list[Token] = [b"STORAGE", b"%d" % (used // 1024), b"100000"]
        reply.untagged.append(Untagged("QUOTA", None, [b"", limits]))
        return None

    def _fetch(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        wanted, items = spelled(arguments[0]), spelled(arguments[1])
        names, bodies = plain_items(items), body_items(items)
        for uid in self._named(wanted):
            told = self._told(uid, names)
            for one in bodies:
                octets = section_of(self._messages[uid].octets, one)
                if octets is not None:
                    told += [one.answered.encode(), octets]
            reply.untagged.append(Untagged("FETCH", 1, [told]))
        return None

    def _told(self, uid: int, names: Collection[str]) -> list[Token]:
        message = self._messages[uid]
        told: list[Token] = [b"UID", b"%d" % uid]
        if "FLAGS" in names:
            told += [b"FLAGS", [flag.encode() for flag in sorted(message.flags)]]
        if "INTERNALDATE" in names:
            told += [b"INTERNALDATE", write_internal_date(message.received_at).encode()]
        if "RFC822.SIZE" in names:
            told += [b"RFC822.SIZE", b"%d" % len(message.octets)]
        if "BODYSTRUCTURE" in names:
            told += [b"BODYSTRUCTURE", structure(message.octets)]
        return told

    def _search(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        found = [uid for uid, message in sorted(self._messages.items()) if has(arguments, uid, message)]
        reply.untagged.append(Untagged("SEARCH", None, [b"%d" % uid for uid in found]))
        return None

    def _store(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        sign, flags = spelled(arguments[1])[0], set(spelled(arguments[2]).strip("()").split())
        for uid in self._named(spelled(arguments[0])):
            old = self._messages[uid].flags
            self._opened.flag(uid, old | flags if sign == "+" else frozenset(old - flags))
            reply.untagged.append(Untagged("FETCH", 1, [self._told(uid, ("FLAGS",))]))
        return None

    def _move(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        there = self._server.folders.get(arguments[1])  # type: ignore[arg-type]  # a name is octets
        if there is None:
            return RefusedFault("no such folder", "TRYCREATE")
        uids = self._named(spelled(arguments[0]))
        new = [there.put(message) for uid in uids if (message := self._opened.take(uid)) is not None]
        if new:
            code: list[Token] = [b"COPYUID", b"%d" % there.uid_validity, _listed(uids), _listed(new)]
            reply.untagged.append(Untagged("OK", None, code))
        return None

    def _expunge(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        for uid in self._named(spelled(arguments[0])):
            if "\\Deleted" in self._messages[uid].flags:
                self._opened.take(uid)
        return None

    def _append(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        folder = self._server.folders.get(arguments[0])  # type: ignore[arg-type]  # a name is octets
        if folder is None:
            return RefusedFault("no such folder", "TRYCREATE")
        octets = next(one.octets for one in arguments if isinstance(one, Literal))
        flags = frozenset(spelled(arguments[1]).strip("()").split())
        uid = folder.put(Stored(octets, flags, APPENDED_AT))
        reply.status = replace(reply.status, code="APPENDUID", code_values=[b"%d" % folder.uid_validity, b"%d" % uid])
        return None

    def _create(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        name = arguments[0]
        if name in self._server.folders:
            return RefusedFault("it exists", "ALREADYEXISTS")
        self._server.create(name.decode())  # type: ignore[union-attr]  # a name is octets
        return None

    def _nothing(self, reply: Reply, arguments: Sequence[Argument]) -> RefusedFault | None:
        return None

    @property
    def _opened(self) -> MemoryFolder:
        if self._folder is None:
            raise AssertionError("no folder is open")
        return self._folder

    @property
    def _messages(self) -> dict[int, Stored]:
        return self._opened.messages

    def _named(self, wanted: str) -> list[int]:
        return [uid for uid in sorted(self._messages) if number_set(wanted, max(self._messages))(uid)]


_Command = Callable[[MemoryConnection, Reply, Sequence[Argument]], RefusedFault | None]
_COMMANDS: dict[str, _Command] = {
    "LIST": MemoryConnection._list,
    "STATUS": MemoryConnection._status,
    "GETQUOTAROOT": MemoryConnection._quota,
    "UID FETCH": MemoryConnection._fetch,
    "UID SEARCH": MemoryConnection._search,
    "UID STORE": MemoryConnection._store,
    "UID MOVE": MemoryConnection._move,
    "UID EXPUNGE": MemoryConnection._expunge,
    "APPEND": MemoryConnection._append,
    "CREATE": MemoryConnection._create,
    "SUBSCRIBE": MemoryConnection._nothing,
    "NOOP": MemoryConnection._nothing,
}


def _listed(uids: Sequence[int]) -> bytes:
    return ",".join(map(str, uids)).encode()
