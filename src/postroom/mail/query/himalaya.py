"""A query in the language of the Himalaya mail client, as it is before version 2, as a query of ours."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from postroom.base.errors import invalid
from postroom.mail.query.himalayafaults import ARGUMENT, FILTER, refusal
from postroom.mail.query.himalayareader import Either, Every, Negation, Node, SortKey, Term, read_filter, read_sort
from postroom.mail.query.tree import All, Body, Flag, Header, Not, Or, Query, SentBefore, SentSince, both

LONGEST_QUERY = 4_096
"""Octets of a query in UTF-8."""
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""What Unicode calls white space; a query may stand among it."""
_PIECE = re.compile(r'(?<![^\s(])"(?:\\[\\"]|[^\\"])*+"|(?P<order>(?<!\S)order by(?!\S))', re.IGNORECASE)
_SYSTEM: Mapping[str, Flag] = {
    "seen": Flag("\\Seen"),
    "answered": Flag("\\Answered"),
    "replied": Flag("\\Answered"),
    "flagged": Flag("\\Flagged"),
    "deleted": Flag("\\Deleted"),
    "trashed": Flag("\\Deleted"),
    "draft": Flag("\\Draft"),
}
_KEYWORD = re.compile(r"[!#$&'+,./0-9:;<=>?@A-Z^_`a-z|}~-]{1,100}")
"""An atom of IMAP (RFC 9051 9): other flags cannot be asked for."""


@dataclass(frozen=True, slots=True)
class HimalayaQuery:
    """Which messages, and in which order."""

    query: Query
    sort: tuple[SortKey, ...]
    """Empty for the default order."""
    has_filter: bool
    """A query may ask for an order alone."""


def read_himalaya(text: str) -> HimalayaQuery:
    """What a query means; a blank one asks for every message.

    Raises `validation_error` naming `query`, whose details tell the `part` (`filter` or `sort`), the `offset` in its
    characters, what was `expected` there, and a `hint`.

    A filter is conditions (`date`, `before`, `after`, `from`, `to`, `subject`, `body`, `flag`) under `not`, `and` and
    `or`; `order by` and keys may follow. Days are those that the Date field names. Himalaya searches for the quotes of
    a quoted value too; here they only hold it together.
    """
    if len(text.encode(errors="surrogatepass")) > LONGEST_QUERY:
        raise invalid(ARGUMENT, f"must have at most {LONGEST_QUERY:,} octets")
    wanted, order = _cut(text)
    node = read_filter(wanted) if wanted else None
    sort = read_sort(order)
    return HimalayaQuery(_query(node) if node else All(), sort, node is not None)


def _cut(text: str) -> tuple[str, str]:
    """Filter and sort, cut at the last `order by` that is neither quoted nor part of a word."""
    last = None
    for piece in _PIECE.finditer(text):
        last = piece if piece["order"] else last
    if last is None:
        return text.strip(_BLANKS), ""
    return text[: last.start()].strip(_BLANKS), text[last.end() :].strip(_BLANKS)


def _query(node: Node) -> Query:
    match node:
        case Every(terms):
            return both(*map(_query, terms))
        case Either(terms):
            return Or(tuple(map(_query, terms)))
        case Negation(term):
            return Not(_query(term))
        case Term():
            return _condition(node)


def _condition(term: Term) -> Query:
    if isinstance(term.value, date):
        return _days(term.word, term.value, term.at)
    if term.word == "flag":
        return _flag(term.value, term.at)
    text = _checked(term.value, term.at)
    return Body(text) if term.word == "body" else Header(term.word, text)


def _days(word: str, day: date, at: int) -> Query:
    """The last day that a date can name has no next one."""
    if word == "before":
        return SentBefore(day)
    following = None if day == date.max else day + timedelta(days=1)
    if word == "date":
        return both(SentSince(day), SentBefore(following)) if following else SentSince(day)
    if following is None:
        raise refusal(FILTER, at, "no day comes after this one")
    return SentSince(following)


def _flag(name: str, at: int) -> Flag:
    if flag := _SYSTEM.get(name.lower()) or _of_imap(name):
        return flag
    if not _KEYWORD.fullmatch(name):
        raise refusal(FILTER, at, "this is no flag; write flag seen, or a keyword without quotes and blanks")
    return Flag(name)


def _of_imap(name: str) -> Flag | None:
    """A system flag as IMAP writes it, whose backslash is escaped here."""
    return next((flag for flag in _SYSTEM.values() if flag.name.lower() == name.lower()), None)


def _checked(text: str, at: int) -> str:
    """The text in NFC, if it is one that can be looked for."""
    if not text:
        raise refusal(FILTER, at, "an empty value would fit every message; leave the condition out")
    if any(letter in "\r\n\0" or "\ud800" <= letter <= "\udfff" for letter in text):
        raise refusal(FILTER, at, "a value must be one line of text")
    return unicodedata.normalize("NFC", text)
