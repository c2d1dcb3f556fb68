"""Learning that something changed without reading it: STATUS of a folder, and NOTIFY (RFC 5465) for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from postroom.imap.connection import Connection
from postroom.imap.faults import RefusedFault
from postroom.imap.reply import Reply, Selected
from postroom.imap.wire import CLOSE, OPEN, Argument, Atom, Token, Untagged, as_int, as_text

_ASKED = "MESSAGES UIDNEXT UIDVALIDITY UNSEEN"
_EVENTS = Atom("(MessageNew MessageExpunge FlagChange)")
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Standing:
    """How a folder stands; None for what was not told. While all of it stays, nothing came and nothing went."""

    messages: int | None = None
    uid_next: int | None = None
    uid_validity: int | None = None
    unseen: int | None = None
    modseq: int | None = None
    """Goes up with each change of any message (RFC 7162)."""

    @property
    def tells(self) -> bool:
        """Whether it would be another one after a new message."""
        return self.uid_next is not None or self.modseq is not None


def standing_of(selected: Selected) -> Standing:
    """That of a folder that was just opened."""
    return Standing(selected.exists, selected.uid_next, selected.uid_validity)


async def standing(connection: Connection, name: bytes) -> Standing:
    """By STATUS. Raises `RefusedFault` for a folder that is not there."""
    modseq = " HIGHESTMODSEQ" if {"CONDSTORE", "QRESYNC"} & connection.capabilities else ""
    return _standing(await connection.run("STATUS", name, Atom(f"({_ASKED}{modseq})")), name)


async def notify(connection: Connection, others: Sequence[bytes]) -> bool:
    """Have the server tell of the open folder and of these others, by STATUS; False if it does not do that."""
    if "NOTIFY" not in connection.capabilities:
        return False
    arguments: list[Argument] = [Atom("SET"), OPEN, Atom("selected"), _EVENTS, CLOSE]
    arguments += [OPEN, Atom("mailboxes"), OPEN, *others, CLOSE, _EVENTS, CLOSE]
    try:
        await connection.run("NOTIFY", *arguments)
    except RefusedFault:
        return False
    return True


def told_of(response: Untagged) -> bytes | None:
    """The folder that a STATUS response is about, as the server spells it; None for any other response."""
    name = response.values[0] if response.kind == "STATUS" and response.values else None
    return name if isinstance(name, bytes) else None


def _standing(reply: Reply, name: bytes) -> Standing:
    # One folder was asked for: a server that spells its name in another way means the same.
    told = [response for response in reply.of("STATUS") if len(response.values) == 2]
    for response in [*(one for one in told if one.values[0] == name), *told]:
        return _read(response.values[1])
    return Standing()


def _read(token: Token) -> Standing:
    values = token if isinstance(token, list) else []
    numbers = {
        (as_text(name) or "").upper(): number
        for name, value in zip(values[::2], values[1::2], strict=False)
        if (number := as_int(value)) is not None and number < _LARGEST
    }
    keys = ("MESSAGES", "UIDNEXT", "UIDVALIDITY", "UNSEEN", "HIGHESTMODSEQ")
    return Standing(*(numbers.get(key) for key in keys))
