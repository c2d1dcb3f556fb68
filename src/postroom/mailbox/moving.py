"""Moving and erasing by what the server can do; at each step it is known where a message is if the next one fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Set
from dataclasses import dataclass, field
from enum import Enum, auto

from postroom.imap import changes
from postroom.imap.changes import Copied, batches
from postroom.imap.connection import Connection
from postroom.imap.faults import DeadlineFault, ImapFault, LostFault, RefusedFault, WireFault
from postroom.mailbox.session import Marks

_DELETED = ("\\Deleted",)
_LOST = (LostFault, DeadlineFault, WireFault)

Look = Callable[[Iterable[int]], Awaitable[dict[int, Marks]]]
"""Those of these messages that are in the folder now."""


class Fate(Enum):
    """Where a message is when all is done, or when the connection ends in the middle."""

    GONE = auto()
    """There was none of this UID."""
    UNTOUCHED = auto()
    REFUSED = auto()
    """Where it was; the server does not do it."""
    DONE = auto()
    COPIED = auto()
    """In the other folder; the original is marked as deleted, which this server cannot take away by itself."""
    IN_BOTH = auto()
    """Copied; the original may be marked as deleted."""
    IN_ONE = auto()
    """In one of the two folders, and nobody can say in which."""
    HERE = auto()
    """Where it was, and perhaps in the other folder as well."""
    THERE = auto()
    """In the other folder, and perhaps still where it was, marked as deleted."""
    ERASED_OR_MARKED = auto()
    """Erased, or marked as deleted, or as it was."""


@dataclass(slots=True)
class Moved:
    """What became of each message. `fault` is why some are not where they should be."""

    fates: dict[int, Fate]
    new_uids: dict[int, int] = field(default_factory=dict)
    uid_validity: int | None = None
    """The numbering of `new_uids`."""
    fault: ImapFault | None = None

    def note(self, uids: Iterable[int], fate: Fate) -> None:
        self.fates.update(dict.fromkeys(uids, fate))

    def note_copied(self, copied: Copied | None) -> None:
        if copied is not None:
            self.uid_validity = copied.uid_validity
            self.new_uids.update(copied.uids)


def _begun(uids: Collection[int], there: Set[int]) -> Moved:
    return Moved({uid: Fate.UNTOUCHED if uid in there else Fate.GONE for uid in uids})


async def move_messages(
    connection: Connection, uids: Collection[int], look: Look, there: Set[int], destination: bytes
) -> Moved:
    """Move those of `uids` that are `there`. What a refusal or a lost connection leaves is told, not raised."""
    moved = _begun(uids, there)
    try:
        for part in batches(there):
            if not ("MOVE" in connection.capabilities and await _move(connection, part, look, destination, moved)):
                await _copy_and_remove(connection, part, destination, moved)
    except _LOST as fault:
        moved.fault = fault
    return moved


async def _move(connection: Connection, part: list[int], look: Look, destination: bytes, moved: Moved) -> bool:
    """MOVE (RFC 6851). False if the server does not know it after all."""
    moved.note(part, Fate.IN_ONE)
    transfer = await changes.uid_move(connection, part, destination)
    if transfer.refused is not None and transfer.refused.unknown:
        moved.note(part, Fate.UNTOUCHED)
        return False
    moved.note_copied(transfer.copied)
    told = transfer.copied.uids if transfer.copied else {}
    moved.note(told, Fate.DONE)
    untold = set(part) - told.keys()
    if untold:
        left = await look(untold)
        moved.note(untold, _fate_of_those_who_went(transfer.copied, transfer.refused))
        moved.note(left, Fate.REFUSED)
    moved.fault = transfer.refused or moved.fault
    return True


def _fate_of_those_who_went(copied: Copied | None, refused: RefusedFault | None) -> Fate:
    """A server that tells where messages went tells of all; of others those that are not here any more went."""
    if refused is not None:
        return Fate.IN_ONE
    return Fate.GONE if copied is not None else Fate.DONE


async def _copy_and_remove(connection: Connection, part: list[int], destination: bytes, moved: Moved) -> None:
    """COPY, then mark the originals as deleted, then erase just these. Nothing is marked that was not copied."""
    moved.note(part, Fate.HERE)
    transfer = await changes.uid_copy(connection, part, destination)
    if transfer.refused is not None:
        moved.note(part, Fate.REFUSED)
        moved.fault = transfer.refused
        return
    moved.note_copied(transfer.copied)
    went = list(transfer.copied.uids) if transfer.copied else part
    moved.note(part, Fate.GONE)
    moved.note(went, Fate.IN_BOTH)
    if not went:
        return
    try:
        await changes.uid_store(connection, went, "+", _DELETED, silent=True)
    except RefusedFault as fault:
        moved.fault = fault
        return
    await _expunge(connection, went, moved)


async def _expunge(connection: Connection, went: list[int], moved: Moved) -> None:
    """UID EXPUNGE where there is one; an EXPUNGE or a CLOSE would erase what others have marked as well."""
    if "UIDPLUS" not in connection.capabilities:
        moved.note(went, Fate.COPIED)
        return
    moved.note(went, Fate.THERE)
    try:
        await changes.uid_expunge(connection, went)
        moved.note(went, Fate.DONE)
    except RefusedFault:
        moved.note(went, Fate.COPIED)


async def erase_messages(connection: Connection, uids: Collection[int], there: Set[int]) -> Moved:
    """Erase those of `uids` that are `there`, by UID EXPUNGE alone: the server must have UIDPLUS."""
    erased = _begun(uids, there)
    try:
        for part in batches(there):
            erased.note(part, Fate.ERASED_OR_MARKED)
            try:
                await changes.uid_store(connection, part, "+", _DELETED, silent=True)
            except RefusedFault as fault:
                erased.note(part, Fate.REFUSED)
                erased.fault = fault
                continue
            try:
                await changes.uid_expunge(connection, part)
                erased.note(part, Fate.DONE)
            except RefusedFault as fault:
                erased.fault = fault
    except _LOST as fault:
        erased.fault = fault
    return erased
