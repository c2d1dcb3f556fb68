"""What a caller asked and was told so far: ids, files and cursors to go on with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from postroom.operations.operation import Surface
from tests.noninterference.memory import MemoryFolder

_SEALED = re.compile(r"\b([macst])1_[A-Za-z0-9_-]{20,}")
Arguments = dict[str, Any]


def validity(folder: str) -> int:
    """The numbering of a folder in memory."""
    return MemoryFolder(folder.encode(), "").uid_validity


@dataclass(frozen=True)
class Asked:
    """One call."""

    tool: str
    arguments: Arguments
    surface: Surface


@dataclass
class History:
    """What the caller was told so far."""

    uids: list[tuple[str, str]] = field(default_factory=list)
    files: list[tuple[str, str, str]] = field(default_factory=list)
    """Folder and uid of the message, which is the one that was told before it, and the file's id."""
    pages: list[tuple[Asked, str, str]] = field(default_factory=list)
    """A call, under which argument it goes on, and with which cursor."""

    def learn(self, asked: Asked, answer: Any) -> None:
        folder = str(asked.arguments.get("folder") or _folder_of(asked.tool))
        for told, uid in _ids(answer, folder):
            self.uids.append((told, uid))
        uid = str(asked.arguments.get("uid", ""))
        for text in dict.fromkeys(match.group() for match in _SEALED.finditer(repr(answer))):
            if text.startswith("m1_"):
                uid = text
                self.uids.append((str(asked.arguments.get("destination", folder)), text))
            elif text.startswith("a1_"):
                self.files.append((folder, uid, text))
        if isinstance(answer, dict):
            for told, argument in (("next_cursor", "cursor"), ("cursor", "since_cursor")):
                if answer.get(told):
                    self.pages.append((asked, argument, answer[told]))


def _folder_of(tool: str) -> str:
    return "Drafts" if "draft" in tool else "INBOX"


def _ids(value: Any, folder: str) -> Iterator[tuple[str, str]]:
    """Ids with the folder that each is said to be of."""
    if isinstance(value, dict):
        here = value.get("folder") or folder
        if isinstance(value.get("uid"), str) and isinstance(here, str):
            yield here, value["uid"]
        for inner in value.values():
            yield from _ids(inner, here if isinstance(here, str) else folder)
    elif isinstance(value, list):
        for inner in value:
            yield from _ids(inner, folder)
