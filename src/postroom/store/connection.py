"""What functions over the store are given: a connection that speaks the same SQL to either database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

Value = str | int | bytes | None
"""What a column may hold."""


class StatementError(Exception):
    """A statement broke a constraint, or was given what it does not take: a fault of ours, or a hand in the tables."""


class Announcement(NamedTuple):
    """Something that happened, for whoever listens to its topic."""

    topic: str
    payload: str


@dataclass(frozen=True, slots=True)
class Rows:
    """What a statement gave, all of it: ask for pages of what may be long."""

    rows: Sequence[tuple[Any, ...]]
    rowcount: int
    """Rows that a statement changed."""

    def fetchone(self) -> Any:
        """The first row, or None."""
        return self.rows[0] if self.rows else None

    def fetchall(self) -> Any:
        return self.rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)


class Connection(Protocol):
    """Statements have `?` for each value, and are written so that SQLite and PostgreSQL both know them.

    Every method raises StatementError, or StoreError if the database cannot do it now; then the transaction is over
    for this caller.
    """

    def execute(self, statement: str, values: Sequence[Value] = (), /) -> Rows: ...

    def executemany(self, statement: str, values: Iterable[Sequence[Value]], /) -> object: ...

    def announce(self, topic: str, payload: str = "", /) -> None:
        """Tell whoever listens to the topic, in every gateway, once the transaction is on the disk, and only then."""


class Session(Connection, Protocol):
    """A connection with its transactions, used by one thread at a time."""

    announced: list[Announcement]
    """What the transaction will have announced."""

    @property
    def in_transaction(self) -> bool: ...

    def begin(self) -> None:
        """Begin a transaction, at its first mark. Raises StoreError within some seconds if there is no connection."""

    def mark(self) -> None:
        """What was done so far stays when what comes next is undone."""

    def undo(self) -> None:
        """Undo what was done since the mark."""

    def commit(self) -> None:
        """Raises StoreError when it is not on the disk, or nobody knows."""

    def rollback(self) -> None:
        """Leave the transaction, if there still is one; it raises nothing."""

    def close(self) -> None: ...
