"""Rows told before, told again as long as what they are made from is equal: nothing decided is remembered by it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from postroom.mail.model import Head, Shown
from postroom.operations.answer import Answer

RowT = TypeVar("RowT", bound=Answer)
MakeRow: TypeAlias = Callable[[Shown, str], RowT]
"""From a message and its mailbox's name to a row, by these alone."""

MOST_ROWS = 2_000
_LONGEST_HEAD = 8 * 1024
"""Characters of header fields past which a row is not worth keeping."""
_MOST_PEOPLE = 50


class KnownRows:
    """The rows told last, for one thread."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[Any, ...], tuple[Shown, Answer]] = OrderedDict()

    def row(self, make: MakeRow[RowT], mailbox: str, shown: Shown) -> RowT:
        """What `make` gives for this message."""
        key = (make, mailbox, shown.folder, shown.uid)
        known = self._rows.get(key)
        if known is not None and known[0] == shown:
            self._rows.move_to_end(key)
            return cast("RowT", known[1])
        row = make(shown, mailbox)
        if _is_ordinary(shown):
            self._keep(key, shown, row)
        return row

    def _keep(self, key: tuple[Any, ...], shown: Shown, row: Answer) -> None:
        self._rows[key] = shown, row
        self._rows.move_to_end(key)
        if len(self._rows) > MOST_ROWS:
            self._rows.popitem(last=False)


def people(head: Head) -> int:
    """Addresses that a row tells."""
    return len(head.from_) + len(head.to) + len(head.cc)


def _is_ordinary(shown: Shown) -> bool:
    """Whether little is held by keeping it: no content, and a head of ordinary size."""
    head = shown.head
    short = sum(len(field.value) for field in head.fields) <= _LONGEST_HEAD
    return shown.reading is None and people(head) <= _MOST_PEOPLE and short
