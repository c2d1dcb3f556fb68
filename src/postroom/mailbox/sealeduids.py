"""The ids that a bound caller uses: sealed, the same for as long as a message stays where it is, and nobody else's."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from postroom.base.seal import Seal, SealError
from postroom.mailbox.uids import NOBODY, Numbers, gone

_MESSAGE = struct.Struct(">II")
_WIDE_MESSAGE = struct.Struct(">QI")
"""For a server whose UIDVALIDITY has more than the 32 bits of RFC 9051."""
_FILE = struct.Struct(">QIIH")
_MOST = 2**32
FILE_LIFE = 15 * 60
"""Seconds for which an attachment's id is good, rounded up to `_UNIT`."""
_UNIT = 300


class SealedNaming:
    """Of one identity, in one mailbox. An id says nothing about its message's age, order or neighbours."""

    def __init__(self, seal: Seal, identity: str, mailbox: str) -> None:
        self._seal = seal
        self._identity = identity
        self._mailbox = mailbox.encode()

    def write(self, folder: str, uid: int, uid_validity: int) -> str:
        layout = _MESSAGE if uid_validity < _MOST else _WIDE_MESSAGE
        return self._seal.seal("m", layout.pack(uid_validity, uid), identity=self._identity, bound=self._bound(folder))

    def check(self, text: str, argument: str, *, whole: bool) -> None:
        """Nothing is wrong with an id that a look at it could tell: every fault has the one answer."""

    def read(self, folder: str, text: str) -> Numbers:
        try:
            plain = self._seal.open("m", text, identity=self._identity, bound=self._bound(folder))
            layout = _MESSAGE if len(plain) == _MESSAGE.size else _WIDE_MESSAGE
            uid_validity, uid = layout.unpack(plain)
        except (SealError, struct.error):
            return NOBODY
        return uid, uid_validity

    def _bound(self, folder: str) -> Sequence[bytes]:
        return self._mailbox, folder.encode()


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where an attachment lies: `section` as in `Part.section`."""

    folder: str
    uid: int
    uid_validity: int
    section: str


class SealedFiles:
    """Ids of attachments, good for a quarter of an hour; the folder is part of what is sealed."""

    def __init__(self, seal: Seal, identity: str, mailbox: str) -> None:
        self._seal = seal
        self._identity = identity
        self._bound = (mailbox.encode(),)

    def write(self, place: FilePlace, now: datetime) -> str:
        """The same id for all of five minutes."""
        until = -(-int(now.timestamp() + FILE_LIFE) // _UNIT)
        folder = place.folder.encode()
        plain = _FILE.pack(place.uid_validity, place.uid, until, len(folder)) + folder + place.section.encode()
        return self._seal.seal("a", plain, identity=self._identity, bound=self._bound)

    def read(self, text: str, now: datetime) -> FilePlace:
        """Raises `not_found`, whatever is wrong."""
        try:
            plain = self._seal.open("a", text, identity=self._identity, bound=self._bound)
            uid_validity, uid, until, length = _FILE.unpack_from(plain)
        except (SealError, struct.error):
            raise gone() from None
        if now.timestamp() > until * _UNIT:
            raise gone()
        rest = plain[_FILE.size :]
        return FilePlace(rest[:length].decode(), uid, uid_validity, rest[length:].decode())
