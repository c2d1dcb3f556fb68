"""The orders that a search can be asked for: how a server is told (RFC 5256), and the keys to sort by ourselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from postroom.mail.model import Shown
from postroom.mail.query.matching import fold

_LONGEST_KEY = 64
"""Characters of a text that are sorted by: the key of a row goes into its cursor."""
_LONGEST_SUBJECT = 1_000
_TRAILER = re.compile(r"(?:\(fwd\)|\s)+\Z", re.IGNORECASE)
_LEADER = re.compile(r"\s*(?:\[[^\[\]]*\]\s*)*(?:re|fwd?)\s*(?:\[[^\[\]]*\]\s*)?:\s*", re.IGNORECASE)
_BLOB = re.compile(r"\s*\[[^\[\]]*\]\s*(?=\S)")
_WRAPPED = re.compile(r"\s*\[fwd:(.*)\]\s*\Z", re.IGNORECASE | re.DOTALL)
_SHIFT = 2**62


@dataclass(frozen=True, slots=True)
class Order:
    """Rows by a key; rows of the same key by UID, the highest first."""

    criterion: str
    """As SORT spells it."""
    key: Callable[[Shown], str]
    """Compares as the rows do."""
    descending: bool

    @property
    def criteria(self) -> str:
        return f"REVERSE {self.criterion}" if self.descending else self.criterion

    def follows(self, key: str, uid: int, last_key: str, last_uid: int) -> bool:
        """Whether the row of `key` and `uid` comes after the other one."""
        if key == last_key:
            return uid < last_uid
        return (key < last_key) is self.descending


def base_subject(subject: str) -> str:
    """A subject without what replying and forwarding add to it (RFC 5256 2.1)."""
    text = " ".join(subject[:_LONGEST_SUBJECT].split())
    while True:
        before, text = text, _TRAILER.sub("", text)
        while leader := _LEADER.match(text) or _BLOB.match(text):
            text = text[leader.end() :]
        if wrapped := _WRAPPED.fullmatch(text):
            text = wrapped[1]
        if text == before:
            return text


def _date(shown: Shown) -> str:
    """The sender's date, or the server's where there is none (RFC 5256 2.2)."""
    moment = shown.head.date or shown.received_at
    return _number(int(moment.timestamp()) if moment else 0)


def _size(shown: Shown) -> str:
    return _number(shown.size or 0)


def _from(shown: Shown) -> str:
    """The local part of the first address (RFC 5256 3)."""
    return fold(shown.head.from_[0].address.rpartition("@")[0])[:_LONGEST_KEY] if shown.head.from_ else ""


def _subject(shown: Shown) -> str:
    return fold(base_subject(shown.head.subject or ""))[:_LONGEST_KEY]


def _number(value: int) -> str:
    return f"{value + _SHIFT:020}"


_KEYS = {"date": ("DATE", _date), "from": ("FROM", _from), "subject": ("SUBJECT", _subject), "size": ("SIZE", _size)}
ORDERS: Mapping[str, Order] = {
    f"{sign}{name}": Order(criterion, key, descending=bool(sign))
    for name, (criterion, key) in _KEYS.items()
    for sign in ("", "-")
}
"""By name; a minus is the other way round. Beside these there are `newest` and `oldest`, by UID."""
