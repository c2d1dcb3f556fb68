"""What was fetched, in stages, and the stamps that policy alone may put on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Address(NamedTuple):
    """One mailbox of an address field (RFC 5322 3.4): display name decoded, or None, and `local@domain`."""

    name: str | None
    address: str


class Field(NamedTuple):
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
    unseen: frozenset[str] = frozenset()
    """Signals of characters that nobody sees: they stood in the subject or in a name, and are not there any more."""

    @property
    def threading(self) -> Threading:
        return Threading(self.message_id, self.in_reply_to, self.references)


class Threading(NamedTuple):
    """The ids by which a message hangs together with others (RFC 5322 3.6.4): for our own use, whatever is shown."""

    message_id: str | None
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
class Invitation:
    """A calendar invitation (RFC 5545, RFC 5546) as fields; times in ISO 8601, in UTC where the zone is known."""

    method: str | None
    uid: str | None
    summary: str | None
    start: str | None
    end: str | None
    organizer: str | None
    attendees: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """One leaf that is the message's own words: its text decoded and unwrapped, LF line ends."""

    text: str
    is_html: bool
    alternative: str | None = None
    """Section of the innermost multipart/alternative around it; its leaves say the same."""
    in_text: bool = True
    """It stands in the plain text of the message; a page only where no plain text says the same."""


@dataclass(frozen=True, slots=True)
class Content:
    """A message's body in stages: its leaves, and the text of those that are body."""

    parts: tuple[Part, ...]
    text: str | None
    """The plain text: text/plain bodies in order, or the html put into words; None without either."""
    html: str | None
    faults: frozenset[str] = frozenset()
    """Of the closed list `mime_ambiguous`, `too_complex`, `truncated`, `encrypted`, `signed`."""
    bodies: tuple[Body, ...] = ()
    """What `text` and `html` were put together from, in the message's order."""
    invitation: Invitation | None = None
    """Of the first calendar object; None without one."""
    by_section: bool = False
    """The parts lie where the server says; else where our own split of the message found them."""

    @property
    def attachments(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if not part.is_body)


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the text: its label, its real target after known wrappers are undone, and the target's host."""

    text: str
    href: str
    host: str
    """Lower case, as an A-label (RFC 5890 2.3.2.1); the domain of a mailto; "" where there is none."""
    mismatch: bool
    """The label looks like an address or a host, and of another place than the target."""


@dataclass(frozen=True, slots=True)
class Authentication:
    """What the mailbox's own servers found (RFC 8601): `pass`, `fail`, `none`, ... or `unknown`."""

    spf: str = "unknown"
    dkim: str = "unknown"
    dmarc: str = "unknown"


@dataclass(frozen=True, slots=True)
class Reading:
    """A message's content as it may be read: made by `policy.content` and nowhere else."""

    parts: tuple[Part, ...]
    text: str | None
    """The decoded plain text, without invisible and control characters."""
    html: str | None
    """The decoded html, without invisible and control characters; as hostile as it came."""
    reader: str
    """Markdown of the best body without quoted history; what a human could not see is not in it."""
    reader_quoted: str
    """`reader` with the quoted history; the same text where there is none."""
    safe_html: str | None
    links: tuple[Link, ...]
    invitation: Invitation | None
    authentication: Authentication
    headers: tuple[tuple[str, str], ...]
    """Every header field in order: its name, and its value decoded in one line."""
    signals: tuple[str, ...]
    """Of the closed list, in its order."""
    truncated: bool
    """The rest of the text is not available here."""
    by_section: bool = False
    """As in the content."""

    @property
    def attachments(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if not part.is_body)


@dataclass(frozen=True, slots=True)
class Released:
    """A part whose octets may leave: made by `policy.attachments.release` and nowhere else."""

    part: Part


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
    reading: Reading | None
    """Only when a body was asked for."""
    incomplete: str | None
    written: Head
    """The head as it came, also where less of it is shown: for decisions alone, and never told."""
    withheld: bool = False
    """Its content is for a person to see first."""

    @property
    def threading(self) -> Threading:
        """By which it hangs together with others, also where its head is shown without them: never told."""
        return self.written.threading


class Act(StrEnum):
    """What may be done to a message; leave for one is no leave for another."""

    FLAG = "flag"
    LABEL = "label"
    MOVE = "move"
    ERASE = "erase"


@dataclass(frozen=True, slots=True)
class Named:
    """A message as a caller names it, not looked at: enough for a policy that lets every message be acted on."""

    folder: str
    uid: int
    uid_validity: int


@dataclass(frozen=True, slots=True)
class Admitted:
    """A message this caller may act on in this way: made by `policy.visibility.admit` and nowhere else."""

    folder: str
    uid: int
    uid_validity: int
    act: Act
