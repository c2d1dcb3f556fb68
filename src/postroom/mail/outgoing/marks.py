"""For what a person may have marked a draft with in another program: how much it matters, and whom it is meant for."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.mail.header import first_value
from postroom.mail.model import Head

_VALUES = {
    "Importance": ("low", "normal", "high"),
    "Priority": ("non-urgent", "normal", "urgent"),
    "X-Priority": ("1", "2", "3", "4", "5"),
    "Sensitivity": ("personal", "private", "company-confidential"),
}
"""Fields of RFC 2156 and one that everybody writes, with all that may stand there."""

Marks = tuple[tuple[str, str], ...]
"""Fields by name and value, of this closed list alone."""


def read_marks(head: Head) -> Marks:
    """The marks of a message; what is none of the values says nothing."""
    return tuple(_found(head))


def are_marks(marks: Marks) -> bool:
    """Whether they may be written."""
    return all(value in _VALUES.get(name, ()) for name, value in marks)


def _found(head: Head) -> Iterator[tuple[str, str]]:
    for name, values in _VALUES.items():
        words = (first_value(head.fields, name) or b"").decode("ascii", "replace").lower().split()
        if words and words[0] in values:
            yield name, words[0]
