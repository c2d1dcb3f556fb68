"""What a connection has been told about its open folder, good for as long as the server tells nothing else unasked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

from postroom.imap.connection import Connection
from postroom.mail.model import Fetched

_MOST_MARKS = 4_000
"""Messages whose marks are remembered for one session."""


class Marks(NamedTuple):
    """What others may change about a message: its flags, and its labels."""

    flags: frozenset[str]
    labels: tuple[str, ...]


def marked(row: Fetched, marks: Marks) -> Fetched:
    """The row with these marks."""
    return replace(row, flags=marks.flags, labels=marks.labels)


class Session:
    """One connection's memory of its folder.

    A server sends what others change with its answer to any command (RFC 9051 5.2), so after a NOOP that brought
    nothing the flags told before are those of now, and the newest message is still the newest.
    """

    def __init__(self) -> None:
        self._news = -1
        self._marks: dict[int, Marks] = {}
        self._newest: dict[frozenset[str], tuple[int, tuple[Fetched, ...]]] = {}

    def learn(self, news: int, marks: Mapping[int, Marks]) -> None:
        """Marks that were told while the connection had heard `news`."""
        self._begin(news)
        if len(self._marks) + len(marks) > _MOST_MARKS:
            self._marks.clear()
        self._marks.update(marks)

    def learn_changed(self, news: int, marks: Mapping[int, Marks]) -> None:
        """Marks that we have just changed ourselves, which is no news."""
        self.learn(news, marks)
        for fields, (low, rows) in self._newest.items():
            told = tuple(marked(row, marks[row.uid]) if row.uid in marks else row for row in rows)
            self._newest[fields] = low, told

    def forget(self) -> None:
        """What we have changed over another connection is no secret here, but not known yet."""
        self._news = -1

    def learn_newest(self, news: int, low: int, rows: Sequence[Fetched], fields: frozenset[str] = frozenset()) -> None:
        """All messages there are from UID `low` on, newest first, with their marks of now; `fields` are the rows'."""
        self._begin(news)
        self._newest[fields] = (low, tuple(rows))

    def marks(self, news: int, uid: int) -> Marks | None:
        return self._marks.get(uid) if news == self._news else None

    def newest(self, news: int, low: int, fields: frozenset[str] = frozenset()) -> list[Fetched] | None:
        """All messages from UID `low` on, newest first, or None if that is not known."""
        known = self._newest.get(fields)
        if news != self._news or known is None or known[0] > low:
            return None
        return [row for row in known[1] if row.uid >= low]

    def _begin(self, news: int) -> None:
        if news != self._news:
            self._news, self._marks, self._newest = news, {}, {}


class Sessions:
    """The memory of each living connection."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Connection, Session] = WeakKeyDictionary()

    def of(self, connection: Connection) -> Session:
        session = self._of.get(connection)
        if session is None:
            session = self._of[connection] = Session()
        return session

    def forget_elsewhere(self, changed: Connection, folder: bytes) -> None:
        """The folder was changed over one connection: what others remember of it may be over."""
        for connection, session in self._of.items():
            selected = connection.selected
            if connection is not changed and selected is not None and selected.name == folder:
                session.forget()
