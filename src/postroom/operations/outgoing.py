"""The arguments of mail that leaves: people, texts and files, as models write them, made into values once."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from pydantic import ConfigDict, Field, PlainValidator, ValidationInfo, WithJsonSchema, create_model

from postroom.base.caller import Scope
from postroom.base.errors import Code, GatewayError, invalid
from postroom.mail.outgoing.address import MAX_RECIPIENTS, of_parts, read_addresses, strict_address, unique
from postroom.mail.outgoing.file import outgoing_file
from postroom.mail.outgoing.model import OutgoingFile, StrictAddress
from postroom.mailbox.downloads import Download
from postroom.mailbox.judge import Purpose
from postroom.mailbox.view import MailboxView
from postroom.operations.access import lacks
from postroom.operations.ask import MailboxAsk
from postroom.operations.operation import Call

LARGEST = 50_000_000
"""Octets that the files of one message may have together."""
_LONGEST = 50_000_000
"""Characters of one argument: a file in base64."""
_MUCH = 256 * 1024
_MOST_FILES = 100
_MOST_VALUES = 20_000
_FORMS = "give {filename, content_type, data_base64}, or {from_message: {folder, uid, attachment_id}}"


@dataclass(frozen=True, slots=True)
class Data:
    """A file that the caller gives; `base64` is not decoded yet."""

    filename: str
    content_type: str | None
    base64: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A file of a message in the mailbox; without `attachment_id` the message itself."""

    folder: str | None
    uid: str
    attachment_id: str | None
    filename: str | None


Given = Data | Reference


def _people(value: Any, info: ValidationInfo) -> tuple[StrictAddress, ...]:
    """A list of addresses, each as text or as {name, address}, which is how answers tell them; or one text."""
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _json(value)
    if isinstance(value, str):
        return _read(value, str(info.field_name))
    if not isinstance(value, list) or len(value) > MAX_RECIPIENTS:
        raise ValueError(f"must be a list of at most {MAX_RECIPIENTS} addresses")
    return unique(_person(one, place) for place, one in enumerate(value, 1))


def _read(text: str, argument: str) -> tuple[StrictAddress, ...]:
    try:
        return read_addresses(text, argument)
    except GatewayError as error:
        raise ValueError(error.details["reason"]) from None


def _person(one: Any, place: int) -> StrictAddress:
    try:
        if isinstance(one, str):
            return strict_address(one)
        if isinstance(one, dict) and _is_person(one):
            return of_parts(one.get("name"), one["address"])
    except ValueError as error:
        raise ValueError(f"address {place}: {error}") from None
    raise ValueError(f"address {place}: must be text, or an object of name and address")


def _is_person(one: Mapping[str, Any]) -> bool:
    named = isinstance(one.get("address"), str) and isinstance(one.get("name"), str | None)
    return named and set(one) <= {"name", "address"}


def _attachments(value: Any) -> tuple[Given, ...]:
    if isinstance(value, str):
        value = _json(value)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or len(value) > _MOST_FILES:
        raise ValueError(f"must be a list of at most {_MOST_FILES} files")
    return tuple(_given(one, place) for place, one in enumerate(value, 1))


def _given(one: Any, place: int) -> Given:
    if isinstance(one, dict):
        one = {name: value for name, value in one.items() if value is not None}
        if "from_message" in one and set(one) <= {"from_message", "filename"}:
            return _reference(one, place)
        whole = {"filename", "data_base64"} <= set(one) <= {"filename", "content_type", "data_base64"}
        if whole and all(isinstance(value, str) for value in one.values()):
            return Data(one["filename"], one.get("content_type"), one["data_base64"])
    raise ValueError(f"file {place}: {_FORMS}")


def _reference(one: Mapping[str, Any], place: int) -> Reference:
    source = one["from_message"]
    if isinstance(source, dict):
        known = {name: value for name, value in source.items() if value is not None}
        uid = known.get("uid")
        known["uid"] = str(uid) if isinstance(uid, int) and not isinstance(uid, bool) else uid
        wanted = {"uid"} <= set(known) <= {"folder", "uid", "attachment_id"}
        if wanted and all(isinstance(value, str) for value in (*known.values(), one.get("filename", ""))):
            return Reference(known.get("folder"), known["uid"], known.get("attachment_id"), one.get("filename"))
    raise ValueError(f"file {place}: {_FORMS}")


def _json(text: str) -> Any:
    """A list written as text: large only where files are in it, not by the number of its values."""
    if sum(map(text.count, (",", "[", "{"))) > _MOST_VALUES:
        raise ValueError("must be a list, not a text of very many values")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ValueError("must be a list") from None


_TEXTS = {"type": "array", "items": {"type": "string"}}
_FILES = {"type": "array", "items": {"type": "object"}, "description": _FORMS.removeprefix("give ")}
People = Annotated[tuple[StrictAddress, ...], PlainValidator(_people), WithJsonSchema(_TEXTS)]
Files = Annotated[tuple[Given, ...], PlainValidator(_attachments), WithJsonSchema(_FILES)]
Key = Annotated[str, Field(min_length=1, max_length=200)]


_AUTHOR = Annotated[str | None, Field(description="One of identities; default the mailbox's address")]
_From = create_model("_From", **{"from": (_AUTHOR, None)})  # type: ignore[call-overload]
"""A field whose name is a word of Python's own."""


