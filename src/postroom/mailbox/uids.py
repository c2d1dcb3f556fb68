"""What callers name messages by; an unbound one says `UID-UIDVALIDITY`, or a bare UID where nothing is lost by it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from postroom.base.errors import GatewayError, invalid, not_found
from postroom.imap.wire import MAX_UID

_FORM = re.compile(r"([1-9]\d{0,9})(?:-(0|[1-9]\d{0,18}))?\Z", re.ASCII)
Numbers: TypeAlias = tuple[int, int | None]
"""A UID and its UIDVALIDITY, if that was told."""
NOBODY: Numbers = (0, -1)
"""What an id that was never given stands for: no folder has this numbering."""
Asked: TypeAlias = Mapping[str, Numbers]
"""The messages of one call by the ids that the caller used."""


class Naming(Protocol):
    """How one caller names messages."""

    def write(self, folder: str, uid: int, uid_validity: int) -> str:
        """The id as answers give it."""
        ...

    def check(self, text: str, argument: str, *, whole: bool) -> None:
        """Raises `validation_error` for what can be no id, whatever folder it is of."""
        ...

    def read(self, folder: str, text: str) -> Numbers:
        """What a checked id stands for in that folder; `NOBODY` for one that was never given for it."""
        ...


class PlainNaming:
    """Of callers whose mailboxes are whole: `57-1712`."""

    def write(self, folder: str, uid: int, uid_validity: int) -> str:
        return write_uid(uid, uid_validity)

    def check(self, text: str, argument: str, *, whole: bool) -> None:
        if read_uid(text, argument)[1] is None and whole:
            reason = "must be whole here, such as 57-1712: a bare number may come to name another message"
            raise invalid(argument, reason)

    def read(self, folder: str, text: str) -> Numbers:
        return read_uid(text)


def asked_for(naming: Naming, folder: str, uids: Sequence[str], *, whole: bool, several: bool = True) -> Asked:
    """What the ids of a call stand for, in their order, each once. Raises `validation_error`.

    One that was never given stands for nobody, and takes no other with it.
    """
    check_uids(naming, uids, whole=whole, several=several)
    return {uid: naming.read(folder, uid) for uid in uids}


def numberings(asked: Asked) -> set[int]:
    """The UIDVALIDITYs that these ids tell, of which a folder may have to be asked."""
    return {validity for _, validity in asked.values() if validity is not None and validity >= 0}


def check_uids(naming: Naming, uids: Sequence[str], *, whole: bool, several: bool = True) -> None:
    """Raises `validation_error` for what can be no id, naming its place.

    `whole` refuses bare UIDs: after the server has renumbered the folder they name other messages.
    """
    for place, uid in enumerate(uids):
        naming.check(uid, f"uids[{place}]" if several else "uid", whole=whole)


def write_uid(uid: int, uid_validity: int) -> str:
    """The id of an unbound caller."""
    return f"{uid}-{uid_validity}"


def read_uid(text: str, argument: str = "uid") -> Numbers:
    """UID and UIDVALIDITY, the latter None in the bare form and 0 of a server that tells none.

    Raises `validation_error`.
    """
    match = _FORM.match(text)
    if not match or int(match[1]) > MAX_UID:
        raise invalid(argument, "must be a uid as list_messages returns it, such as 57-1712")
    return int(match[1]), int(match[2]) if match[2] else None


def gone(uid: str | None = None) -> GatewayError:
    """No message has this UID (any more)."""
    return not_found(
        f"There is no {f'message {uid}' if uid else 'such message'} in this folder; it may have been moved or deleted, "
        "or be of another folder. Name its folder, or list this one again.",
        argument="uid",
    )


def changed(uid: str | None = None) -> GatewayError:
    """The id has another numbering than the folder has now."""
    return not_found(
        f"{f'The uid {uid}' if uid else 'This uid'} is of another folder, or the server has renumbered this one. "
        "Name its folder, or list this one again.",
        argument="uid",
        reason="uidvalidity_changed",
    )
