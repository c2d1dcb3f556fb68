"""For files that go with a message: named, typed, and refused with a reason if a name or type says more than that."""

from __future__ import annotations

import re
from mimetypes import MimeTypes

from postroom.base.errors import invalid
from postroom.mail.charset import is_valid
from postroom.mail.filename import safe_filename
from postroom.mail.outgoing.model import OutgoingFile

_TOKEN = r"[a-z0-9!#$&^_.+-]{1,100}"  # noqa: S105 - a token of RFC 2045, nothing secret
_TYPE = re.compile(rf'({_TOKEN}/{_TOKEN})(?:\s*;\s*charset="?([a-z0-9_.:+-]{{1,40}})"?)?')
_CONTENT_ID = re.compile(r"[!-;=?-~]{1,200}")
_KNOWN = MimeTypes(filenames=())
"""What names say by the table of Python itself, not that of the machine."""


def outgoing_file(
    filename: str,
    octets: bytes,
    content_type: str | None = None,
    *,
    content_id: str | None = None,
    argument: str = "attachments",
) -> OutgoingFile:
    """A file from its name, octets and type, which the name tells where it is None.

    Raises `validation_error` naming `argument` for a name with a path, line breaks, controls or invisible characters,
    and for a type that is none, or multipart. `content_id` is without brackets.
    """
    safe = safe_filename(filename)
    if safe is None or safe != filename:
        told = f", such as {safe}" if safe else ""
        raise invalid(argument, f"filename must be one plain name without path, controls or colons{told}")
    return OutgoingFile(safe, _media_type(content_type, safe, octets, argument), octets, _checked_id(content_id))


def _media_type(given: str | None, filename: str, octets: bytes, argument: str) -> str:
    text = given or _KNOWN.guess_type(filename)[0] or "application/octet-stream"
    match = _TYPE.fullmatch(text.strip(" ").lower())
    if match is None:
        raise invalid(argument, "content_type must be type/subtype, perhaps with a charset, such as text/csv")
    if match[1].startswith("multipart/"):
        raise invalid(argument, "content_type must not be multipart")
    charset = match[2]
    if charset is None and match[1].startswith("text/") and not octets.isascii() and is_valid(octets, "utf-8"):
        charset = "utf-8"
    return f"{match[1]}; charset={charset}" if charset else match[1]


def _checked_id(content_id: str | None) -> str | None:
    """An id that cannot be written is none: the file then is an ordinary one."""
    return content_id if content_id and _CONTENT_ID.fullmatch(content_id) else None
