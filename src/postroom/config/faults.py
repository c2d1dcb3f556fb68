"""What is wrong with a configuration file, said so that its writer can repair it in one go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

Where = tuple[str | int, ...]
"""The keys and list positions that lead to a value, such as ("mailboxes", 0, "imap", "port")."""

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_LONGEST_GUESS = 64  # difflib is quadratic, and a longer name is no slip of the hand


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault before its line is known; `problem` never quotes a value, which might be a secret."""

    where: Where
    problem: str
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to repair: `line` from 1, or 0 for the file as a whole, `where` such as `mailboxes[0].imap`."""

    line: int
    where: str
    problem: str
    suggestion: str | None = None

    def render(self, file: Path) -> str:
        """One readable line, beginning `file:line:` as editors know it."""
        place = f"{file}:{self.line}" if self.line else str(file)
        told = self.problem if self.suggestion is None else f"{self.problem}; {self.suggestion}"
        return ": ".join(part for part in (place, self.where, told) if part)


class ConfigError(Exception):
    """The configuration cannot be used: all faults that were found, in the order of their lines."""

    def __init__(self, file: Path, faults: Iterable[Fault]) -> None:
        self.file = file
        self.faults: Sequence[Fault] = sorted(faults, key=lambda fault: fault.line)
        super().__init__("\n".join(fault.render(file) for fault in self.faults))


def spell(where: Where) -> str:
    """A path as a reader writes it: `mailboxes[0].imap.port`."""
    spelled = ""
    for step in where:
        if isinstance(step, int):
            spelled += f"[{step}]"
        else:
            spelled += ("." if spelled else "") + _key(step)
    return spelled


def nearest(word: str, known: Iterable[str]) -> str | None:
    """`did you mean "port"?` for the known word most like this one, or None if none is like it."""
    if len(word) > _LONGEST_GUESS:
        return None
    found = get_close_matches(word.lower(), list(known), n=1, cutoff=0.55)
    return f'did you mean "{found[0]}"?' if found else None


def _key(step: str) -> str:
    return step if _PLAIN_KEY.fullmatch(step) else ascii(step[:32])
