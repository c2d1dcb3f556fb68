"""For the leaves of a message: which are its words, which are files, and what each is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from postroom.mail.entity import content_id, disposition, media_type, transfer_encoding
from postroom.mail.filename import generated_filename, message_filename, safe_filename
from postroom.mail.header import decode_words, first_value, one_line, parse_fields, split
from postroom.mail.model import Entity, MimeType, Part
from postroom.mail.structure import split_message
from postroom.mail.transfer import decode_transfer

TEXT_TYPES = ("text/plain", "text/html")
_FILES_OF_TEXT = frozenset(
    f"text/{kind}"
    for kind in (
        *("calendar", "x-vcalendar", "vcard", "x-vcard", "directory", "csv", "tab-separated-values", "rtf", "xml"),
        *("css", "javascript", "rfc822-headers", "x-amp-html", "x-patch", "x-diff"),
    )
)
"""Kinds of text that are for programs: files, wherever they stand."""
_MESSAGE_TYPES = ("message/rfc822", "message/global")


@dataclass(frozen=True)
class Leaf:
    """A leaf and where it stands among its relatives."""

    entity: Entity
    parents: tuple[tuple[str, str], ...]
    """Type and section of each multipart around it, outermost first."""
    is_root: bool
    """First of its brothers; in multipart/related the text that the others belong to (RFC 2387 3.2)."""
    first_text: bool
    """No text stands before it in the message."""
    default: str = "text/plain"

    @cached_property
    def media_type(self) -> MimeType:
        """A multipart that could not be split is read as text (RFC 2045 5.2)."""
        type_ = media_type(self.entity.fields, self.default)
        return MimeType("text/plain", {}) if type_.main == "multipart" else type_

    @cached_property
    def disposition(self) -> MimeType:
        return disposition(self.entity.fields)

    @cached_property
    def encoding(self) -> str:
        if media_type(self.entity.fields, self.default).main == "multipart":
            return "7bit"
        return transfer_encoding(self.entity.fields)

    @cached_property
    def given_name(self) -> str | None:
        """The file name the sender gave: of the disposition, else of the type."""
        name = self.disposition.parameters.get("filename") or self.media_type.parameters.get("name")
        return safe_filename(name)

    @cached_property
    def decoded(self) -> bytes | None:
        octets = self.entity.octets
        return None if octets is None else decode_transfer(octets, self.encoding)

    @property
    def is_body(self) -> bool:
        """Text to be read as the message's own words; a file, or a relative of the text, is none."""
        if not self._is_readable() or self.disposition.value not in ("", "inline"):
            return False
        if "too_complex" in self.entity.faults or self._is_ciphertext():
            return False
        if self._parent() == "multipart/related" and not self.is_root:
            return False
        return self.given_name is None or self.first_text or self._parent() == "multipart/alternative"

    def _is_readable(self) -> bool:
        """Plain text and HTML; and, where no text stands before it, text of a kind nobody knows (RFC 2046 4.1.4)."""
        type_ = self.media_type
        if type_.value in TEXT_TYPES:
            return True
        alone = self.first_text and self.given_name is None and self._parent() != "multipart/alternative"
        return alone and type_.main == "text" and type_.value not in _FILES_OF_TEXT

    @property
    def is_calendar(self) -> bool:
        """An invitation (RFC 5545), wherever it stands and whatever it is called."""
        if self.media_type.value in ("text/calendar", "text/x-vcalendar", "application/ics"):
            return True
        unnamed = self.media_type.value == "application/octet-stream"
        return unnamed and (self.given_name or "").lower().endswith(".ics")

    @property
    def alternative(self) -> str | None:
        """Section of the innermost multipart/alternative around it: its leaves say the same."""
        return next((section for type_, section in reversed(self.parents) if type_ == "multipart/alternative"), None)

    @property
    def is_related(self) -> bool:
        return any(type_ == "multipart/related" for type_, _ in self.parents)

    def _parent(self) -> str:
        return self.parents[-1][0] if self.parents else ""

    def _is_ciphertext(self) -> bool:
        return any(type_ == "multipart/encrypted" for type_, _ in self.parents)


def leaves(root: Entity) -> Iterator[Leaf]:
    """The leaves of a tree in order, without recursion; a multipart without parts has none."""
    stack = [Leaf(root, (), True, True)]
    text_seen = False
    while stack:
        leaf = stack.pop()
        entity = leaf.entity
        if entity.children:
            stack.extend(reversed(_children(leaf)))
        elif entity.octets is not None or media_type(entity.fields, leaf.default).main != "multipart":
            yield Leaf(entity, leaf.parents, leaf.is_root, not text_seen, leaf.default)
            text_seen = text_seen or leaf.media_type.main == "text"


