"""What became of each message of a change, in the caller's terms."""

from __future__ import annotations

from dataclasses import dataclass

from postroom.base.errors import Code, GatewayError, not_found
from postroom.imap.faults import ImapFault, RefusedFault
from postroom.mailbox.faults import NO_SUCH_FOLDER, imap_error, refusal
from postroom.mailbox.folders import Folder
from postroom.mailbox.moving import Fate, Moved
from postroom.mailbox.uids import Naming, gone

LEFT_BEHIND = (
    "The server can neither move nor erase single messages: they were copied, and the originals are still in {here}, "
    "marked as deleted."
)

LEFT_MARKED = "The server cannot erase single messages: it is still in {here}, marked as deleted."


@dataclass(frozen=True, slots=True)
class Result:
    """One message's: `error` is why it is not as it should be, `new_uid` its id where it is now."""

    uid: str
    error: GatewayError | None = None
    new_uid: str | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """Each uid's, in the order they were given; `note` tells what is true of all and was not asked for."""

    results: tuple[Result, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Journey:
    """From where to where messages were moved, in which mailbox; to nowhere if they were erased."""

    mailbox: str
    here: str
    there: Folder | None
    moved: Moved
    naming: Naming

    @property
    def note(self) -> str | None:
        left = Fate.COPIED in self.moved.fates.values()
        return LEFT_BEHIND.format(here=repr(self.here)) if left else None

    def result(self, uid: str, number: int) -> Result:
        """What became of the message of this UID, which the caller called `uid`."""
        new = self.moved.new_uids.get(number)
        new_uid = self._new_uid(new) if new is not None else None
        return Result(uid, self._error(self.moved.fates.get(number, Fate.GONE), self.moved.fault), new_uid)

    def _new_uid(self, number: int) -> str | None:
        if self.there is None:
            return None
        return self.naming.write(self.there.name, number, self.moved.uid_validity or 0)

    def _error(self, fate: Fate, fault: ImapFault | None) -> GatewayError | None:
        if fate in (Fate.DONE, Fate.COPIED):
            return None
        if fate is Fate.GONE:
            return gone()
        if fate in (Fate.REFUSED, Fate.UNTOUCHED) and fault is not None:
            return self._untouched(fault)
        reason = {"reason": fault.reason} if fault else {}
        details = {**reason, "mailbox": self.mailbox, "retryable": False, "fate": fate.name.lower()}
        return GatewayError(Code.IMAP_ERROR, f"Mailbox {self.mailbox}: {self._sentence(fate)}", **details)

    def _untouched(self, fault: ImapFault) -> GatewayError:
        if isinstance(fault, RefusedFault) and fault.code in NO_SUCH_FOLDER and self.there is not None:
            return not_found(f"Folder {self.there.name!r} does not exist any more.", argument="destination")
        return refusal(fault, self.mailbox) if isinstance(fault, RefusedFault) else imap_error(fault, self.mailbox)

    def _sentence(self, fate: Fate) -> str:
        here, there = repr(self.here), repr(self.there.name) if self.there else "nowhere"
        match fate:
            case Fate.IN_BOTH:
                return (
                    f"this message was copied to {there}, but the original stays in {here}. List both, then delete one."
                )
            case Fate.IN_ONE:
                return (
                    f"it broke off in the middle: this message is in {here} or in {there}. List both before you go on."
                )
            case Fate.HERE:
                return f"it broke off in the middle: this message is in {here}, and may be in {there} too. List both."
            case Fate.THERE:
                return f"it broke off in the middle: this message is in {there}, and may be in {here} still. List both."
            case Fate.ERASED_OR_MARKED:
                return f"it broke off in the middle: this message may be erased, or not. List {here} before you go on."
            case _:
                return f"the server left this message in {here} and did not say why. List it before you try again."
