"""Names of new folders: from what a caller writes to what the server is told."""

from __future__ import annotations

from postroom.base.errors import invalid
from postroom.imap.commands import Namespaces
from postroom.imap.names import decode_name, encode_name
from postroom.mailbox.folders import INBOX

LONGEST_NAME = 250
_LONGEST_ON_WIRE = 1_000
_WILDCARDS = "%*"


def new_name(name: str, delimiter: str | None, namespaces: Namespaces) -> bytes:
    """The name as the server spells it: with its delimiter, under the login's own prefix. Raises `validation_error`.

    A `/` parts levels at every server; where another delimiter does, it is put in its place.
    """
    _check(name)
    if delimiter and delimiter != "/":
        name = name.replace("/", delimiter)
    _check_levels(name, delimiter)
    raw = encode_name(name)
    prefix = namespaces.personal
    if prefix and not _lies_under(raw, prefix):
        raw = prefix + raw
    if len(raw) > _LONGEST_ON_WIRE:
        raise invalid("name", "is too long for a mail server")
    return raw


def shown_name(raw: bytes) -> str:
    """The name as lists tell it."""
    name = decode_name(raw)
    return INBOX if name.upper() == INBOX else name


def _check(name: str) -> None:
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise invalid("name", f"must be one line of 1 to {LONGEST_NAME} printable characters")
    if any(sign in name for sign in _WILDCARDS):
        raise invalid("name", "must not hold % or *, which mail servers take for any name")
    if name[0] in "#~":
        raise invalid("name", "must not begin with # or ~, which name other people's folders")


def _check_levels(name: str, delimiter: str | None) -> None:
    levels = name.split(delimiter) if delimiter else [name]
    if any(not level or level != level.strip() or level in (".", "..") for level in levels):
        raise invalid("name", "must not have a level that is empty, dots alone, or begins or ends with a blank")


def _lies_under(raw: bytes, prefix: bytes) -> bool:
    """INBOX is the same in any spelling (RFC 9051 5.1), and is no folder under itself."""
    length = len(INBOX) if prefix[: len(INBOX)].upper() == INBOX.encode() else 0
    under = raw[:length].upper() == prefix[:length].upper() and raw[length:].startswith(prefix[length:])
    return under or raw.upper() == INBOX.encode()