class BodyAsk(_From, MailboxAsk):
    """What is said and sent along, and as whom."""

    model_config = ConfigDict(str_max_length=_LONGEST)

    body_text: str | None = None
    """The plain text."""
    body_html: str | None = None
    """The same as HTML, for readers that show it; an empty text is none."""
    attachments: Files | None = None

    @property
    def author(self) -> str | None:
        """As whom it is written."""
        author: str | None = getattr(self, "from")
        return author


class MessageAsk(BodyAsk):
    """A whole message."""

    to: People | None = None
    """Recipients, such as `Bo <bo@example.com>`; a text with commas between them, or {name, address}, will do."""
    cc: People | None = None
    """Recipients of a copy."""
    bcc: People | None = None
    """Recipients that nobody else sees."""
    reply_to: People | None = None
    """Where answers should go."""
    subject: str | None = None
    """One line."""


def recipients_of(ask: MessageAsk) -> dict[str, Any]:
    """What the audit's intent says of a message: to whom."""
    people = unique(one for some in (ask.to, ask.cc, ask.bcc) for one in some or ())
    return {"recipients": [one.address for one in people]}


async def fingerprint(tool: str, mailbox: str, ask: BodyAsk) -> str:
    """What tells one message asked for from another, whatever it was keyed as."""
    fields = {name: getattr(ask, name) for name in type(ask).model_fields if name not in ("mailbox", "idempotency_key")}
    said = [tool, mailbox, fields]
    if _length(ask) < _MUCH:
        return digest(said)
    return await asyncio.to_thread(digest, said)


def digest(said: Sequence[Any]) -> str:
    """A name for what was said, which nothing else has."""
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _length(ask: BodyAsk) -> int:
    given = sum(len(file.base64) for file in ask.attachments or () if isinstance(file, Data))
    return len(ask.body_text or "") + len(ask.body_html or "") + given


def forwarding(ask: BodyAsk) -> Purpose:
    """What somebody means to do who writes a new message: with files of other messages it forwards."""
    references = [one for one in ask.attachments or () if isinstance(one, Reference)]
    if any(one.attachment_id is None for one in references):
        return Purpose.FORWARD_RAW
    return Purpose.FORWARD if references else Purpose.SEND


def check_may_attach(call: Call, given: Sequence[Given] | None) -> None:
    """Raises `permission_denied` for files of messages that the token may not read."""
    if Scope.READ not in call.caller.scopes and any(isinstance(one, Reference) for one in given or ()):
        raise lacks(Scope.READ, " for files from a message")


async def files_of(call: Call, ask: BodyAsk) -> tuple[OutgoingFile, ...]:
    """The files themselves: decoded, or fetched from the messages that they are of. Raises a `GatewayError`."""
    files: list[OutgoingFile] = []
    left = LARGEST
    for place, one in enumerate(ask.attachments or ()):
        argument = f"attachments[{place}]"
        file = await (
            _decoded(one, argument, left) if isinstance(one, Data) else _fetched(call, ask, one, argument, left)
        )
        left -= len(file.octets)
        files.append(file)
    return tuple(files)


async def _decoded(one: Data, argument: str, left: int) -> OutgoingFile:
    if len(one.base64) * 3 // 4 > left + 3:
        raise _too_large(argument)
    octets = (
        _octets(one.base64, argument)
        if len(one.base64) < _MUCH
        else await asyncio.to_thread(_octets, one.base64, argument)
    )
    return outgoing_file(one.filename, octets, one.content_type, argument=argument)


def _octets(text: str, argument: str) -> bytes:
    """Base64 with or without line breaks and padding (RFC 4648 4); anything else in it is a mistake."""
    packed = "".join(text.split())
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise invalid(argument, "data_base64 is not base64") from None


async def _fetched(call: Call, ask: BodyAsk, one: Reference, argument: str, left: int) -> OutgoingFile:
    view = call.mailbox(ask.mailbox)
    try:
        name, content_type, size, download = await _opened(view, one)
        await call.place.take(None if size is None else LARGEST - left + size)
        pieces: list[bytes] = []
        async for piece in download.octets():
            left -= len(piece)
            if left < 0:
                raise _too_large(argument)
            pieces.append(piece)
    except GatewayError as error:
        raise GatewayError(error.code, error.message, **{**error.details, "argument": argument}) from error
    return outgoing_file(name, b"".join(pieces), content_type, argument=argument)


async def _opened(view: MailboxView, one: Reference) -> tuple[str, str | None, int | None, Download]:
    """What a file is called, its type, and its octets if that is known."""
    if one.attachment_id is None:
        shown, download = await view.source(one.folder, one.uid)
        return one.filename or f"{shown.uid}.eml", "message/rfc822", shown.size, download
    _, download = await view.attachment(one.folder, one.uid, one.attachment_id)
    part = download.part
    charset = f"; charset={part.charset}" if part.charset and part.content_type.startswith("text/") else ""
    return one.filename or part.filename or "attachment", f"{part.content_type}{charset}", part.size, download


def _too_large(argument: str) -> GatewayError:
    message = f"The files of a message may have {LARGEST:,} octets together. Send fewer, or smaller ones."
    return GatewayError(Code.TOO_LARGE, message, argument=argument, limit=LARGEST)
