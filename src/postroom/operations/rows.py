"""Messages as rows of a list: whole for programs, brief for models, with the beginning of their text if asked for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, Field

from postroom.base.errors import GatewayError
from postroom.mail.date import format_utc
from postroom.mail.model import Address, Shown
from postroom.operations.answer import Answer
from postroom.operations.ask import Integer
from postroom.operations.knownrows import KnownRows, MakeRow, people
from postroom.operations.operation import Call, Surface
from postroom.operations.room import LONGEST_ADDRESS, Room, for_model

DEFAULT_LIMIT = 20
ROW_ENTRIES = 200
"""Recipients of a row for a program; the message itself has all."""
LONGEST_PREVIEW = 1_000
_PREVIEWS_AT_ONCE = 20
FEW_PEOPLE = 1_000
"""Addresses that are made into rows in passing: some milliseconds' work; more of them are another thread's."""
_KNOWN = KnownRows()

_LIKE_ADDRESS = re.compile(r"[<>@\"]")

FOREIGN_ROWS = "subject, previews, message ids, names and addresses of people"


Fields = Literal["full", "brief"]


class Shape(BaseModel):
    """A mixin for the arguments of lists: how many rows, and how much of each."""

    limit: Annotated[Integer, Field(ge=1, le=500)] = DEFAULT_LIMIT
    fields: Fields | None = None
    preview: Annotated[Integer | None, Field(ge=1, le=LONGEST_PREVIEW, description="Characters of text per row")] = None
    """Characters of the reader text to add to each row, 1 to 1,000; none if left out."""


class Correspondent(Answer):
    name: str | None
    address: str


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
    preview: str = ""
    """Set only when asked for: the beginning of the reader text."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """Set only when a field was cut: how many entries or characters are missing, by field."""
    error: str = ""
    """Set only when the message could not be read whole."""

    @property
    def entries(self) -> int:
        return len(self.from_) + len(self.to) + len(self.cc) + len(self.flags) + len(self.labels)


class BriefRow(Answer):
    """A row in as few words as it takes; what is null, empty or false is not in it."""

    uid: str
    mailbox: str = ""
    folder: str = ""
    from_: str = Field("", alias="from")
    subject: str = ""
    date: str = ""
    received_at: str = ""
    """Only of a message without a date of its own."""
    seen: bool = False
    flagged: bool = False
    has_attachments: bool = False
    preview: str = ""
    left_out: dict[str, int] = Field(default_factory=dict)
    error: str = ""

    @property
    def entries(self) -> int:
        return 1


AnyRow = Row | BriefRow
Listed = tuple[str, Shown]
"""A row with the name of its mailbox."""


def is_brief(call: Call, fields: Fields | None) -> bool:
    """Whether rows are brief: a model gets brief ones if it does not ask for whole ones, a program the reverse."""
    return fields == "brief" if fields else call.surface is Surface.MCP


async def rows_of(call: Call, ask: Shape, listed: Sequence[Listed], *, named: bool, beside: int) -> list[AnyRow]:
    """The rows as asked for, as many as there is room for: others are left out whole.

    `named` rows tell their mailbox and folder, also brief ones; `beside` is how many characters of the answer are not
    rows.
    """
    budget = None if call.budget is None or _asks_for_more(ask) else call.budget - beside
    rows = await _shaped(_maker(call, ask, named), listed)
    rows = rows[: affordable(rows, budget)]
    if ask.preview:
        rows = await _with_previews(call, ask.preview, listed[: len(rows)], rows, budget)
        rows = rows[: affordable(rows, budget)]
    return rows


def _asks_for_more(ask: Shape) -> bool:
    return "limit" in ask.model_fields_set and ask.limit > DEFAULT_LIMIT


def affordable(answers: Sequence[Answer | str], budget: int | None) -> int:
    """How many of these fit into the budget with commas between them, at least one."""
    if budget is None:
        return len(answers)
    spent = 0
    for count, answer in enumerate(answers):
        spent += length(answer) + 1
        if spent > budget and count:
            return count
    return len(answers)


def length(value: Answer | str | Sequence[str]) -> int:
    """Characters that it takes in an answer."""
    return len(orjson.dumps(value.json_ready() if isinstance(value, Answer) else value).decode())


async def _shaped(make: MakeRow[AnyRow], listed: Sequence[Listed]) -> list[AnyRow]:
    if sum(people(shown.head) for _, shown in listed) <= FEW_PEOPLE:
        return [_KNOWN.row(make, mailbox, shown) for mailbox, shown in listed]
    return await asyncio.to_thread(lambda: [make(shown, mailbox) for mailbox, shown in listed])


def _maker(call: Call, ask: Shape, named: bool) -> MakeRow[AnyRow]:
    if is_brief(call, ask.fields):
        return named_brief_row if named else brief_row
    return row_for_program if call.budget is None else row_for_model


def room_for(call: Call, messages: int, *, tight: int = 1) -> Room:
    """Room in one of so many messages of an answer; a program has all it wants."""
    return Room() if call.budget is None else for_model(messages, tight)


async def _with_previews(
    call: Call, characters: int, listed: Sequence[Listed], rows: Sequence[AnyRow], budget: int | None
) -> list[AnyRow]:
    """Rows with the beginning of their text; in parts, so that few messages are held at a time."""
    previewed = list(rows)
    for start in range(0, len(rows), _PREVIEWS_AT_ONCE):
        places: dict[tuple[str, str], dict[str, int]] = {}
        for place, (mailbox, shown) in enumerate(listed[start : start + _PREVIEWS_AT_ONCE], start):
            places.setdefault((mailbox, shown.folder), {})[shown.uid] = place
        for (mailbox, folder), uids in places.items():
            found = await _texts(call, mailbox, folder, list(uids))
            for uid, place in uids.items():
                previewed[place] = _noted(rows[place], _beginning(found[uid], characters))
        if affordable(previewed[:start], budget) < start:
            break
    return previewed


async def _texts(call: Call, mailbox: str, folder: str, uids: Sequence[str]) -> Mapping[str, Shown | GatewayError]:
    """The messages for their previews. A mailbox that fails now has been listed all the same, and others are not."""
    try:
        return await call.mailbox(mailbox).messages(folder, uids)
    except GatewayError as error:
        return dict.fromkeys(uids, error)


def _beginning(message: Shown | GatewayError, characters: int) -> dict[str, str]:
    """The fields that a preview adds to its row."""
    if isinstance(message, GatewayError):
        return {"error": f"no preview: {message.message}"}
    if message.reading is None:
        return {"error": f"no preview: {message.incomplete or 'the message could not be read'}"}
    text = message.reading.reader
    preview = " ".join(text[: 4 * characters].split())[:characters]
    return {"preview": preview} if preview else {}


def _noted(row: AnyRow, more: Mapping[str, str]) -> AnyRow:
    """A copy that has these fields set as well."""
    return row.model_copy(update=dict(more)) if more else row


def row_of(shown: Shown, mailbox: str, room: Room) -> Row:
    """A whole row."""
    return Row(**row_fields(shown, mailbox, room), **left_out(room))


def row_for_program(shown: Shown, mailbox: str) -> Row:
    return row_of(shown, mailbox, Room(ROW_ENTRIES))


def row_for_model(shown: Shown, mailbox: str) -> Row:
    return row_of(shown, mailbox, for_model(DEFAULT_LIMIT))


def brief_row(shown: Shown, _mailbox: str) -> BriefRow:
    """A brief row of a list that says itself where its rows lie."""
    room = for_model(DEFAULT_LIMIT)
    return BriefRow(**brief_fields(shown, room), **left_out(room))


def named_brief_row(shown: Shown, mailbox: str) -> BriefRow:
    """A brief row that says where it lies."""
    room = for_model(DEFAULT_LIMIT)
    return BriefRow(mailbox=mailbox, folder=shown.folder, **brief_fields(shown, room), **left_out(room))


def left_out(room: Room) -> dict[str, Any]:
    return {"left_out": dict(room.left_out)} if room.left_out else {}


def brief_fields(shown: Shown, room: Room) -> dict[str, Any]:
    """The fields that a model needs, where they say something."""
    head = shown.head
    date = utc(head.date)
    said = {
        "uid": shown.uid,
        "from": ", ".join(spelled(address, room) for address in room.some("from", head.from_)),
        "subject": room.line("subject", head.subject),
        "date": date,
        "received_at": None if date else utc(shown.received_at),
        "seen": "\\Seen" in shown.flags,
        "flagged": "\\Flagged" in shown.flags,
        "has_attachments": shown.has_attachments,
        "error": shown.incomplete,
    }
    return {name: value for name, value in said.items() if value}


def spelled(address: Address, room: Room) -> str:
    """`Name <address>` for a model to read; not meant to be parsed again."""
    written = room.short(address.address, LONGEST_ADDRESS)
    if not address.name or address.name == address.address:
        return written
    name = room.short(address.name)
    # A name that looks like an address must not be taken for one.
    return f'"{name}" <{written}>' if _LIKE_ADDRESS.search(name) else f"{name} <{written}>"


def row_fields(shown: Shown, mailbox: str, room: Room) -> dict[str, Any]:
    """Every field of a row."""
    head = shown.head
    known: dict[str, Any] = {"error": shown.incomplete} if shown.incomplete else {}
    return known | {
        "uid": shown.uid,
        "mailbox": mailbox,
        "folder": shown.folder,
        "message_id": room.line("message_id", head.message_id),
        "from": correspondents(head.from_, "from", room),
        "to": correspondents(head.to, "to", room),
        "cc": correspondents(head.cc, "cc", room),
        "subject": room.line("subject", head.subject),
        "date": utc(head.date),
        "received_at": utc(shown.received_at),
        "size": shown.size,
        "flags": [room.short(flag) for flag in room.some("flags", sorted(shown.flags))],
        "labels": [room.short(label) for label in room.some("labels", shown.labels)],
        "seen": "\\Seen" in shown.flags,
        "has_attachments": shown.has_attachments,
        "in_reply_to": room.line("in_reply_to", head.in_reply_to),
    }


def correspondents(addresses: tuple[Address, ...], name: str, room: Room) -> list[dict[str, str | None]]:
    """The fields of correspondents; the row that they are for makes models of them."""
    if room.is_endless:
        return [{"name": person, "address": address} for person, address in addresses]
    return [
        {"name": person and room.short(person), "address": room.short(address, LONGEST_ADDRESS)}
        for person, address in room.some(name, addresses)
    ]


def utc(moment: datetime | None) -> str | None:
    return format_utc(moment) if moment else None
