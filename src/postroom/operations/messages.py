"""Rows and messages as answers: made from what policy has shown, and from nothing else."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from postroom.mail.date import format_utc
from postroom.mail.header import decode_words, one_line
from postroom.mail.model import Address, Part, Shown
from postroom.operations.answer import Answer
from postroom.operations.room import Room

View = Literal["text", "html", "full"]
_BODIES: dict[View, tuple[str, ...]] = {"text": ("text",), "html": ("html",), "full": ("text", "html")}


class Correspondent(Answer):
    name: str | None
    address: str


class HeaderLine(Answer):
    name: str
    value: str


class Attachment(Answer):
    """`size` is in decoded octets, or null where only the whole file would tell."""

    id: str
    filename: str | None
    content_type: str
    size: int | None
    inline: bool
    content_id: str | None


class Row(Answer):
    """A message in a list. Dates are ISO 8601 in UTC; `date` is the sender's word, `received_at` the server's."""

    uid: str
    mailbox: str
    folder: str
    message_id: str | None
    from_: list[Correspondent] = Field(alias="from")
    to: list[Correspondent]
    cc: list[Correspondent]
    subject: str | None
    date: str | None
    received_at: str | None
    size: int | None
    flags: list[str]
    labels: list[str]
    seen: bool
    has_attachments: bool | None
    in_reply_to: str | None
    left_out: dict[str, int] = Field(default_factory=dict)
    """Set only when a field was cut for a model: how many entries or characters are missing, by field."""
    error: str = ""
    """Set only when the message could not be read whole."""


class Message(Row):
    """A row and what the view asks for; `truncated` tells that a body was cut."""

    reply_to: list[Correspondent]
    references: list[str]
    text: str | None = None
    html: str | None = None
    truncated: bool
    truncated_hint: str = ""
    headers: list[HeaderLine] = Field(default_factory=list)
    attachments: list[Attachment]


class Missing(Answer):
    """Why one of several requested messages is not there."""

    uid: str
    error: dict[str, Any]


def row_of(shown: Shown, mailbox: str, room: Room) -> Row:
    return Row(**_row_fields(shown, mailbox, room), **_left_out(room))


def message_of(shown: Shown, mailbox: str, view: View, room: Room, *, headers: bool, max_chars: int) -> Message:
    """A message with the bodies of `view`, each cut to `max_chars` characters."""
    content = shown.content
    parts = room.some("attachments", content.attachments) if content else []
    bodies = {name: getattr(content, name) if content else None for name in _BODIES[view]}
    cut = {name: body[:max_chars] if body is not None else None for name, body in bodies.items()}
    shortened = any(len(body or "") > max_chars for body in bodies.values())
    lost = content is not None and "truncated" in content.faults
    extra: dict[str, Any] = {"headers": _header_lines(shown, room)} if headers else {}
    if shortened:
        longest = max(len(body or "") for body in bodies.values())
        extra["truncated_hint"] = f"Ask again with max_chars up to {longest} for more."
    elif lost:
        extra["truncated_hint"] = "The message is too large; the rest of its text is not available here."
    fields = _row_fields(shown, mailbox, room) | {
        "reply_to": _correspondents(shown.head.reply_to, "reply_to", room),
        "references": room.some("references", shown.head.references),
    }
    return Message(
        **fields,
        **cut,
        truncated=shortened or lost,
        attachments=[_attachment(part) for part in parts],
        **extra,
        **_left_out(room),
    )


def _left_out(room: Room) -> dict[str, Any]:
    return {"left_out": dict(room.left_out)} if room.left_out else {}


def _header_lines(shown: Shown, room: Room) -> list[HeaderLine]:
    lines = [(field.name, one_line(decode_words(field.value))) for field in shown.head.fields]
    return [HeaderLine(name=name, value=value) for name, value in room.lines("headers", lines)]


def _row_fields(shown: Shown, mailbox: str, room: Room) -> dict[str, Any]:
    head = shown.head
    known: dict[str, Any] = {"error": shown.incomplete} if shown.incomplete else {}
    return known | {
        "uid": shown.uid,
        "mailbox": mailbox,
        "folder": shown.folder,
        "message_id": room.line("message_id", head.message_id),
        "from": _correspondents(head.from_, "from", room),
        "to": _correspondents(head.to, "to", room),
        "cc": _correspondents(head.cc, "cc", room),
        "subject": room.line("subject", head.subject),
        "date": _time(head.date),
        "received_at": _time(shown.received_at),
        "size": shown.size,
        "flags": room.some("flags", sorted(shown.flags)),
        "labels": room.some("labels", shown.labels),
        "seen": "\\Seen" in shown.flags,
        "has_attachments": shown.has_attachments,
        "in_reply_to": room.line("in_reply_to", head.in_reply_to),
    }


def _correspondents(addresses: tuple[Address, ...], name: str, room: Room) -> list[Correspondent]:
    return [
        Correspondent(name=address.name and room.short(address.name), address=address.address)
        for address in room.some(name, addresses)
    ]


def _attachment(part: Part) -> Attachment:
    return Attachment(
        id=part.section,
        filename=part.filename,
        content_type=part.content_type,
        size=part.size,
        inline=part.inline,
        content_id=part.content_id,
    )


def _time(moment: datetime | None) -> str | None:
    return format_utc(moment) if moment else None
