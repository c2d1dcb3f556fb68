"""Rows of messages already met: what a (UIDVALIDITY, UID) names never changes but for its flags (RFC 9051 2.3.1.1)."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeAlias

from postroom.mail.model import Fetched

_Key: TypeAlias = tuple[str, int, int]
MOST_ROWS = 2_000
"""Rows kept for one mailbox."""
_LARGEST_HEAD = 8 * 1024
"""Octets of header fields past which a row is not worth keeping."""


class RowCache:
    """The rows of one mailbox used last. Flags in it are old: whoever takes a row gives it the flags of now."""

    def __init__(self) -> None:
        self._rows: OrderedDict[_Key, Fetched] = OrderedDict()

    def find(self, folder: str, uid_validity: int, uid: int) -> Fetched | None:
        key = (folder, uid_validity, uid)
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def keep(self, row: Fetched) -> None:
        """Remember a row that was read whole, if its folder's numbering has a name."""
        if row.incomplete or not row.uid_validity or sum(len(field.value) for field in row.head.fields) > _LARGEST_HEAD:
            return
        self._rows[row.folder, row.uid_validity, row.uid] = row
        if len(self._rows) > MOST_ROWS:
            self._rows.popitem(last=False)
