"""Folders as people name them: decoded, INBOX first, each with its special use and the name the server knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from postroom.imap.commands import Listed, Namespaces
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
    "\\allmail": "all",
    "\\spam": "junk",
    "\\starred": "flagged",
}  # RFC 6154 and RFC 8457, then what XLIST called them before those

_KNOWN_NAMES = {
    "sent": ("sent", "sent items", "sent messages", "sent mail", "sent-mail", "gesendet", "gesendete objekte",
             "gesendete elemente", "envoyés", "éléments envoyés", "enviados", "elementos enviados", "itens enviados",
             "inviata", "posta inviata", "verzonden items", "отправленные", "已发送", "送信済み"),
    "drafts": ("drafts", "draft", "entwürfe", "brouillons", "borradores", "rascunhos", "bozze", "concepten",
               "черновики", "草稿箱", "下書き"),
    "trash": ("trash", "deleted items", "deleted messages", "deleted", "bin", "papierkorb", "gelöscht",
              "gelöschte elemente", "gelöschte objekte", "corbeille", "éléments supprimés", "papelera",
              "elementos eliminados", "lixeira", "cestino", "prullenbak", "корзина", "已删除", "ゴミ箱"),
    "junk": ("junk", "spam", "junk e-mail", "junk email", "junk mail", "bulk mail", "bulk", "junk-e-mail",
             "spamverdacht", "indésirables", "courrier indésirable", "correo no deseado", "posta indesiderata",
             "ongewenste e-mail", "спам", "垃圾邮件", "迷惑メール"),
    "archive": ("archive", "archives", "archiv"),
}  # fmt: skip
"""What servers without SPECIAL-USE call them; earlier names win."""

_UNTOLD = Namespaces()


def folder_name(name: str) -> str:
    """A folder's name as answers tell it: letters' case does not count in INBOX (RFC 9051 5.1)."""
    return INBOX if name.isascii() and name.upper() == INBOX else name


@dataclass(frozen=True, slots=True)
class Folder:
    """`name` is what callers see and say, `raw` what the server is told."""

    name: str
    raw: bytes
    delimiter: str | None
    special_use: str | None
    selectable: bool


def read_folders(
    listed: Iterable[Listed], overrides: Mapping[str, str], namespaces: Namespaces = _UNTOLD
) -> tuple[Folder, ...]:
    """All folders, INBOX first, then by name: servers tell them in one order now and in another later.

    `overrides` gives a special use to a named folder and takes it from others; then the server's attributes decide,
    and known names only for a use that no folder has. Folders of others have no use for the login.
    """
    by_name = sorted(listed, key=lambda one: one.name)
    folders = _distinct(_merged([_folder(one, namespaces.foreign) for one in by_name]))
    folders = _with_overrides(folders, overrides)
    for use, names in _KNOWN_NAMES.items():
        if not any(folder.special_use == use for folder in folders):
            folders = _with_known_name(folders, use, names, namespaces.personal)
    return tuple(sorted(folders, key=lambda folder: (folder.name != INBOX, folder.name.casefold(), folder.raw)))


def _folder(listed: Listed, foreign: tuple[bytes, ...]) -> Folder:
    name = one_line(decode_name(listed.name))
    if name.upper() == INBOX:
        name = INBOX
    uses = [use for attribute, use in _ATTRIBUTES.items() if attribute in listed.attributes]
    is_foreign = bool(foreign) and listed.name.startswith(foreign)
    special_use = "inbox" if name == INBOX else (uses[0] if uses and not is_foreign else None)
    selectable = not listed.attributes & {"\\noselect", "\\nonexistent"}
    delimiter = one_line(listed.delimiter) if listed.delimiter else None
    return Folder(name, listed.name, delimiter, special_use, selectable)


def one_line(name: str) -> str:
    """A name of a folder or label without what would break a line or hide in one."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def _merged(folders: list[Folder]) -> list[Folder]:
    """A folder that is told twice is one, and INBOX is one in any spelling; it can be opened if one of them says so."""
    merged: dict[bytes, Folder] = {}
    for folder in folders:
        key = INBOX.encode() if folder.name == INBOX else folder.raw
        first = merged.setdefault(key, folder)
        use, selectable = first.special_use or folder.special_use, first.selectable or folder.selectable
        merged[key] = replace(first, special_use=use, selectable=selectable)
    return list(merged.values())


def _distinct(folders: list[Folder]) -> list[Folder]:
    """Two raw names that look the same to people are told apart, so that each can be named."""
    times: dict[str, int] = {}
    taken = {folder.name for folder in folders}
    distinct = []
    for folder in folders:
        name = folder.name
        times[name] = times.get(name, 0) + 1
        while times[folder.name] > 1 and name in taken:
            name = f"{folder.name} ({times[folder.name]})"
            times[folder.name] += 1
        taken.add(name)
        distinct.append(replace(folder, name=name))
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
        if root and _begins(name, root):
            name = name[len(root) :]
            break
    if folder.delimiter and folder.delimiter in name:
        return None
    return name.lower()


def _begins(name: str, root: str) -> bool:
    """Whether a name lies under a root, in which INBOX is the same in any spelling (RFC 9051 5.1)."""
    length = len(INBOX) if root[: len(INBOX)].upper() == INBOX else 0
    return name[:length].upper() == root[:length].upper() and name[length:].startswith(root[length:])
