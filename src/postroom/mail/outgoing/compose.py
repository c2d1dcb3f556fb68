"""From a message that is meant to its octets (RFC 5322, RFC 2045): the same message always gives the same octets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from uuid import UUID

from postroom.base.errors import invalid
from postroom.mail.lines import one_line
from postroom.mail.outgoing.body import Encoded, encode_octets, encode_text, stands_for_itself
from postroom.mail.outgoing.fields import address_field, date_field, fold, parameters_field, text_field
from postroom.mail.outgoing.marks import are_marks
from postroom.mail.outgoing.model import MESSAGE_ID, Outgoing, OutgoingFile, StrictAddress

MAX_SUBJECT = 2_000
"""Characters."""
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
"""What no charset can write: NUL (RFC 5322 4) and half characters."""
_AUTOMATIC = ("auto-generated", "auto-replied")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A MIME entity that is written: its own fields, and its body."""

    fields: tuple[str, ...]
    body: bytes


def new_message_id(sender: StrictAddress, unique: UUID) -> str:
    """`<unique@domain>` with the sender's domain: it tells nothing of the host (RFC 5322 3.6.4)."""
    return f"<{unique.hex}@{sender.domain}>"


def checked(outgoing: Outgoing) -> Outgoing:
    """The message if it can be written as it is meant, its subject trimmed and without byte order marks.

    Raises `validation_error` naming the argument (`subject`, `body_text`, `body_html`) for controls, line breaks in
    one-line values, NUL, or lone surrogates; ValueError for ids and marks, which no caller gives.
    """
    subject = outgoing.subject.replace("\ufeff", "").strip()  # decoders drop them where an encoded word begins
    if len(subject) > MAX_SUBJECT:
        raise invalid("subject", f"has at most {MAX_SUBJECT} characters")
    if one_line(subject) != subject:
        raise invalid("subject", "must be one line without control characters")
    for argument, text in (("body_text", outgoing.text), ("body_html", outgoing.html)):
        if text is not None and _UNWRITABLE.search(text):
            raise invalid(argument, "must not hold NUL characters or half characters (lone surrogates)")
    ids = [one for one in (outgoing.message_id, outgoing.in_reply_to, *outgoing.references) if one]
    marks = outgoing.auto_submitted in (None, *_AUTOMATIC) and are_marks(outgoing.marks)
    if not all(map(MESSAGE_ID.fullmatch, ids)) or not marks:
        raise ValueError("a message id or a mark cannot be written")
    return outgoing if subject == outgoing.subject else replace(outgoing, subject=subject)


def compose(outgoing: Outgoing, *, draft: bool = False) -> bytes:
    """The octets of a `checked` message: CRLF line ends, lines of 998 octets at most, ASCII but for UTF-8 addresses.

    Bcc stands in a draft alone. Text, html and files become the smallest tree that holds them: alternative within
    related (files with a content id) within mixed.
    """
    root = _tree(outgoing)
    block = "\r\n".join((*_header(outgoing, draft), "MIME-Version: 1.0", *root.fields))
    return block.encode() + b"\r\n\r\n" + root.body


def header_names(outgoing: Outgoing, *, draft: bool = False) -> tuple[str, ...]:
    """The names of the fields that `compose` writes, in order: the plan that the octets are checked against."""
    content = ("MIME-Version", "Content-Type") + (("Content-Transfer-Encoding",) if _is_single(outgoing) else ())
    return (*(field.partition(":")[0] for field in _header(outgoing, draft)), *content)


def _header(outgoing: Outgoing, draft: bool) -> Iterator[str]:
    yield address_field("From", (outgoing.from_,))
    if outgoing.reply_to:
        yield address_field("Reply-To", outgoing.reply_to)
    if outgoing.to:
        yield address_field("To", outgoing.to)
    elif not outgoing.cc and not draft:
        yield "To: undisclosed-recipients:;"
    if outgoing.cc:
        yield address_field("Cc", outgoing.cc)
    if outgoing.bcc and draft:
        yield address_field("Bcc", outgoing.bcc)
    yield text_field("Subject", outgoing.subject)
    if outgoing.date is not None:
        yield date_field(outgoing.date)
    ids = (outgoing.message_id,), (outgoing.in_reply_to or "",), outgoing.references
    for name, tokens in zip(("Message-ID", "In-Reply-To", "References"), ids, strict=True):
        if any(tokens):
            yield fold(name, tokens)
    marks = ("Auto-Submitted", outgoing.auto_submitted or ""), *outgoing.marks
    yield from (fold(name, (value,)) for name, value in marks if value)


def _is_single(outgoing: Outgoing) -> bool:
    return not outgoing.files and (outgoing.text is None or outgoing.html is None)


def _tree(outgoing: Outgoing) -> _Piece:
    related = [one for one in outgoing.files if one.content_id and outgoing.html is not None]
    others = [one for one in outgoing.files if one not in related]
    html = None if outgoing.html is None else _text("html", outgoing.html)
    if html is not None and related:
        html = _multipart("related", [html, *(_file(one, "inline") for one in related)], outgoing)
    text = None if outgoing.text is None and html is not None else _text("plain", outgoing.text or "")
    told = [one for one in (text, html) if one is not None]
    body = told[0] if len(told) == 1 else _multipart("alternative", told, outgoing)
    return _multipart("mixed", [body, *(_file(one, "attachment") for one in others)], outgoing) if others else body


def _text(kind: str, text: str) -> _Piece:
    encoded = encode_text(text)
    charset = "us-ascii" if text.isascii() else "utf-8"
    return _Piece((f"Content-Type: text/{kind}; charset={charset}", _encoding(encoded)), encoded.octets)


def _encoding(encoded: Encoded) -> str:
    return f"Content-Transfer-Encoding: {encoded.encoding}"


def _file(one: OutgoingFile, disposition: str) -> _Piece:
    """A part of its own; a message that cannot stand for itself is a file like others (RFC 2046 5.2.1)."""
    type_, encoded = one.content_type, encode_octets(one.octets)
    if type_.startswith("message/"):
        if stands_for_itself(one.octets):
            encoded = Encoded("7bit", one.octets)
        else:
            type_ = "application/octet-stream"
    fields = [
        f"Content-Type: {type_}",
        _encoding(encoded),
        parameters_field("Content-Disposition", disposition, [("filename", one.filename)]),
    ]
    if one.content_id:
        fields.append(fold("Content-ID", (f"<{one.content_id}>",)))
    return _Piece(tuple(fields), encoded.octets)


def _multipart(kind: str, pieces: Sequence[_Piece], outgoing: Outgoing) -> _Piece:
    boundary = _boundary(kind, pieces, outgoing.message_id)
    delimiter = f"--{boundary}".encode()
    chunks: list[bytes] = []
    for piece in pieces:
        chunks += [delimiter, b"\r\n", "\r\n".join(piece.fields).encode(), b"\r\n\r\n", piece.body, b"\r\n"]
    chunks += [delimiter, b"--\r\n"]
    type_ = parameters_field("Content-Type", f"multipart/{kind}", [("boundary", boundary)])
    return _Piece((type_,), b"".join(chunks))


def _boundary(kind: str, pieces: Sequence[_Piece], message_id: str) -> str:
    """One that stands in no piece: base64 and quoted-printable never hold `=_` (RFC 2045 6.7), the rest is searched."""
    for attempt in count():
        digest = hashlib.sha256(f"{kind} {attempt} {message_id}".encode()).hexdigest()
        boundary = f"=_{digest[:24]}"
        if not any(boundary.encode() in piece.body for piece in pieces):
            return boundary
    raise AssertionError("counting does not end")
