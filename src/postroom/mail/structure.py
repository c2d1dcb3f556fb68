"""For cutting a message into MIME entities by octet offsets, in one pass (RFC 2046 section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from postroom.mail import header
from postroom.mail.entity import media_type, transfer_encoding
from postroom.mail.model import Entity, Field, MimeType
from postroom.mail.parameters import contradicts_itself

MAX_DEPTH = 50
"""Multiparts inside each other that are opened."""
MAX_PARTS = 1_000
"""Entities of one message that are made."""
_MAX_BOUNDARY = 1_000


def split_message(message: bytes, *, cut: bool = False) -> Entity:
    """The tree of a message's entities, with section numbers as in IMAP (RFC 9051 6.4.5).

    `cut` says that the octets are only the beginning of the message. A multipart whose boundary is missing, or
    never comes, is a leaf with the fault `mime_ambiguous`. Past `MAX_DEPTH` or `MAX_PARTS` the rest stays unsplit
    and the fault is `too_complex`. An attached message is a leaf. Line ends may be CRLF, LF or both.
    """
    return _Splitter(message, cut).split()


@dataclass(slots=True)
class _Open:
    """An entity whose end has not come yet."""

    section: str
    fields: tuple[Field, ...]
    body: int
    boundary: bytes | None
    faults: set[str]
    children: list[Entity] = field(default_factory=list)
    begun: bool = False
    """A delimiter line of its own was seen."""

    def child_section(self) -> str:
        number = len(self.children) + 1
        return f"{self.section}.{number}" if self.section else str(number)


class _Splitter:
    """Walks from delimiter line to delimiter line with a stack of open multiparts."""

    def __init__(self, message: bytes, cut: bool) -> None:
        self.message = header.with_line_feeds(message)
        self.cut = cut
        self.multiparts: list[_Open] = []
        self.leaf: _Open | None = None
        self.delimiters: dict[bytes, tuple[int, bool]] = {}
        self.made = 0
        self.next_blank = -1
        self.done: list[Entity] = []

    def split(self) -> Entity:
        start, end, body = header.bounds(self.message)
        self._open(header.parse_fields(self.message[start : min(end, body)]), body, "")
        position, find = max(body - 1, 0), self.message.find
        while self.multiparts and (position := find(b"\n--", position)) >= 0:
            end = find(b"\n", position + 3)
            line = self.message[position + 1 : end if end >= 0 else None]
            known = self.delimiters.get(line[: 2 * _MAX_BOUNDARY].rstrip(b" \t\r"))
            if known is not None:
                position = self._delimiter(position, *known)
            elif (position := end) < 0:
                break
        return self._finish()

    def _open(self, fields: tuple[Field, ...], body: int, section: str) -> None:
        """Begin an entity: on the stack when it is a multipart with a boundary, as the leaf otherwise."""
        self.made += 1
        type_ = media_type(fields)
        boundary = _boundary(type_)
        faults = {"mime_ambiguous"} if _is_ambiguous(fields, type_, boundary) else set()
        if boundary is None or len(self.multiparts) == MAX_DEPTH:
            faults |= {"too_complex"} if boundary else set()
            self.leaf = _Open(section, fields, body, None, faults)
            return
        self.leaf = None
        self.multiparts.append(_Open(section, fields, body, boundary, faults))
        self._know_delimiters()

    def _know_delimiters(self) -> None:
        self.delimiters = {}
        for level, multipart in enumerate(self.multiparts):
            line = b"--" + (multipart.boundary or b"")
            self.delimiters[line] = (level, False)
            self.delimiters[line + b"--"] = (level, True)

    def _delimiter(self, newline: int, level: int, closes: bool) -> int:
        """Act on the delimiter line behind `newline`; the offset to go on from."""
        end = self._line_end(newline + 1)
        self._close_down_to(level, newline)
        self.multiparts[level].begun = True
        if closes:
            self._close_multipart(newline)
            return end
        return self._begin_part(end)

    def _line_end(self, start: int) -> int:
        """The offset of the line's LF, or of the end of the message."""
        end = self.message.find(b"\n", start)
        return len(self.message) if end < 0 else end

    def _line(self, start: int, end: int) -> bytes:
        return self.message[start : min(end, start + 2 * _MAX_BOUNDARY)].rstrip(b" \t\r") if end > start else b""

    def _begin_part(self, newline: int) -> int:
        """Open the entity that starts behind a delimiter line; the offset to look for delimiters from."""
        if self.made >= MAX_PARTS:
            self.multiparts[0].faults.add("too_complex")
            while self.multiparts:
                self._close_multipart(newline)
            return newline
        start = newline + 1
        if start >= len(self.message):
            return newline
        end, body = self._header_end(start)
        parent = self.multiparts[-1]
        self._open(header.parse_fields(self.message[start:end]), body, parent.child_section())
        return max(body - 1, newline)

    def _header_end(self, start: int) -> tuple[int, int]:
        """Where a part's header ends and its body begins: at an empty line, or at a delimiter that comes first."""
        if empty := header.STARTS_BLANK.match(self.message, start):
            return start, empty.end()
        if self.next_blank < start:
            blank = header.BLANK_LINE.search(self.message, start)
            self.next_blank = blank.start() if blank else len(self.message)
        position = start - 1
        while (position := self.message.find(b"\n--", position, self.next_blank)) >= 0:
            end = self._line_end(position + 1)
            if self._line(position + 1, end) in self.delimiters:
                return self._before_stray(start, position + 1, position + 1)
            position = end
        blank = header.BLANK_LINE.match(self.message, self.next_blank)
        body = blank.end() if blank else len(self.message)
        return self._before_stray(start, min(self.next_blank + 1, body), body)

    def _before_stray(self, start: int, end: int, body: int) -> tuple[int, int]:
        stray = header.stray_line(self.message, start, end)
        return (end, body) if stray is None else (stray, stray)

    def _close_down_to(self, level: int, newline: int) -> None:
        """A delimiter of an outer multipart ends all that is open inside it."""
        self._close_leaf(newline)
        while len(self.multiparts) > level + 1:
            self._close_multipart(newline)

    def _close_leaf(self, newline: int, *, cut: bool = False) -> None:
        """The line end before a delimiter belongs to the delimiter (RFC 2046 5.1.1)."""
        if self.leaf is None:
            return
        self._add(_leaf(self.leaf, self.message[self.leaf.body : self._before(newline)], cut))
        self.leaf = None

    def _before(self, newline: int) -> int:
        return newline - 1 if self.message[newline - 1 : newline] == b"\r" else newline

    def _close_multipart(self, newline: int, *, cut: bool = False) -> None:
        multipart = self.multiparts.pop()
        self._know_delimiters()
        end = max(self._before(newline), multipart.body)
        if not (multipart.begun or cut) and (octets := self.message[multipart.body : end]).strip():
            multipart.faults.add("mime_ambiguous")
            self._add(_leaf(multipart, octets, cut))
            return
        self._add(
            Entity(
                section=multipart.section,
                fields=multipart.fields,
                children=tuple(multipart.children),
                length=end - multipart.body,
                faults=frozenset(multipart.faults | ({"truncated"} if cut else set())),
            )
        )

    def _add(self, entity: Entity) -> None:
        (self.multiparts[-1].children if self.multiparts else self.done).append(entity)

    def _finish(self) -> Entity:
        """The end of the message ends all that is open (RFC 2046 5.1.2); only the innermost can be cut."""
        if self.leaf is not None:
            octets = self.message[self.leaf.body :]
            self._add(_leaf(self.leaf, octets, self.cut))
            self.leaf, self.cut = None, False
        end = len(self.message)
        while self.multiparts:
            self._close_multipart(end, cut=self.cut)
            self.cut = False
        return self.done[0]


def _leaf(leaf: _Open, octets: bytes, cut: bool) -> Entity:
    return Entity(
        section=leaf.section or "1",
        fields=leaf.fields,
        octets=octets,
        length=len(octets),
        cut=cut,
        faults=frozenset(leaf.faults),
    )


def _boundary(type_: MimeType) -> bytes | None:
    """The boundary of a multipart type, or None: RFC 2046 5.1.1 ends it with no white space."""
    if type_.main != "multipart":
        return None
    return type_.parameters.get("boundary", "")[:_MAX_BOUNDARY].rstrip().encode("utf-8") or None


def _is_ambiguous(fields: tuple[Field, ...], type_: MimeType, boundary: bytes | None) -> bool:
    """True when readers may understand an entity's fields in different ways."""
    types = [field_.value for field_ in fields if field_.name.lower() == "content-type"]
    encodings = {
        transfer_encoding((field_,)) for field_ in fields if field_.name.lower() == "content-transfer-encoding"
    }
    if len(types) > 1 or len(encodings) > 1:
        return True
    return type_.main == "multipart" and (boundary is None or contradicts_itself(types[0], "boundary"))
