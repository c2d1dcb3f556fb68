"""The last look before octets leave: our own parser must read in them what was meant, for whom, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from postroom.mail.address import parse_addresses
from postroom.mail.date import parse_date
from postroom.mail.head import message_ids
from postroom.mail.header import decode_words, first_value, parse_fields, split
from postroom.mail.model import Field
from postroom.mail.outgoing.body import is_wire_safe
from postroom.mail.outgoing.compose import header_names
from postroom.mail.outgoing.model import Outgoing, StrictAddress
from postroom.mail.parts import describe
from postroom.mail.structure import split_message


class CompositionFault(Exception):
    """Octets that do not say what was meant: a fault of ours. `what` names the difference, without content."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the composed message is not the one that was meant: {what}")
        self.what = what


def check(octets: bytes, outgoing: Outgoing, *, draft: bool = False) -> None:
    """Raises `CompositionFault` unless the octets are, read again, the message that is meant.

    That is: lines that every server reads alike; the planned header fields, in order and no other; addresses,
    subject, date and ids as in `outgoing`; and as many leaves as it has texts and files, under their names.
    """
    for what in _differences(octets, outgoing, draft):
        raise CompositionFault(what)


def _differences(octets: bytes, outgoing: Outgoing, draft: bool) -> Iterator[str]:
    if not is_wire_safe(octets):
        yield "its lines"
    block, _ = split(octets)
    fields = parse_fields(block)
    if not (octets.isascii() or (outgoing.needs_utf8 and octets[len(block) :].isascii())):
        yield "octets beyond ASCII"
    if tuple(field.name for field in fields) != header_names(outgoing, draft=draft):
        yield "its header fields"
    if sum(not line.startswith((b" ", b"\t")) for line in block.splitlines()) != len(fields):
        yield "a header line that is no field"
    yield from _people(fields, outgoing, draft)
    yield from _values(fields, outgoing)
    yield from _parts(octets, outgoing)


def _people(fields: Sequence[Field], outgoing: Outgoing, draft: bool) -> Iterator[str]:
    planned: dict[str, Sequence[StrictAddress]] = {
        "From": (outgoing.from_,),
        "To": outgoing.to,
        "Cc": outgoing.cc,
        "Bcc": outgoing.bcc if draft else (),
        "Reply-To": outgoing.reply_to,
    }
    for name, people in planned.items():
        found = [one.address for one in parse_addresses(first_value(tuple(fields), name) or b"")]
        if found != [one.address for one in people]:
            yield f"the addresses of {name}"


def _values(fields: Sequence[Field], outgoing: Outgoing) -> Iterator[str]:
    values = {field.name: field.value for field in fields}
    if decode_words(values.get("Subject", b"")) != outgoing.subject:
        yield "the subject"
    date = outgoing.date.replace(microsecond=0) if outgoing.date is not None else None
    if parse_date(values.get("Date", b"")) != date:
        yield "the date"
    ids = {"Message-ID": outgoing.message_id, "In-Reply-To": outgoing.in_reply_to or "", **dict(outgoing.marks)}
    for name, id_ in ids.items():
        if values.get(name, b"").decode("ascii", "replace") != id_:
            yield name
    if message_ids(values.get("References", b"")) != outgoing.references:
        yield "References"


def _parts(octets: bytes, outgoing: Outgoing) -> Iterator[str]:
    parts = describe(split_message(octets))
    names = sorted(part.filename or "" for part in parts if not part.is_body)
    texts = max(1, sum(text is not None for text in (outgoing.text, outgoing.html)))
    if len(parts) != texts + len(outgoing.files):
        yield "its parts"
    if names != sorted(one.filename for one in outgoing.files):
        yield "the names of its files"
