"""Messages as answers, whole for programs and brief for models: made from what policy has shown, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from postroom.mail.model import Invitation, Part, Reading, Shown
from postroom.operations.answer import Answer
from postroom.operations.room import Room
from postroom.operations.rows import BriefRow, Correspondent, Row, brief_fields, correspondents, left_out, row_fields
from postroom.operations.rows import spelled as spell

View = Literal["reader", "text", "html", "full"]
BODIES: dict[View, tuple[str, ...]] = {
    "reader": ("reader",),
    "text": ("text",),
    "html": ("html",),
    "full": ("text", "html"),
}


_LONGEST_ID = 300
"""Characters of a file name or id within a list for a model."""
LISTED = ("from", "to", "subject", "date")
"""Fields of a message that lists tell, `to` if it is asked for."""


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


class BriefAttachment(Answer):
    id: str
    filename: str = ""
    content_type: str
    size: int = 0
    inline: bool = False


class LinkEntry(Answer):
    """`mismatch`: the text names another place than the one it leads to."""

    text: str
    href: str
    host: str
    mismatch: bool


class InvitationEntry(Answer):
    """Times are ISO 8601: a date, UTC with Z, or local with its zone in brackets."""

    method: str | None
    uid: str | None
    summary: str | None
    start: str | None
    end: str | None
    organizer: str | None
    attendees: list[str]


class BriefInvitation(Answer):
    method: str = ""
    uid: str = ""
    summary: str = ""
    start: str = ""
    end: str = ""
    organizer: str = ""
    attendees: list[str] = Field(default_factory=list)


class AuthenticationEntry(Answer):
    """pass, fail, none ... as the mailbox's own servers found it, else unknown."""

    spf: str
    dkim: str
    dmarc: str


_UNKNOWN = AuthenticationEntry(spf="unknown", dkim="unknown", dmarc="unknown")


class Bodies(Answer):
    """What a message says, in the forms that were asked for; `truncated` tells that one was cut."""

    reader: str | None = None
    text: str | None = None
    html: str | None = None
    safe_html: str | None = None
    truncated: bool
    truncated_hint: str = ""
    quoted_left_out: bool = False
    """Set only when older messages are quoted and not shown; `quotes` brings them back."""
    headers: list[HeaderLine] = Field(default_factory=list)
    links: list[LinkEntry] = Field(default_factory=list)
    authentication: AuthenticationEntry | None = None
    """Over MCP left out where nothing is known."""
    signals: list[str]


class Message(Row, Bodies):
    """A row and what the view asks for."""

    reply_to: list[Correspondent]
    references: list[str]
    attachments: list[Attachment]
    invitation: InvitationEntry | None

    @property
    def entries(self) -> int:
        return self.own_entries + (self.invitation.own_entries if self.invitation else 0)


class BriefMessage(BriefRow, Bodies):
    """The same for a model: people as text, and little that is null, empty or false; alone it says of its files, its
    signals and its cut even that there are none. `authentication` is there if anything of it is known.
    """

    truncated: bool = False
    signals: list[str] = Field(default_factory=list)
    to: list[str] = Field(default_factory=list)
    cc: list[str] = Field(default_factory=list)
    reply_to: list[str] = Field(default_factory=list)
    attachments: list[BriefAttachment] = Field(default_factory=list)
    invitation: BriefInvitation | None = None

    @property
    def entries(self) -> int:
        return self.own_entries + (self.invitation.own_entries if self.invitation else 0)


class Missing(Answer):
    """Why one of several requested messages is not there."""

    uid: str
    error: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """What of a message is asked for: the names of its bodies, and what goes with them."""

    bodies: tuple[str, ...]
    brief: bool
    together: bool = False
    """One of several, which are rows of their answer: what is empty, false or goes without saying is left out."""
    terse: bool = False
    """Without the fields in `LISTED`, so that more of the texts have room."""
    headers: bool = False
    links: bool = False
    quotes: bool = False


def body_of(reading: Reading | None, name: str, form: Form) -> str | None:
    """One body of a message, whole."""
    if reading is None:
        return None
    body: str | None = getattr(reading, "reader_quoted" if name == "reader" and form.quotes else name)
    return body


def message_of(shown: Shown, mailbox: str, form: Form, room: Room, max_chars: int) -> Message | BriefMessage:
    """A message in that form, each of its bodies cut to `max_chars` characters."""
    told = _bodies(shown.reading, form, room, max_chars)
    if form.brief:
        said = _brief_fields(shown, room, form) | _said(told, form)
        kept = {name: value for name, value in said.items() if not (form.terse and name in LISTED)}
        return BriefMessage(**kept, **left_out(room))
    reading = shown.reading
    fields = row_fields(shown, mailbox, room) | {
        "reply_to": correspondents(shown.head.reply_to, "reply_to", room),
        "references": [room.short(one, _LONGEST_ID) for one in room.some("references", shown.head.references)],
        "attachments": [_attachment(part, room) for part in _parts(reading, room)],
        "invitation": _invitation(reading.invitation, room) if reading and reading.invitation else None,
    }
    return Message(**fields, **told, **left_out(room))


