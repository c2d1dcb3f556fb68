"""The text in a file, for a bound caller: through the same rules as a message's own words."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from postroom.base.levels import Verdict
from postroom.mail.date import format_utc
from postroom.mail.filewords import as_message
from postroom.mail.model import Address, Head, Part
from postroom.mail.parse import parse_head, split
from postroom.mailbox.downloads import Download
from postroom.mailbox.parsing import assembled
from postroom.policy.content import Setting, project
from postroom.policy.contentrules import ContentRules
from postroom.policy.heads import show_head

LONGEST = 256 * 1024
"""Octets of a file that are read for its text."""
_MESSAGE = "message/rfc822"


@dataclass(frozen=True, slots=True)
class FileText:
    """What may be read of a file."""

    text: str
    truncated: bool


async def text_of_file(download: Download, setting: Setting, rules: ContentRules) -> FileText | None:
    """Its text as the rules leave it; None if a detector demands that the whole is kept back."""
    octets, cut = await _beginning(download)
    return await asyncio.to_thread(_read, download.part, octets, cut, setting, rules)


async def _beginning(download: Download) -> tuple[bytes, bool]:
    octets = bytearray()
    async for piece in download.octets():
        octets += piece
        if len(octets) > LONGEST:
            return bytes(octets[:LONGEST]), True
    return bytes(octets), False


def _read(part: Part, octets: bytes, cut: bool, setting: Setting, rules: ContentRules) -> FileText | None:
    is_message = part.content_type == _MESSAGE
    message = octets if is_message else as_message(part.content_type, part.charset, octets)
    head = parse_head(split(message)[0])
    projected = project(assembled(message), head, setting, rules)
    if projected.verdict is not Verdict.ALLOW:
        return None
    begin = _told(show_head(head, rules)) if is_message else ""
    return FileText(begin + projected.reading.reader_quoted, cut or projected.reading.truncated)


def _told(head: Head) -> str:
    """The head of a message that is a file, as its first lines."""
    date = f"Date: {format_utc(head.date)}\n" if head.date else ""
    return f"From: {', '.join(map(_spelled, head.from_))}\nSubject: {head.subject or ''}\n{date}\n"


def _spelled(address: Address) -> str:
    return f"{address.name} <{address.address}>" if address.name else address.address
