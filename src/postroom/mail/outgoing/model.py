"""What is to be sent, as values that could not exist unchecked; and the stamp that policy alone puts on its octets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from postroom.mail.address import format_address
from postroom.mail.lines import one_line
from postroom.mail.model import Address

LOCAL = re.compile(r"[A-Za-z0-9!#$&'*+/=?^_{|}~-]+(?:\.[A-Za-z0-9!#$&'*+/=?^_{|}~-]+)*")
"""RFC 5322 3.2.3 dot-atom, without `%` and backtick, which relays and shells have read as more."""
UTF8_LOCAL = re.compile(
    r"[A-Za-z0-9!#$&'*+/=?^_{|}~\x80-\U0010ffff-]+(?:\.[A-Za-z0-9!#$&'*+/=?^_{|}~\x80-\U0010ffff-]+)*"
)
"""RFC 6531 3.3; characters beyond ASCII must be printable too."""
MAX_LOCAL = 64
MAX_ADDRESS = 254
"""Octets: RFC 5321 4.5.3.1, with erratum 1690 to RFC 3696."""
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")
PLAIN_NAME = re.compile(r'[^()<>\[\]:;@\\,"]+')
"""A display name that may stand without quotes."""
MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,250}>")
"""Visible ASCII in brackets: what may be written as an id; what stands in mail may be more (RFC 5322 3.6.4)."""


@dataclass(frozen=True, slots=True)
class StrictAddress:
    """One sender or recipient in the strict grammar; made by `outgoing.address.read_address`.

    The one value that header, envelope and policy use. ValueError for anything that is not in the grammar.
    """

    name: str | None
    """Display name as Unicode, one line; None for none."""
    local: str
    """As it was written: only its own server knows whether case matters."""
    domain: str
    """A-labels in lower case."""

    def __post_init__(self) -> None:
        whole = UTF8_LOCAL.fullmatch(self.local) and self.local.isprintable() and _DOMAIN.fullmatch(self.domain)
        if not whole or (self.name is not None and one_line(self.name) != self.name):
            raise ValueError("not an address in the strict grammar")

    @property
    def address(self) -> str:
        """`local@domain`, as it stands in RCPT."""
        return f"{self.local}@{self.domain}"

    @property
    def key(self) -> str:
        """What two spellings of one address share: the local part compares without case, in ASCII letters alone."""
        return f"{''.join(_FOLDED.get(letter, letter) for letter in self.local)}@{self.domain}"

    @property
    def needs_utf8(self) -> bool:
        """It can be written and delivered with SMTPUTF8 (RFC 6531) only."""
        return not self.local.isascii()

    def __str__(self) -> str:
        """`Name <local@domain>` as Unicode, the name in quotes only where the grammar wants them."""
        if self.name is not None and PLAIN_NAME.fullmatch(self.name):
            return f"{self.name} <{self.address}>"
        return format_address(Address(self.name, self.address))


_FOLDED = {chr(upper): chr(upper + 32) for upper in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file that goes with a message: decoded octets, which arrive exactly. Made by `outgoing.file.outgoing_file`."""

    filename: str
    """Safe to show and to save, as `safe_filename` leaves it."""
    content_type: str
    """`type/subtype`, lower case, perhaps with one `; charset=` parameter; never multipart."""
    octets: bytes
    content_id: str | None = None
    """Without brackets; with it the file belongs to the html, which may show it (RFC 2392)."""


@dataclass(frozen=True)
class Outgoing:
    """A message as it is meant: the plan that its octets are checked against.

    Texts have any line ends and no NUL; one-line values hold no control characters (`outgoing.checked` sees to it).
    """

    from_: StrictAddress
    to: tuple[StrictAddress, ...] = ()
    cc: tuple[StrictAddress, ...] = ()
    bcc: tuple[StrictAddress, ...] = ()
    reply_to: tuple[StrictAddress, ...] = ()
    subject: str = ""
    text: str | None = None
    html: str | None = None
    files: tuple[OutgoingFile, ...] = ()
    message_id: str = ""
    """`<unique@domain>`, of `new_message_id`."""
    date: datetime | None = None
    """Aware; None for a message whose time is not known, which has no Date field."""
    in_reply_to: str | None = None
    references: tuple[str, ...] = ()
    auto_submitted: str | None = None
    """`auto-generated` or `auto-replied` (RFC 3834 5); None for what a person asked for."""
    marks: tuple[tuple[str, str], ...] = ()
    """Of `outgoing.marks`: what a draft was marked with in another program, such as `Importance: high`."""

    @cached_property
    def recipients(self) -> tuple[StrictAddress, ...]:
        """The envelope: To, Cc and Bcc in this order, each address once."""
        once: dict[str, StrictAddress] = {}
        for one in (*self.to, *self.cc, *self.bcc):
            once.setdefault(one.key, one)
        return tuple(once.values())

    @property
    def needs_utf8(self) -> bool:
        """Some address needs SMTPUTF8; then its header fields are UTF-8, and else all octets are ASCII."""
        people = (self.from_, *self.to, *self.cc, *self.bcc, *self.reply_to)
        return any(one.needs_utf8 for one in people)


@dataclass(frozen=True, slots=True)
class Cleared:
    """Octets that may be sent, and to whom: made by `policy.outbound.clearing.clear` and nowhere else."""

    sender: str
    """`local@domain` for MAIL FROM."""
    recipients: tuple[str, ...]
    """`local@domain` for RCPT TO, each once, in order."""
    octets: bytes
    """CRLF line ends throughout, lines of 998 octets at most, no NUL, a line end last."""
    message_id: str
    needs_utf8: bool
