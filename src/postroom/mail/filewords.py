"""What files say, in every form that they may be read in: for whoever looks for what must not leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from postroom.mail.charset import decode
from postroom.mail.header import decode_words
from postroom.mail.model import MimeType
from postroom.mail.outgoing.model import OutgoingFile
from postroom.mail.parameters import parse_mime_value
from postroom.mail.parse import assemble, leaves, split_message
from postroom.mail.parts import Leaf
from postroom.mail.sniff import sniff

MOST = 1_000_000
"""Octets of text in the files of one message that are looked through."""
_DEEPEST = 8
"""Messages in messages that are opened."""
_LARGE = 1_000
"""Octets of a leaf that is looked at by itself alone."""
_MESSAGES = ("message/rfc822", "message/global")
_TEXTS = ("text/", *_MESSAGES, "application/json", "application/xml", "image/svg+xml", "application/x-pem-file")
_AS = {"text/html": "text/html", "text/calendar": "text/calendar"}
"""How a file is read that is no plain text."""
_PAGES = ("text/html", "application/xhtml+xml", "application/xml", "image/svg+xml")


@dataclass(slots=True)
class FileWords:
    """What the files of a message say."""

    texts: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    """HTML, as it came."""
    unread: bool = False
    """There is more, or what there is cannot be had."""
    left: int = MOST

    def add(self, kind: MimeType, octets: bytes, depth: int = 0) -> None:
        """A file, by its type and by what its octets look like; of one that holds no text nothing is noted."""
        declared, sniffed = kind.value, sniff(octets)
        if not (declared.startswith(_TEXTS) or sniffed.startswith(_TEXTS)):
            return
        if declared in _MESSAGES or sniffed in _MESSAGES:
            self._add_message(octets, depth)
        if declared not in _MESSAGES:
            self._add_text(kind, self._taken(octets), is_page=bool({declared, sniffed}.intersection(_PAGES)))

    def _add_message(self, octets: bytes, depth: int) -> None:
        if depth == _DEEPEST:
            self.unread = True
            return
        root = split_message(octets)
        found = tuple(leaves(root))
        around = self._taken(_around(octets, found))
        self.texts += [decode(around, None), *(decode_words(one.value) for one in root.fields)]
        for leaf in found:
            self.unread = self.unread or "too_complex" in root.faults | leaf.entity.faults
            self.texts.append(leaf.given_name or "")
            if leaf.decoded is None:
                self.unread = True
            else:
                self.add(leaf.media_type, leaf.decoded, depth + 1)

    def _add_text(self, kind: MimeType, octets: bytes, *, is_page: bool) -> None:
        """In the charset that it is said to have, and in the one that its octets would be read in without."""
        charset = kind.parameters.get("charset")
        body = _body("text/html" if is_page else "text/plain", charset, octets)
        said = list(dict.fromkeys((body, decode(octets, None))))
        (self.pages if is_page else self.texts).extend(said)
        self.texts += [_unfolded(one) for one in said if "BEGIN:V" in one]

    def _taken(self, octets: bytes) -> bytes:
        """As much as may still be looked through."""
        taken = octets[: self.left]
        self.left -= len(taken)
        self.unread = self.unread or len(taken) < len(octets)
        return taken


def words_in(files: Iterable[OutgoingFile]) -> FileWords:
    """What all of them say. Takes time with their octets."""
    found = FileWords()
    for one in files:
        found.add(parse_mime_value(one.content_type.encode()), one.octets)
    return found


def as_message(content_type: str, charset: str | None, octets: bytes) -> bytes:
    """A file as the only body of a message, for whoever reads messages."""
    kind = _AS.get(content_type, "text/plain")
    named = f'; charset="{charset}"' if charset and _is_plain(charset) else ""
    return f"Content-Type: {kind}{named}\r\nContent-Transfer-Encoding: binary\r\n\r\n".encode() + octets


def _is_plain(charset: str) -> bool:
    return charset.isascii() and charset.isprintable() and not set(charset) & set('"\\;')


def _body(content_type: str, charset: str | None, octets: bytes) -> str:
    """All text of a file, as it is read, with no rule over it; of a page the HTML."""
    content = assemble(split_message(as_message(content_type, charset, octets)))
    return "\n".join(body.text for body in content.bodies)


def _around(message: bytes, found: Iterable[Leaf]) -> bytes:
    """A message without its larger leaves: heads, and what stands before, between and behind the parts."""
    pieces, position = list[bytes](), 0
    for leaf in found:
        octets = leaf.entity.octets or b""
        start = message.find(octets, position) if len(octets) >= _LARGE else -1
        if start >= 0:
            pieces.append(message[position:start])
            position = start + len(octets)
    return b"\n".join([*pieces, message[position:]])


def _unfolded(text: str) -> str:
    """A calendar's or a card's lines as they are meant (RFC 5545 3.1 and 3.3.11)."""
    text = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "")
    return text.replace("\\n", "\n").replace("\\,", ",").replace("\\;", ";")
