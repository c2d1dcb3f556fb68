"""For a message's head: who wrote to whom, about what, when, in answer to which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from postroom.mail.address import parse_addresses
from postroom.mail.date import parse_date
from postroom.mail.header import decode_words, one_line, parse_fields
from postroom.mail.model import Address, Head
from postroom.mail.parameters import parse_mime_value
from postroom.mail.unseen import unseen_in, visible_line

MAX_IDS = 1_000
"""References that are kept: the first, which names the root, and the latest."""
_MESSAGE_ID = re.compile(rb"<([^<>]{1,998})>")
_ORDINARY_IDS = re.compile(rb"<[!-;=?-~]{1,250}>(?: <[!-;=?-~]{1,250}>){0,50}\Z")
"""Ids as nearly all are written, a blank between them; what is read of them is what stands there."""


def parse_head(block: bytes) -> Head:
    """The head in a header block; of a field that stands twice the first counts (RFC 5322 3.6 allows one).

    Words that are neither encoded nor UTF-8 are in the charset of the Content-Type, if the block has one.
    """
    fields = parse_fields(block)
    first: dict[str, bytes] = {}
    for field in fields:
        first.setdefault(field.name.lower(), field.value)
    subject, date = first.get("subject"), first.get("date")
    charset = None if block.isascii() else parse_mime_value(first.get("content-type", b"")).parameters.get("charset")
    head = Head(
        fields=fields,
        subject=None if subject is None else one_line(decode_words(subject, charset)),
        from_=parse_addresses(first.get("from", b""), charset),
        to=parse_addresses(first.get("to", b""), charset),
        cc=parse_addresses(first.get("cc", b""), charset),
        reply_to=parse_addresses(first.get("reply-to", b""), charset),
        date=None if date is None else parse_date(date),
        message_id=_first_id(first.get("message-id")),
        in_reply_to=_answered_id(first.get("in-reply-to") or b""),
        references=message_ids(first.get("references") or b""),
    )
    # Of octets in ASCII without encoded words nothing is left that could not be seen; most heads are like that.
    is_plain = (block.isascii() and b"=?" not in block) or all(text.isascii() for text in _texts(head))
    return head if is_plain else _visible(head)


_PEOPLE = ("from_", "to", "cc", "reply_to")


def _texts(head: Head) -> Iterator[str]:
    """What a person would read of a head, as far as a sender chose it."""
    yield head.subject or ""
    for name in _PEOPLE:
        for one in getattr(head, name):
            yield one.name or ""
            yield one.address


def _visible(head: Head) -> Head:
    """A head without what nobody sees, but with the signals of it."""
    return replace(
        head,
        subject=None if head.subject is None else visible_line(head.subject),
        from_=_visible_people(head.from_),
        to=_visible_people(head.to),
        cc=_visible_people(head.cc),
        reply_to=_visible_people(head.reply_to),
        unseen=frozenset[str]().union(*map(unseen_in, _texts(head))),
    )


def _visible_people(people: tuple[Address, ...]) -> tuple[Address, ...]:
    return tuple(
        Address(visible_line(one.name) or None if one.name else None, visible_line(one.address)) for one in people
    )


def message_ids(value: bytes) -> tuple[str, ...]:
    """The message ids of a value in order, with brackets and without white space; phrases are passed over.

    A lone word without brackets is an id too. Past `MAX_IDS` the first and the latest are kept.
    """
    if not value:
        return ()
    if _ORDINARY_IDS.match(value) and b"=?" not in value:
        return tuple(value.decode("ascii").split(" "))
    found = _MESSAGE_ID.findall(value)
    if not found and len(value.split()) == 1 and len(value) <= 998:
        found = [value.strip(b"<> \t\r\n")]
    if len(found) > MAX_IDS:
        found = [found[0], *found[-(MAX_IDS - 1) :]]
    ids = ("".join(one_line(decode_words(octets)).split()) for octets in found)
    return tuple(f"<{id_}>" for id_ in ids if id_)


def _first_id(value: bytes | None) -> str | None:
    ids = message_ids(value or b"")
    return ids[0] if ids else None


def _answered_id(value: bytes) -> str | None:
    """The first id, or the last one behind a phrase, which may name a person: `Message from Bo <bo@x> <id@x>`."""
    ids = message_ids(value)
    return (ids[0] if value.lstrip().startswith(b"<") else ids[-1]) if ids else None
