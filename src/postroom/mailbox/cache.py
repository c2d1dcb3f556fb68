"""What was met before: what a (UIDVALIDITY, UID) names never changes but for its flags (RFC 9051 2.3.1.1)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from postroom.mail.model import Fetched, Reading
from postroom.policy.content import Projected

Key: TypeAlias = tuple[str, int, int]
"""Folder, UIDVALIDITY, UID."""
MOST_ROWS = 2_000
"""Rows kept for one mailbox."""
_LARGEST_HEAD = 8 * 1024
"""Octets of header fields past which a row is not worth keeping."""
MOST_CHARACTERS = 8_000_000
"""Characters of message text kept for one mailbox."""
_LARGEST_MESSAGE = MOST_CHARACTERS // 8
_CHARACTERS_OF_ANY = 4_000
"""What a message without text is counted as."""


Face: TypeAlias = tuple[str | None, int | None]


def face_of(row: Fetched) -> Face:
    """By what a message is known again: its Message-ID, or else its subject, and its size."""
    return row.head.message_id or row.head.subject, row.size


NO_MORE: frozenset[str] = frozenset()


class RowCache:
    """The rows of one mailbox used last. Flags in it are old: whoever takes a row gives it the flags of now."""

    def __init__(self, fields: frozenset[str] = NO_MORE) -> None:
        self.fields = fields
        """Header fields that these rows have beside those of every row."""
        self._rows: OrderedDict[Key, Fetched] = OrderedDict()
        self._faces: OrderedDict[tuple[str, int], Face] = OrderedDict()

    def meet(self, row: Fetched) -> None:
        """Remember what was told under a UID that another session may give to another message."""
        self._faces[row.folder, row.uid] = face_of(row)
        if len(self._faces) > MOST_ROWS:
            self._faces.popitem(last=False)

    def met(self, folder: str, uid: int) -> Face | None:
        """What was told last under this UID, of those that `meet` was told of."""
        return self._faces.get((folder, uid))

    def forget(self, folder: str, uids: Iterable[int]) -> None:
        """Take back that these were told: nobody has seen them yet."""
        for uid in uids:
            self._faces.pop((folder, uid), None)

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


@dataclass(frozen=True, slots=True)
class Read:
    """A message with its content as it may be read; its flags are those of then."""

    fetched: Fetched
    reading: Reading | None
    """None of a message whose text could not be had, and of one that nobody has made ready yet."""
    projected: Projected | None = None
    """For a bound caller: the reading with what its policy decides on."""

    @property
    def characters(self) -> int:
        """About what it takes to keep it."""
        told = self.reading
        texts = (told.text, told.html, told.reader, told.reader_quoted, told.safe_html) if told else ()
        headers = sum(len(field.value) for field in self.fetched.head.fields)
        judged = len(self.projected.text) + len(self.projected.subject) if self.projected else 0
        return _CHARACTERS_OF_ANY + 2 * headers + 2 * sum(len(text or "") for text in texts) + 2 * judged


class MessageCache:
    """The messages of one mailbox read last, within a bound of memory."""

    def __init__(self) -> None:
        self._messages: OrderedDict[Key, Read] = OrderedDict()
        self._characters = 0

    def find(self, key: Key) -> Read | None:
        read = self._messages.get(key)
        if read is not None:
            self._messages.move_to_end(key)
        return read

    def keep(self, read: Read) -> None:
        fetched = read.fetched
        if read.reading is None or not fetched.uid_validity or read.characters > _LARGEST_MESSAGE:
            return
        key = (fetched.folder, fetched.uid_validity, fetched.uid)
        if key in self._messages:
            self._characters -= self._messages.pop(key).characters
        self._messages[key] = read
        self._characters += read.characters
        while self._characters > MOST_CHARACTERS:
            self._characters -= self._messages.popitem(last=False)[1].characters
