"""What was fetched, in stages, and the stamps that policy alone may put on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Address:
    """One mailbox of an address field (RFC 5322 3.4): display name decoded, or None, and `local@domain`."""

    name: str | None
    address: str


@dataclass(frozen=True, slots=True)
class Field:
    """One header field: its name as written, and its raw value, unfolded, without the final line end."""

    name: str
    value: bytes


@dataclass(frozen=True, slots=True)
class MimeType:
    """A Content-Type or Content-Disposition value: lower-case, with RFC 2231 parameters decoded."""

    value: str
    parameters: Mapping[str, str]

    @property
    def main(self) -> str:
        return self.value.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Head:
    """A header block in our own parse, the one that lists, reads and policy all decide on."""

    fields: tuple[Field, ...]
    subject: str | None
    from_: tuple[Address, ...]
    to: tuple[Address, ...]
    cc: tuple[Address, ...]
    reply_to: tuple[Address, ...]
    date: datetime | None
    """Aware, in UTC; None when the field is missing or cannot be understood."""
    message_id: str | None
    """With its brackets, such as `<a@example.org>`."""
    in_reply_to: str | None
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entity:
    """A MIME entity (RFC 2045 2.4): its own header fields, and either children or a body.

    Made from a whole message by `mail.structure`, or section by section from a server's BODYSTRUCTURE; what is
    decided afterwards does not know which.
    """

    section: str
    """IMAP section number (RFC 9051 6.4.5): "" is a multipart message itself, "1" the body of a simple one."""
    fields: tuple[Field, ...]
    children: tuple[Entity, ...] = ()
    octets: bytes | None = None
    """The body before transfer decoding; None when it was not fetched."""
    length: int | None = None
    """Octets of the body before transfer decoding, also when it was not fetched."""
    cut: bool = False
    """`octets` is only the beginning of the body."""
    faults: frozenset[str] = frozenset()
    size: int | None = None
    """Octets after transfer decoding, where that is known without having them all."""


@dataclass(frozen=True, slots=True)
class Part:
    """A leaf of the MIME tree (RFC 2045): how it is described, and where its octets lie."""

    section: str
    """The IMAP section number (RFC 9051 6.4.5), such as "1" or "2.1"; ordinal sources append "/n"."""
    content_type: str
    charset: str | None
    encoding: str
    """Content-Transfer-Encoding, lower case: 7bit, 8bit, binary, base64, quoted-printable, x-uuencode."""
    filename: str | None
    """Safe to show and to save: one line, no path, no controls."""
    inline: bool
    content_id: str | None
    """Without brackets."""
    size: int | None
    """Decoded octets; None where they were not fetched and cannot be told."""
    is_body: bool
    """True for text that is read as the message's own words, False for an attachment."""
    flowed: bool = False
    delsp: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """A message's body in stages: its leaves, and the text of those that are body."""

    parts: tuple[Part, ...]
    text: str | None
    """The plain text: text/plain bodies in order, or the html put into words; None without either."""
    html: str | None
    faults: frozenset[str] = frozenset()
    """Of the closed list `mime_ambiguous`, `too_complex`, `truncated`, `encrypted`, `signed`."""

    @property
    def attachments(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if not part.is_body)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A message as the server gave it, unfiltered: no answer model accepts it."""

    folder: str
    uid: int
    uid_validity: int
    """A UID is only good with its folder's UIDVALIDITY (RFC 9051 2.3.1.1)."""
    head: Head
    received_at: datetime | None
    size: int | None
    flags: frozenset[str]
    has_attachments: bool | None
    labels: tuple[str, ...] = ()
    """Keywords (RFC 9051 2.3.2): flags without a backslash."""
    content: Content | None = None
    """Only when a body was asked for."""
    incomplete: str | None = None
    """Why this message could not be read whole, or None."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Content this caller may see: made by `policy.visibility.show` and nowhere else."""

    uid: str
    """In the form this caller uses."""
    folder: str
    head: Head
    received_at: datetime | None
    size: int | None
    flags: frozenset[str]
    has_attachments: bool | None
    labels: tuple[str, ...]
    content: Content | None
    incomplete: str | None