def _said(told: dict[str, Any], form: Form) -> dict[str, Any]:
    """What is worth its words."""
    unknown = {"authentication"} if told["authentication"] == _UNKNOWN else set()
    empty = {name for name in ("truncated", "signals") if form.together and not told[name]}
    return {name: value for name, value in told.items() if name not in unknown | empty}


def _brief_fields(shown: Shown, room: Room, form: Form) -> dict[str, Any]:
    head, reading = shown.head, shown.reading
    people = {
        name: [spell(address, room) for address in room.some(name, addresses)]
        for name, addresses in (("to", head.to), ("cc", head.cc), ("reply_to", head.reply_to))
        if addresses and not (name == "reply_to" and addresses == head.from_)
    }
    fields = brief_fields(shown, room) | people
    fields.pop("has_attachments", None)
    fields["attachments"] = [_brief_attachment(part, room) for part in _parts(reading, room)]
    if form.together and not fields["attachments"]:
        del fields["attachments"]
    if reading is not None and reading.invitation:
        fields["invitation"] = brief_invitation(reading.invitation, room)
    return fields


def _bodies(reading: Reading | None, form: Form, room: Room, max_chars: int) -> dict[str, Any]:
    whole = {name: body_of(reading, name, form) for name in form.bodies}
    longest = max((len(body or "") for body in whole.values()), default=0)
    lost = reading is not None and reading.truncated
    told: dict[str, Any] = {name: body if body is None else body[:max_chars] for name, body in whole.items()}
    told["truncated"] = longest > max_chars or lost
    if longest > max_chars:
        told["truncated_hint"] = f"Ask again with max_chars up to {longest} for more."
    elif lost:
        told["truncated_hint"] = "The message is too large; the rest of its text is not available here."
    if reading is not None and "reader" in whole and not form.quotes and reading.reader != reading.reader_quoted:
        told["quoted_left_out"] = True
    return told | _facts(reading, form, room)


def _facts(reading: Reading | None, form: Form, room: Room) -> dict[str, Any]:
    """What the gateway itself found out, and what else was asked for."""
    told = reading.authentication if reading else None
    verdict = {name: getattr(told, name) if told else "unknown" for name in ("spf", "dkim", "dmarc")}
    facts: dict[str, Any] = {
        "authentication": AuthenticationEntry(**verdict),
        "signals": list(reading.signals) if reading else [],
    }
    if form.headers:
        lines = room.lines("headers", reading.headers if reading else ())
        facts["headers"] = [HeaderLine(name=name, value=value) for name, value in lines]
    if form.links:
        links = room.fitting("links", reading.links if reading else (), lambda link: len(link.href) + 60)
        facts["links"] = [
            LinkEntry(text=room.short(link.text), href=link.href, host=link.host, mismatch=link.mismatch)
            for link in links
        ]
    return facts


def _parts(reading: Reading | None, room: Room) -> list[Part]:
    return room.some("attachments", reading.attachments) if reading else []


def _attachment(part: Part, room: Room) -> Attachment:
    return Attachment(
        id=part.section,
        filename=part.filename and room.short(part.filename, _LONGEST_ID),
        content_type=room.short(part.content_type),
        size=part.size,
        inline=part.inline,
        content_id=part.content_id and room.short(part.content_id, _LONGEST_ID),
    )


def _brief_attachment(part: Part, room: Room) -> BriefAttachment:
    told = _attachment(part, room)
    said = {"filename": told.filename, "size": told.size, "inline": told.inline}
    return BriefAttachment(
        id=told.id, content_type=told.content_type, **{name: value for name, value in said.items() if value}
    )


def _invitation(invitation: Invitation, room: Room) -> InvitationEntry:
    return InvitationEntry(
        method=invitation.method,
        uid=invitation.uid and room.short(invitation.uid),
        summary=invitation.summary and room.short(invitation.summary, 300),
        start=invitation.start,
        end=invitation.end,
        organizer=invitation.organizer and room.short(invitation.organizer),
        attendees=[room.short(one) for one in room.some("attendees", invitation.attendees)],
    )


def brief_invitation(invitation: Invitation, room: Room) -> BriefInvitation:
    told = _invitation(invitation, room).json_ready()
    return BriefInvitation(**{name: value for name, value in told.items() if value})
