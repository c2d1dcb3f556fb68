"""The ids that an unbound caller uses: `UID-UIDVALIDITY`, or a bare UID where nothing can be lost by it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from postroom.base.errors import GatewayError, invalid, not_found
from postroom.imap.wire import MAX_UID

_FORM = re.compile(r"([1-9]\d{0,9})(?:-(0|[1-9]\d{0,18}))?\Z", re.ASCII)


def write_uid(uid: int, uid_validity: int) -> str:
    """The id as answers give it."""
    return f"{uid}-{uid_validity}"


def read_uid(text: str, argument: str = "uid") -> tuple[int, int | None]:
    """UID and UIDVALIDITY, the latter None in the bare form and 0 of a server that tells none.

    Raises `validation_error`.
    """
    match = _FORM.match(text)
    if not match or int(match[1]) > MAX_UID:
        raise invalid(argument, "must be a uid as list_messages returns it, such as 57-1712")
    return int(match[1]), int(match[2]) if match[2] else None


def read_uids(uids: Sequence[str], *, whole: bool, several: bool = True) -> dict[str, tuple[int, int | None]]:
    """UID and UIDVALIDITY of each, by its id, in their order, each once. Raises `validation_error`.

    `whole` refuses bare UIDs: after the server has renumbered the folder they name other messages.
    """
    found = {}
    for place, uid in enumerate(uids):
        argument = f"uids[{place}]" if several else "uid"
        found[uid] = read_uid(uid, argument)
        if whole and found[uid][1] is None:
            reason = "must be whole here, such as 57-1712: a bare number may come to name another message"
            raise invalid(argument, reason)
    return found


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