def _children(leaf: Leaf) -> list[Leaf]:
    type_ = media_type(leaf.entity.fields, leaf.default).value
    parents = (*leaf.parents, (type_, leaf.entity.section))
    default = "message/rfc822" if type_ == "multipart/digest" else "text/plain"
    root = _root(leaf.entity.children) if type_ == "multipart/related" else 0
    return [Leaf(child, parents, index == root, False, default) for index, child in enumerate(leaf.entity.children)]


def _root(related: tuple[Entity, ...]) -> int:
    return next((i for i, entity in enumerate(related) if media_type(entity.fields).main in ("text", "multipart")), 0)


def describe(root: Entity) -> tuple[Part, ...]:
    """The leaves of a message in order, each as body or attachment, with a name that is safe and never missing
    for an attachment. An image that the HTML shows itself, or that stands inline with an id, is `inline`.
    """
    return described(tuple(leaves(root)))


def described(found: tuple[Leaf, ...]) -> tuple[Part, ...]:
    """`describe` for leaves at hand, whose decoded octets are then made once."""
    shown = _Shown(tuple(leaf for leaf in found if leaf.is_body and leaf.media_type.value == "text/html"))
    return tuple(_part(leaf, number, shown) for number, leaf in enumerate(found, 1))


def wanted(root: Entity) -> tuple[str, ...]:
    """Sections whose octets are needed for the text of the message, and for the first invitation in it."""
    found = list(leaves(root))
    invitation = [leaf for leaf in found if leaf.is_calendar and not leaf.is_body][:1]
    return tuple(leaf.entity.section for leaf in found if leaf.is_body or leaf in invitation)


def leaf_octets(message: bytes, section: str, *, cut: bool) -> bytes | None:
    """The decoded octets of one leaf of a message; None if there is no such leaf, or it is `cut` off."""
    for leaf in leaves(split_message(message, cut=cut)):
        if leaf.entity.section == section:
            return None if leaf.entity.cut else leaf.decoded
    return None


@dataclass(frozen=True)
class _Shown:
    """The HTML bodies, asked which parts they show."""

    html: tuple[Leaf, ...]

    def refers_to(self, cid: str) -> bool | None:
        """None when the HTML was not fetched whole."""
        bodies = [leaf.decoded for leaf in self.html]
        references = (f"cid:{cid}".lower().encode("utf-8"), f"cid:{quote(cid)}".lower().encode("ascii"))
        if any(body is not None and any(ref in body.lower() for ref in references) for body in bodies):
            return True
        return None if None in bodies or any(leaf.entity.cut for leaf in self.html) else False


def _part(leaf: Leaf, number: int, shown: _Shown) -> Part:
    parameters = leaf.media_type.parameters
    plain = leaf.media_type.value == "text/plain"
    decoded = None if leaf.entity.cut else leaf.decoded
    return Part(
        section=leaf.entity.section,
        content_type=leaf.media_type.value,
        charset=parameters.get("charset", "").lower() or None,
        encoding=leaf.encoding,
        filename=leaf.given_name or (None if leaf.is_body else _generated_name(leaf, number)),
        inline=_is_inline(leaf, shown),
        content_id=content_id(leaf.entity.fields),
        size=leaf.entity.size if decoded is None else len(decoded),
        is_body=leaf.is_body,
        flowed=plain and parameters.get("format", "").lower() == "flowed",
        delsp=plain and parameters.get("delsp", "").lower() == "yes",
    )


def _generated_name(leaf: Leaf, number: int) -> str:
    type_ = leaf.media_type.value
    if type_ not in _MESSAGE_TYPES or leaf.decoded is None:
        return generated_filename(type_, number)
    subject = first_value(parse_fields(split(leaf.decoded)[0]), "subject")
    return message_filename(None if subject is None else one_line(decode_words(subject)))


def _is_inline(leaf: Leaf, shown: _Shown) -> bool:
    """Shown within the text: it stands inline with an id, or the HTML refers to it."""
    cid = content_id(leaf.entity.fields)
    if cid is None or leaf.is_body:
        return False
    if leaf.disposition.value == "inline":
        return True
    if leaf.disposition.value and not leaf.is_related:
        return False
    referred = shown.refers_to(cid)
    return leaf.is_related and not leaf.disposition.value if referred is None else referred
