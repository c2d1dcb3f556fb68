"""Page cursors: where a list goes on, sealed so that they can be neither made up nor carried elsewhere."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from postroom.base.errors import GatewayError, invalid
from postroom.base.seal import Seal, SealError

_LAYOUT = struct.Struct(">IQI")
_MINUTES = 5
LIFE = 3600
"""Seconds for which a cursor is good."""


@dataclass(frozen=True, slots=True)
class Position:
    """The last row given out, and the folder's numbering that it belongs to."""

    uid: int
    uid_validity: int
    key: str = ""
    """What the row was sorted by, in a list that is sorted."""


class Cursors:
    """Seals positions for one caller, mailbox, list and configuration."""

    def __init__(self, seal: Seal, identity: str, bound: Sequence[bytes]) -> None:
        self._seal = seal
        self._identity = identity
        self._bound = tuple(bound)

    def write(self, position: Position, now: datetime) -> str:
        plain = _LAYOUT.pack(position.uid, position.uid_validity, int(now.timestamp()) // (60 * _MINUTES))
        return self._seal.seal("c", plain + position.key.encode(), identity=self._identity, bound=self._bound)

    def read(self, text: str, now: datetime) -> Position:
        """Raises `validation_error` with `reason` for a cursor that is altered, foreign, of another list or old."""
        try:
            plain = self._seal.open("c", text, identity=self._identity, bound=self._bound)
            uid, uid_validity, issued = _LAYOUT.unpack_from(plain)
        except (SealError, struct.error):
            raise bad_cursor("is not a cursor of this list") from None
        if now.timestamp() - issued * 60 * _MINUTES > LIFE + 60 * _MINUTES:
            raise bad_cursor("has expired")
        return Position(uid, uid_validity, plain[_LAYOUT.size :].decode())


def bad_cursor(reason: str) -> GatewayError:
    return invalid("cursor", f"{reason}; start again without a cursor")
