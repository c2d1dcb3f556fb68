"""For what an entity's own fields say about it: type, disposition, encoding, id (RFC 2045, RFC 2183)."""

from __future__ import annotations

import re
from types import MappingProxyType

from postroom.mail.header import decode_words, first_value, one_line
from postroom.mail.model import Field, MimeType
from postroom.mail.parameters import parse_mime_value
from postroom.mail.transfer import encoding_name

_TYPE = re.compile(r"[!-.0-~]+/[!-.0-~]+")
_OF_FILES = frozenset(("application", "image", "audio", "video", "font", "model"))
_BARE_ID = re.compile(r"[<>\s]")


def media_type(fields: tuple[Field, ...], default: str = "text/plain") -> MimeType:
    """The first Content-Type; `default` without one, and text/plain or octets for one that is none (RFC 2045 5.2)."""
    value = first_value(fields, "content-type")
    if value is None:
        return MimeType(default, MappingProxyType({}))
    parsed = parse_mime_value(value)
    if _TYPE.fullmatch(parsed.value):
        return parsed
    main = parsed.value.partition("/")[0]
    file = main in _OF_FILES or parsed.parameters.get("name")
    return MimeType("application/octet-stream" if file else "text/plain", parsed.parameters)


def disposition(fields: tuple[Field, ...]) -> MimeType:
    """The first Content-Disposition; an empty value without one."""
    return parse_mime_value(first_value(fields, "content-disposition") or b"")


def transfer_encoding(fields: tuple[Field, ...]) -> str:
    """The name of the first Content-Transfer-Encoding, lower case; `7bit` without one."""
    return encoding_name(first_value(fields, "content-transfer-encoding"))


def content_id(fields: tuple[Field, ...]) -> str | None:
    """The Content-ID without brackets (RFC 2392), or None."""
    value = first_value(fields, "content-id")
    return None if value is None else _BARE_ID.sub("", one_line(decode_words(value)))[:998] or None
