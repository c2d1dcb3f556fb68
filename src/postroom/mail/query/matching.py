"""Whether a message fits a query, as far as what is at hand can tell."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import date
from typing import Any

from postroom.base.kleene import Truth, all_of, any_of, negation
from postroom.mail.address import parse_addresses
from postroom.mail.date import parse_day
from postroom.mail.header import decode_words, first_value, one_line
from postroom.mail.model import Address, Shown
from postroom.mail.query.tree import (
    ADDRESS_FIELDS,
    All,
    And,
    Before,
    Body,
    Flag,
    HasAttachment,
    Header,
    Larger,
    Not,
    Or,
    Query,
    SentBefore,
    SentSince,
    Since,
    Smaller,
    Text,
    Uids,
)

ROW_FIELDS = frozenset({"from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references"})
"""Fields of the header that a message without its content has at hand."""
_UNDATED = date(1970, 1, 1)
"""The day of a message that names none that can be read, as Dovecot has it."""


def matches(query: Query, shown: Shown, uid: int) -> Truth:
    """Does this message fit? None if that cannot be told without more of it than `shown` has.

    Texts match as substrings of the decoded text, under i;unicode-casemap (RFC 5051). Addresses are searched as
    `name <local@domain>`, bodies as their plain text and as their html. A query is bounded in depth by its parser.
    """
    match query:
        case All():
            return True
        case Not(term):
            return negation(matches(term, shown, uid))
        case And(terms):
            return all_of(matches(term, shown, uid) for term in terms)
        case Or(terms):
            return any_of(matches(term, shown, uid) for term in terms)
        case Uids(ranges):
            return any(low <= uid <= high for low, high in ranges)
        case _:
            return _CONDITIONS[type(query)](query, shown)


def fold(text: str) -> str:
    """A text as texts are compared (RFC 5051): decomposed, and in title case letter by letter."""
    if text.isascii():
        return text.upper()
    return unicodedata.normalize("NFKD", text).translate(_TITLES)


class _Titles(dict[int, str]):
    """Simple title case of each letter; one that would become several stays as it is."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        title = letter.title()
        self[code] = title if len(title) == 1 else letter
        return self[code]


_TITLES = _Titles()


def _header(condition: Header, shown: Shown) -> Truth:
    if condition.name not in ROW_FIELDS and shown.reading is None:
        return None
    if shown.incomplete and not shown.head.fields:
        return None
    written = [field.value for field in shown.head.fields if field.name.lower() == condition.name]
    if not written or not condition.text:
        return bool(written)
    return fold(condition.text) in fold(_searched(condition.name, shown, written))


def _searched(name: str, shown: Shown, written: list[bytes]) -> str:
    """What of a field is searched: lines of text that no condition's text can span."""
    if name == "subject":
        return shown.head.subject or ""
    lines = [one_line(decode_words(value)) for value in written]
    if name in ADDRESS_FIELDS:
        addresses = [address for value in written for address in _addresses(name, shown, value)]
        lines = [_spelled(address) for address in addresses] or lines
    return "\n".join(lines)


def _addresses(name: str, shown: Shown, value: bytes) -> tuple[Address, ...]:
    head = shown.head
    known = {"from": head.from_, "to": head.to, "cc": head.cc, "reply-to": head.reply_to}
    return known[name] if name in known else parse_addresses(value)


def _spelled(address: Address) -> str:
    return f"{address.name} <{address.address}>" if address.name else f"<{address.address}>"


def _body(condition: Body | Text, shown: Shown) -> Truth:
    if shown.reading is None:
        return None
    wanted = fold(condition.text)
    if any(text and wanted in fold(text) for text in (shown.reading.text, shown.reading.html)):
        return True
    return None if shown.reading.truncated else False


def _text(condition: Text, shown: Shown) -> Truth:
    names = dict.fromkeys(field.name.lower() for field in shown.head.fields)
    in_header = any_of(_header(Header(name, condition.text), shown) for name in names)
    return any_of((in_header, _body(condition, shown)))


def _flag(condition: Flag, shown: Shown) -> Truth:
    wanted = condition.name.lower()
    return any(flag.lower() == wanted for flag in shown.flags)


def _received(condition: Since | Before, shown: Shown) -> Truth:
    if shown.received_at is None:
        return None
    return (shown.received_at >= condition.moment) is isinstance(condition, Since)


def _sent(condition: SentSince | SentBefore, shown: Shown) -> Truth:
    if shown.incomplete and not shown.head.fields:
        return None
    day = parse_day(first_value(shown.head.fields, "date") or b"") or _UNDATED
    return (day >= condition.day) is isinstance(condition, SentSince)


def _size(condition: Larger | Smaller, shown: Shown) -> Truth:
    if shown.size is None:
        return None
    return shown.size > condition.octets if isinstance(condition, Larger) else shown.size < condition.octets


_CONDITIONS: dict[type, Callable[[Any, Shown], Truth]] = {
    Header: _header,
    Body: _body,
    Text: _text,
    Flag: _flag,
    Since: _received,
    Before: _received,
    SentSince: _sent,
    SentBefore: _sent,
    Larger: _size,
    Smaller: _size,
    HasAttachment: lambda _condition, shown: shown.has_attachments,
}
