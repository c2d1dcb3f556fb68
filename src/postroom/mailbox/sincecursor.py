"""Since cursors: how far each mailbox of a feed was told, sealed for the caller and for what was asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from postroom.base.errors import GatewayError, invalid
from postroom.base.seal import Seal, SealError
from postroom.mail.query.tree import Query
from postroom.mailbox.following import Place

LIFE = 30 * 24 * 3600
"""Seconds for which a cursor is good; each answer gives a new one."""
_UNIT = 300
"""Seconds between two times of issue that a cursor tells apart, so that equal places mostly have equal cursors."""
_KEY = 6
"""Octets that name a folder of a mailbox: enough for a thousand of them without two alike."""


def place_key(mailbox: str, folder: str) -> bytes:
    """A folder's name within a cursor, whatever the order of the configuration."""
    return hashlib.sha256(f"{mailbox}\0{folder}".encode()).digest()[:_KEY]


class SinceCursors:
    """Seals places by `place_key`; `bound` is what else must be the same when a cursor comes back.

    A folder without a place was never reached. The plaintext is a row of varints (LEB128): time of issue, and for
    each place its key, UIDVALIDITY and UID; some 13 octets each, so 200 mailboxes fit.
    """

    def __init__(self, seal: Seal, identity: str, bound: Sequence[bytes]) -> None:
        self._seal = seal
        self._identity = identity
        self._bound = tuple(bound)

    def write(self, places: Mapping[bytes, Place], now: datetime) -> str:
        """Raises `validation_error` for more places than a cursor holds."""
        plain = bytearray(_varint(int(now.timestamp()) // _UNIT))
        for key, place in sorted(places.items()):
            plain += key + _varint(place.uid_validity) + _varint(place.uid)
        try:
            return self._seal.seal("s", bytes(plain), identity=self._identity, bound=self._bound)
        except ValueError:
            raise invalid("mailbox", "too many mailboxes for one cursor; name some 200 of them at most") from None

    def read(self, text: str, now: datetime) -> dict[bytes, Place]:
        """Raises `validation_error` with `reason` for a cursor that is altered, foreign, of another feed or old."""
        try:
            plain = self._seal.open("s", text, identity=self._identity, bound=self._bound)
        except SealError:
            raise _bad("is not a cursor of this feed") from None
        numbers = _Octets(plain)
        if now.timestamp() - numbers.varint() * _UNIT > LIFE + _UNIT:
            raise _bad("has expired")
        return dict(_places(numbers))


def feed_cursors(
    seal: Seal,
    identity: str,
    mailboxes: Sequence[str] | None,
    folder: str | None,
    query: Query,
    policies: Sequence[bytes] = (),
) -> SinceCursors:
    """The cursors of one feed: of these mailboxes in any order or of all there ever are, of a folder and a search.

    `policies` are the hashes of those that bind the caller there.
    """
    scope = b"" if mailboxes is None else ",".join(sorted(mailboxes)).encode()
    fitting = hashlib.sha256(repr(query).encode()).digest()
    return SinceCursors(seal, identity, (scope, (folder or "").encode(), fitting, *policies))


class _Octets:
    """Reads what `write` wrote; that it was us is what the seal has proved."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._octets)

    def take(self, count: int) -> bytes:
        self._at += count
        return self._octets[self._at - count : self._at]

    def varint(self) -> int:
        number = shift = 0
        while True:
            octet = self.take(1)[0]
            number |= (octet & 0x7F) << shift
            if octet < 0x80:
                return number
            shift += 7


def _places(octets: _Octets) -> Iterator[tuple[bytes, Place]]:
    while octets:
        key = octets.take(_KEY)
        yield key, Place(octets.varint(), octets.varint())


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(octets) + bytes([number])


def _bad(reason: str) -> GatewayError:
    return invalid("since_cursor", f"{reason}; get a new one with checkpoint: true")
