"""From a draft's octets, ours or another program's, back to the message that is meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from postroom.base.errors import Code, GatewayError, invalid
from postroom.mail.address import parse_addresses, unreadable_in
from postroom.mail.content import assemble
from postroom.mail.head import parse_head
from postroom.mail.header import decode_words, first_value, one_line, split
from postroom.mail.model import Content, Entity, Head
from postroom.mail.outgoing.address import of_parts, unique
from postroom.mail.outgoing.file import outgoing_file
from postroom.mail.outgoing.marks import read_marks
from postroom.mail.outgoing.model import MESSAGE_ID, Outgoing, OutgoingFile, StrictAddress
from postroom.mail.outgoing.replying import valid_ids
from postroom.mail.parts import TEXT_TYPES, Leaf, described, leaves
from postroom.mail.structure import split_message
from postroom.mail.transfer import is_known_encoding

_PROTECTED = ("multipart/signed", "multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_UNCERTAIN = {
    "too_complex": "it has more parts, or deeper ones, than are read here",
    "mime_ambiguous": "its parts can be read in more than one way",
}


def read_draft(octets: bytes, sender: StrictAddress, *, replaced: Collection[str] = ()) -> Outgoing:
    """The message of a draft, its files by their decoded octets; `sender` stands in where it has no From.

    `replaced` names the arguments that the caller gives anew (`from`, `to`, `cc`, `bcc`, `reply_to`): what stands there
    is not read. Raises `validation_error` naming the argument whose addresses in the draft mail cannot be sent to, and
    `conflict` for a draft that would lose something if it were written again.
    """
    head = parse_head(split(octets)[0])
    root = split_message(octets)
    content = assemble(root)
    for lost in _losses(root, content):
        raise _unchangeable(lost)
    people = {name: () if name in replaced else _people(head, name) for name in ("to", "cc", "bcc", "reply_to")}
    texts = [body.text for body in content.bodies if not body.is_html]
    return Outgoing(
        from_=sender if "from" in replaced else _sender(head) or sender,
        to=people["to"],
        cc=people["cc"],
        bcc=people["bcc"],
        reply_to=people["reply_to"],
        subject=one_line(decode_words(first_value(head.fields, "subject") or b"")),
        text="\n".join(texts) if texts else None,
        html=content.html,
        files=tuple(_files(root)),
        message_id=head.message_id if head.message_id and MESSAGE_ID.fullmatch(head.message_id) else "",
        date=head.date,
        in_reply_to=next(iter(valid_ids((head.in_reply_to or "",))), None),
        references=valid_ids(head.references),
        marks=read_marks(head),
    )


def _losses(root: Entity, content: Content) -> Iterator[str]:
    """What of this draft cannot be written as it is, in words; nothing is dropped or mangled in silence."""
    yield from (why for fault, why in _UNCERTAIN.items() if fault in content.faults)
    found = tuple(leaves(root))
    if any(_is_protected(leaf) for leaf in found):
        yield "it is signed or encrypted, and would not be any more"
    if any(_is_lost(leaf) for leaf in found):
        yield "it has an invitation or another form of its text, which would become a mere attachment"
    if not all(is_known_encoding(leaf.encoding) for leaf in found):
        yield "a part of it has a transfer encoding that nobody knows"
    if any("\ufffd" in body.text for body in content.bodies) and not any(map(_says_so, found)):
        yield "its text holds octets that are none of its charset"
    told = [body for body in content.bodies if body.text.strip()]
    places = {body.alternative for body in told}
    if len({body.is_html for body in told}) == 2 and (len(places) > 1 or None in places):
        yield "it has plain text beside its html that does not say the same"


def _is_protected(leaf: Leaf) -> bool:
    """It stands within what is signed or encrypted, or is all of the draft and that itself."""
    around = [type_ for type_, _ in leaf.parents] or [leaf.media_type.value]
    return any(type_ in _PROTECTED for type_ in around)


def _is_lost(leaf: Leaf) -> bool:
    """A part that is more than a file by where it stands, or by a parameter that no file has."""
    stands_for_text = leaf.parents[-1:] and leaf.parents[-1][0] == "multipart/alternative"
    return not leaf.is_body and bool(stands_for_text or (leaf.is_calendar and "method" in leaf.media_type.parameters))


def _says_so(leaf: Leaf) -> bool:
    """The sign for what could not be read was written there by somebody."""
    return leaf.media_type.value in TEXT_TYPES and "\ufffd".encode() in (leaf.decoded or b"")


def _unchangeable(why: str) -> GatewayError:
    message = f"This draft was written by another mail program and cannot be changed or sent here: {why}. "
    return GatewayError(Code.CONFLICT, message + "Use that program, or write a new draft.", argument="uid")


def _sender(head: Head) -> StrictAddress | None:
    """None where there is none; whoever stands there is not replaced without a word."""
    value = _only(head, "from")
    if not value.strip():
        return None
    try:
        (one,) = parse_addresses(value)
        return of_parts(one.name, one.address)
    except ValueError:
        raise invalid(
            "from", "the draft has not one usable sender there; give this argument anew with update_draft"
        ) from None


def _people(head: Head, argument: str) -> tuple[StrictAddress, ...]:
    value = _only(head, argument)
    if unreadable_in(value, words=True):
        raise _unusable(argument)
    try:
        return unique(of_parts(one.name, one.address) for one in parse_addresses(value))
    except ValueError:
        raise _unusable(argument) from None


def _only(head: Head, argument: str) -> bytes:
    """The field's value; one that stands twice would be read in part (RFC 5322 3.6)."""
    name = argument.replace("_", "-")
    values = [field.value for field in head.fields if field.name.lower() == name]
    if len(values) > 1:
        raise invalid(argument, "the draft has this field more than once; give this argument anew with update_draft")
    return values[0] if values else b""


def _unusable(argument: str) -> GatewayError:
    return invalid(
        argument, "the draft has somebody there whom mail cannot be sent to; give this argument anew with update_draft"
    )


def _files(root: Entity) -> Iterator[OutgoingFile]:
    found = tuple(leaves(root))
    for leaf, part in zip(found, described(found), strict=True):
        if part.is_body:
            continue
        name, octets = part.filename or "attachment", leaf.decoded or b""
        cid = part.content_id if part.inline else None
        type_ = f"{part.content_type}; charset={part.charset}" if part.charset else part.content_type
        try:
            yield outgoing_file(name, octets, type_, content_id=cid)
        except GatewayError:
            yield outgoing_file(name, octets, "application/octet-stream", content_id=cid)
