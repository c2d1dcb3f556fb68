"""The orders that a search can be asked for: how a server is told (RFC 5256), and the keys to sort by ourselves."""

from __future__ import annotations

import re
from base64 import b85encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from postroom.mail.model import Address, Shown
from postroom.mail.query.matching import fold

_LONGEST_KEY = 64
"""Characters of a text that are sorted by: the key of a row goes into its cursor."""
_LONGEST_SUBJECT = 1_000
_TRAILER = re.compile(r"(?:\(fwd\)|\s)+\Z", re.IGNORECASE)
_LEADER = re.compile(r"\s*(?:\[[^\[\]]*\]\s*)*(?:re|fwd?)\s*(?:\[[^\[\]]*\]\s*)?:\s*", re.IGNORECASE)
_BLOB = re.compile(r"\s*\[[^\[\]]*\]\s*(?=\S)")
_WRAPPED = re.compile(r"\s*\[fwd:(.*)\]\s*\Z", re.IGNORECASE | re.DOTALL)
_SHIFT = 2**62
_LONGEST_OCTETS = 72
"""Octets of each of several keys: all five of them have room in a cursor."""
_INVERTED = bytes(range(255, -1, -1))
_DIGITS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_ASCENDING = bytes.maketrans(_DIGITS, bytes(sorted(_DIGITS)))
"""From the digits of base 85 (RFC 1924) to digits that compare as their values do."""


@dataclass(frozen=True, slots=True)
class Order:
    """Rows by a key; rows of the same key by UID, the highest first."""

    criteria: str
    """As SORT spells them."""
    key: Callable[[Shown], str]
    """Compares as the rows do; it can be written in UTF-8."""
    descending: bool
    """The highest key comes first."""

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
    return _local_part(shown.head.from_)


def _to(shown: Shown) -> str:
    return _local_part(shown.head.to)


def _local_part(addresses: Sequence[Address]) -> str:
    return fold(addresses[0].address.rpartition("@")[0])[:_LONGEST_KEY] if addresses else ""


def _subject(shown: Shown) -> str:
    return fold(base_subject(shown.head.subject or ""))[:_LONGEST_KEY]


def _criterion(name: str, descending: bool) -> str:
    return f"REVERSE {name}" if descending else name


def _number(value: int) -> str:
    return f"{value + _SHIFT:020}"


_Key: TypeAlias = tuple[str, Callable[[Shown], str]]
_KEYS: Mapping[str, _Key] = {
    "date": ("DATE", _date),
    "from": ("FROM", _from),
    "to": ("TO", _to),
    "subject": ("SUBJECT", _subject),
    "size": ("SIZE", _size),
}


def order_by(keys: Sequence[tuple[str, bool]]) -> Order:
    """Rows by the first key (`date`, `from`, `to`, `subject`, `size`; true for the other way round), then by the next.

    A key that has been named before settles nothing and is left out. Raises ValueError without any.
    """
    wanted: dict[str, bool] = {}
    for name, descending in keys:
        wanted.setdefault(name, descending)
    if not wanted:
        raise ValueError("an order needs a key")
    criteria = " ".join(_criterion(_KEYS[name][0], descending) for name, descending in wanted.items())
    made = [(_KEYS[name][1], descending) for name, descending in wanted.items()]
    if len(made) == 1:
        return Order(criteria, *made[0])
    return Order(criteria, lambda shown: _letters(b"".join(_octets(key(shown), turned) for key, turned in made)), False)


def _octets(key: str, turned: bool) -> bytes:
    """A key that others may follow: an end below all of its octets, and all of them inverted if turned.

    Texts in UTF-8 compare as the texts do. So one comparison settles several keys of either direction.
    """
    octets = key.replace("\0", "\1").encode(errors="replace")[:_LONGEST_OCTETS] + b"\0"
    return octets.translate(_INVERTED) if turned else octets


def _letters(octets: bytes) -> str:
    """Octets as letters that compare as they do, five for four of them."""
    return b85encode(octets, pad=True).translate(_ASCENDING).decode()


ORDERS: Mapping[str, Order] = {
    f"{sign}{name}": order_by([(name, bool(sign))])
    for name in ("date", "from", "subject", "size")
    for sign in ("", "-")
}
"""By name; a minus is the other way round. Beside these there are `newest` and `oldest`, by UID."""
