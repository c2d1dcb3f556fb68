"""Folders as people name them: decoded, INBOX first, each with its special use and the name the server knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from postroom.imap.commands import Listed
from postroom.imap.names import decode_name

INBOX = "INBOX"

_ATTRIBUTES = {
    "\\sent": "sent",
    "\\drafts": "drafts",
    "\\trash": "trash",
    "\\junk": "junk",
    "\\archive": "archive",
    "\\all": "all",
    "\\flagged": "flagged",
    "\\important": "important",
}  # RFC 6154 and RFC 8457

_KNOWN_NAMES = {
    "sent": ("sent", "sent items", "sent messages", "sent mail", "sent-mail", "gesendet", "gesendete objekte",
             "gesendete elemente", "envoyés", "éléments envoyés", "enviados", "inviata", "posta inviata", "送信済み"),
    "drafts": ("drafts", "draft", "entwürfe", "brouillons", "borradores", "bozze", "下書き"),
    "trash": ("trash", "deleted items", "deleted messages", "deleted", "papierkorb", "gelöschte elemente",
              "gelöschte objekte", "corbeille", "éléments supprimés", "papelera", "cestino", "ゴミ箱"),
    "junk": ("junk", "spam", "junk e-mail", "junk mail", "bulk mail", "junk-e-mail", "indésirables", "迷惑メール"),
    "archive": ("archive", "archives", "archiv"),
}  # fmt: skip
"""What servers without SPECIAL-USE call them; earlier names win."""


@dataclass(frozen=True, slots=True)
class Folder:
    """`name` is what callers see and say, `raw` what the server is told."""

    name: str
    raw: bytes
    delimiter: str | None
    special_use: str | None
    selectable: bool


def read_folders(listed: Iterable[Listed], prefix: bytes, overrides: Mapping[str, str]) -> tuple[Folder, ...]:
    """All folders, INBOX first, otherwise in the server's order.

    `prefix` is the personal namespace. `overrides` gives a special use to a named folder and takes it from others;
    then the server's attributes decide, and known names only for a use that no folder has.
    """
    folders = _distinct([_folder(one) for one in listed])
    folders = _with_overrides(folders, overrides)
    for use, names in _KNOWN_NAMES.items():
        if not any(folder.special_use == use for folder in folders):
            folders = _with_known_name(folders, use, names, prefix)
    return tuple(sorted(folders, key=lambda folder: folder.name != INBOX))


def _folder(listed: Listed) -> Folder:
    name = _one_line(decode_name(listed.name))
    if name.upper() == INBOX:
        name = INBOX
    uses = [use for attribute, use in _ATTRIBUTES.items() if attribute in listed.attributes]
    special_use = "inbox" if name == INBOX else (uses[0] if uses else None)
    selectable = not listed.attributes & {"\\noselect", "\\nonexistent"}
    return Folder(name, listed.name, listed.delimiter, special_use, selectable)


def _one_line(name: str) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def _distinct(folders: list[Folder]) -> list[Folder]:
    """Two raw names that look the same to people are told apart, so that each can be named."""
    seen: dict[str, int] = {}
    distinct = []
    for folder in folders:
        times = seen[folder.name] = seen.get(folder.name, 0) + 1
        distinct.append(folder if times == 1 else replace(folder, name=f"{folder.name} ({times})"))
    return distinct


def _with_overrides(folders: list[Folder], overrides: Mapping[str, str]) -> list[Folder]:
    for use, name in overrides.items():
        if any(folder.name == name for folder in folders):
            folders = [
                replace(folder, special_use=use if folder.name == name else None)
                if folder.name == name or folder.special_use == use
                else folder
                for folder in folders
            ]
    return folders


def _with_known_name(folders: list[Folder], use: str, names: tuple[str, ...], prefix: bytes) -> list[Folder]:
    roots = {_root_name(folder, prefix): folder for folder in reversed(folders) if folder.special_use is None}
    for name in names:
        chosen = roots.get(name)
        if chosen is not None and chosen.selectable:
            return [replace(folder, special_use=use) if folder is chosen else folder for folder in folders]
    return folders


def _root_name(folder: Folder, prefix: bytes) -> str | None:
    """The folder's own name if it lies at the root of the personal namespace, in lower case."""
    name = folder.name
    for root in (decode_name(prefix), f"{INBOX}{folder.delimiter}" if folder.delimiter else ""):
        if root and name.startswith(root):
            name = name[len(root) :]
            break
    if folder.delimiter and folder.delimiter in name:
        return None
    return name.lower()
