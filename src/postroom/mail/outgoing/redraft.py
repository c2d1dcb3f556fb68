"""From a draft's octets, ours or another program's, back to the message that is meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from postroom.base.errors import GatewayError, invalid
from postroom.mail.address import parse_addresses, unreadable_in
from postroom.mail.content import assemble
from postroom.mail.head import parse_head
from postroom.mail.header import decode_words, first_value, one_line, split
from postroom.mail.model import Entity, Head
from postroom.mail.outgoing.address import of_parts, unique
from postroom.mail.outgoing.file import outgoing_file
from postroom.mail.outgoing.model import MESSAGE_ID, Outgoing, OutgoingFile, StrictAddress
from postroom.mail.outgoing.replying import valid_ids
from postroom.mail.parts import described, leaves
from postroom.mail.structure import split_message


def read_draft(octets: bytes, sender: StrictAddress, *, replaced: Collection[str] = ()) -> Outgoing:
    """The message of a draft, its files by their decoded octets; `sender` stands in where it has no usable From.

    `replaced` names the arguments that the caller gives anew (`to`, `cc`, `bcc`, `reply_to`): what stands there is not
    read. Raises `validation_error` naming the argument whose addresses in the draft mail cannot be sent to.
    """
    head = parse_head(split(octets)[0])
    root = split_message(octets)
    content = assemble(root)
    people = {name: () if name in replaced else _people(head, name) for name in ("to", "cc", "bcc", "reply_to")}
    texts = [body.text for body in content.bodies if not body.is_html]
    return Outgoing(
        from_=_sender(head) or sender,
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
    )


def _sender(head: Head) -> StrictAddress | None:
    try:
        (one,) = parse_addresses(first_value(head.fields, "from") or b"")
        return of_parts(one.name, one.address)
    except ValueError:
        return None


def _people(head: Head, argument: str) -> tuple[StrictAddress, ...]:
    value = first_value(head.fields, argument.replace("_", "-")) or b""
    if unreadable_in(value):
        raise _unusable(argument)
    try:
        return unique(of_parts(one.name, one.address) for one in parse_addresses(value))
    except ValueError:
        raise _unusable(argument) from None


def _unusable(argument: str) -> GatewayError:
    return invalid(argument, "the draft has an address there that mail cannot be sent to; give this argument anew")


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
