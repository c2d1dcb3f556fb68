"""What a server tells of a message's octets: sections, header fields by name, and its BODYSTRUCTURE."""

from __future__ import annotations

import email
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from postroom.imap.wire import Token
from tests.noninterference.asked import Item


def section_of(octets: bytes, wanted: Item) -> bytes | None:
    """These octets of a section: of the message, its header fields by name, or one of its parts."""
    if wanted.fields is not None:
        found = _fields(octets, wanted.fields)
    elif wanted.section == "":
        found = octets
    else:
        part = _part(octets, wanted.section)
        if part is None:
            return None
        found = part
    return found[wanted.offset : wanted.offset + wanted.count]


@lru_cache(maxsize=4_096)
def _fields(octets: bytes, names: frozenset[str]) -> bytes:
    """Those header fields and no others, as HEADER.FIELDS gives them (RFC 9051 6.4.5)."""
    kept, keeping = [], False
    for line in octets.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        if not line.startswith((b" ", b"\t")):
            keeping = line.partition(b":")[0].decode("ascii", "replace").upper() in names
        if keeping:
            kept.append(line + b"\r\n")
    return b"".join(kept) + b"\r\n"


def _part(octets: bytes, section: str) -> bytes | None:
    """The body of a numbered part, before transfer decoding."""
    message: Any = email.message_from_bytes(octets)
    for number in section.split("."):
        if not number.isdecimal():
            return None
        parts = message.get_payload() if message.is_multipart() else [message]
        if not 0 < int(number) <= len(parts):
            return None
        message = parts[int(number) - 1]
    return None if message.is_multipart() else str(message.get_payload()).encode("ascii", "surrogateescape")


@lru_cache(maxsize=4_096)
def _structure(octets: bytes) -> tuple[Token, ...]:
    return tuple(_tree(email.message_from_bytes(octets)))


def structure(octets: bytes) -> Token:
    """BODYSTRUCTURE (RFC 9051 7.5.2), as far as the product reads it."""
    return list(_structure(octets))


def _tree(message: Any) -> Iterator[Token]:
    if message.is_multipart():
        for part in message.get_payload():
            yield list(_tree(part))
        yield message.get_content_subtype().encode()
        yield from (None, None, None)
        return
    payload = str(message.get_payload()).encode("ascii", "surrogateescape")
    parameters = [one.encode() for name, value in (message.get_params() or [])[1:] for one in (name, str(value))]
    encoding = message.get("Content-Transfer-Encoding", "7bit").encode()
    yield from (message.get_content_maintype().encode(), message.get_content_subtype().encode(), parameters or None)
    yield from (None, None, encoding, b"%d" % len(payload))
    if message.get_content_maintype() == "text":
        yield b"%d" % payload.count(b"\n")
    disposition, name = message.get_content_disposition(), message.get_filename()
    given: list[Token] = [disposition.encode() if disposition else b"", [b"filename", name.encode()] if name else None]
    yield from (None, given if disposition else None, None, None)
