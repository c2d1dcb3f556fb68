"""A raw IMAP SEARCH program (RFC 9051 6.4.4) as a query: read as a language, never passed on as text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from postroom.base.errors import GatewayError, invalid
from postroom.mail.query.filters import LARGEST_SIZE, checked_text, imap_date
from postroom.mail.query.tree import (
    MAX_CONDITIONS,
    MAX_DEPTH,
    All,
    Before,
    Body,
    Flag,
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
    both,
)

ARGUMENT = "search"
LONGEST_PROGRAM = 16_000
"""Characters of a program."""
_MAX_UID = 2**32 - 1
_TOKEN = re.compile(r' *(?:(?P<open>\()|(?P<close>\))|"(?P<quoted>(?:[^"\\]|\\["\\])*)"|(?P<atom>[^ ()"\\{]+))')
_AFTER_STRING = re.compile(r"[ ()]|\Z")
_KEYWORD = re.compile(r"[!#$&'+,./0-9:;<=>?@A-Z^_`a-z|}~-]{1,100}")
_FIELD_NAME = re.compile(r"[!-9;-~]{1,100}")
_SET = re.compile(r"(?:\d{1,10}|\*)(?::(?:\d{1,10}|\*))?(?:,(?:\d{1,10}|\*)(?::(?:\d{1,10}|\*))?)*", re.ASCII)
_SHOWN = 20
_REFUSED = {
    "CHARSET": "leave CHARSET out; text may be in any language",
    "RETURN": "leave RETURN out; give the keys alone",
    "SEARCH": "give the keys alone, without a command",
    "RECENT": "RECENT depends on the session; use UNSEEN or SINCE",
    "NEW": "NEW depends on the session; use UNSEEN or SINCE",
    "OLD": "OLD depends on the session; use SEEN or BEFORE",
    "OLDER": "give the date itself with BEFORE",
    "YOUNGER": "give the date itself with SINCE",
    "X-GM-RAW": "use FROM, SUBJECT, TEXT and the like",
}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """`open`, `close`, `quoted` or `atom`."""
    text: str
    at: int
    """Characters before it."""


@dataclass(slots=True)
class _Open:
    """What is not finished yet: a group until its `)`, NOT until it has one term, OR until it has two."""

    kind: str
    at: int
    terms: list[Query] = field(default_factory=list)


def read_program(text: str) -> Query:
    """The query that a program means. Raises `validation_error` naming `search`, with what is wrong and where.

    Dates are days in UTC. A `*` in a UID set is the highest UID there can be.
    """
    if len(text) > LONGEST_PROGRAM:
        raise invalid(ARGUMENT, f"must have at most {LONGEST_PROGRAM:,} characters")
    checked_line(text)
    return _Parser(list(_tokens(text)), len(text)).run()


def checked_line(text: str) -> None:
    for at, letter in enumerate(text):
        if (letter < " " and letter != "\t") or letter == "\x7f" or "\ud800" <= letter <= "\udfff":
            raise _fault(at, "a control character; a program is one line of text")


def _tokens(text: str) -> Iterator[_Token]:
    text = text.rstrip(" ")
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match or not match.lastgroup:
            raise _fault(position, _stray(text[position:].lstrip(" ")))
        kind, position = match.lastgroup, match.end()
        if kind in ("quoted", "atom") and not _AFTER_STRING.match(text, position):
            raise _fault(position, _stray(text[position:]))
        value = match[kind]
        at = position - len(match[0].lstrip(" "))
        yield _Token(kind, re.sub(r"\\(.)", r"\1", value) if kind == "quoted" else value, at)


def _stray(rest: str) -> str:
    if rest.startswith("{"):
        return "a literal; write the text in quotes, and a { inside them"
    if rest.startswith('"'):
        return 'a quote that does not end or begin where a word does; inside quotes write \\" and \\\\'
    if rest.startswith("\\"):
        return "a backslash outside quotes; flags are keys of their own, such as SEEN"
    return "a blank is missing here"


class _Parser:
    """Reads tokens with a stack of its own, so that nesting costs no recursion."""

    def __init__(self, tokens: list[_Token], length: int) -> None:
        self._tokens = iter(tokens)
        self._length = length
        self._conditions = 0
        self._stack = [_Open("", 0)]

    def run(self) -> Query:
        for token in self._tokens:
            self._take(token)
        top = self._stack.pop()
        if self._stack:
            lacks = "its )" if top.kind == "(" else "a key after it"
            raise _fault(top.at, f"{top.kind} lacks {lacks}")
        if not top.terms:
            raise invalid(ARGUMENT, "must not be empty; use keys such as UNSEEN FROM ana SINCE 1-Jan-2026")
        return both(*top.terms)

    def _take(self, token: _Token) -> None:
        word = token.text.upper() if token.kind == "atom" else ""
        if token.kind == "open":
            self._push("(", token.at)
        elif token.kind == "close":
            self._close(token.at)
        elif word in ("NOT", "OR"):
            self._push(word, token.at)
        else:
            self._finish(self._key(token, word))

    def _push(self, kind: str, at: int) -> None:
        if len(self._stack) > MAX_DEPTH:
            raise _fault(at, f"more than {MAX_DEPTH} levels of nesting")
        self._stack.append(_Open(kind, at))

    def _close(self, at: int) -> None:
        top = self._stack.pop()
        if top.kind != "(" or not top.terms:
            raise _fault(at, "a ) that closes nothing" if top.kind != "(" else "an empty pair of parentheses")
        self._finish(both(*top.terms))

    def _finish(self, term: Query) -> None:
        """A whole term: it may finish the NOT or OR before it, and these the ones before them."""
        while True:
            top = self._stack[-1]
            top.terms.append(term)
            if top.kind not in ("NOT", "OR") or (top.kind == "OR" and len(top.terms) < 2):
                return
            self._stack.pop()
            term = Not(term) if top.kind == "NOT" else Or(tuple(top.terms))

    def _key(self, token: _Token, word: str) -> Query:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise _fault(token.at, f"more than {MAX_CONDITIONS} conditions")
        if word in _PLAIN:
            return _PLAIN[word]
        if word not in _WITH_ARGUMENTS:
            raise _fault(token.at, _unknown(token, word))
        count, make = _WITH_ARGUMENTS[word]
        arguments = [self._argument(word) for _ in range(count)]
        try:
            return make(*(argument.text for argument in arguments))
        except ValueError as error:
            raise _fault(arguments[-1].at, f"{word} {error}") from None

    def _argument(self, word: str) -> _Token:
        token = next(self._tokens, None)
        if token is None or token.kind in ("open", "close"):
            raise _fault(token.at if token else self._length, f"{word} lacks its value")
        return token


def _fault(at: int, what: str) -> GatewayError:
    return invalid(ARGUMENT, f"at character {at + 1}: {what}", position=at + 1)


def _unknown(token: _Token, word: str) -> str:
    if token.kind == "quoted":
        return "a text without a key; write TEXT or SUBJECT before it"
    if _SET.fullmatch(word):
        return "message sequence numbers change under you; write UID before uids"
    if word in _REFUSED:
        return _REFUSED[word]
    known = [*_PLAIN, *_WITH_ARGUMENTS, "NOT", "OR"]
    nearest = difflib.get_close_matches(word[:_SHOWN], known, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else "for a text write TEXT or SUBJECT before it"
    return f"{token.text[:_SHOWN]!r} is no search key; {hint}"


def _header(name: str) -> Callable[[str], Query]:
    return lambda value: Header(name, checked_text(ARGUMENT, value))


def _named_header(name: str, value: str) -> Query:
    if not _FIELD_NAME.fullmatch(name):
        raise ValueError("takes the name of a header field and a text")
    return Header(name.lower(), checked_text(ARGUMENT, value))


def _text(make: Callable[[str], Query]) -> Callable[[str], Query]:
    return lambda value: make(checked_text(ARGUMENT, value)) if value else All()


def _keyword(value: str) -> Flag:
    if not _KEYWORD.fullmatch(value):
        raise ValueError("takes a keyword; system flags are keys of their own, such as SEEN")
    return Flag(value)


def _size(make: Callable[[int], Query]) -> Callable[[str], Query]:
    def read(value: str) -> Query:
        if not re.fullmatch(r"[0-9]{1,16}", value) or int(value) > LARGEST_SIZE:
            raise ValueError("takes a number of octets")
        return make(int(value))

    return read


def _day(value: str) -> date:
    try:
        day = imap_date(value)
    except ValueError:
        day = None
    if day is None or day.year < 1900 or day.year > 9990:
        raise ValueError("takes a date such as 31-Jan-2026")
    return day


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _next(day: date) -> date:
    return day + timedelta(days=1)


def _uids(value: str) -> Query:
    if not _SET.fullmatch(value):
        raise ValueError("takes uids such as 4,7:9 or 120:*")
    return Uids(tuple(sorted(_range(part) for part in value.split(","))))


def _range(part: str) -> tuple[int, int]:
    first, _, last = part.partition(":")
    if part == "*":
        raise ValueError("takes uids; the newest message is the first that is listed")
    numbers = [_MAX_UID if word == "*" else int(word) for word in (first, last or first)]
    if not all(0 < number <= _MAX_UID for number in numbers):
        raise ValueError(f"takes uids from 1 to {_MAX_UID}")
    return min(numbers), max(numbers)


_SYSTEM = {name: Flag(f"\\{name.capitalize()}") for name in ("ANSWERED", "DELETED", "DRAFT", "FLAGGED", "SEEN")}
_PLAIN: Mapping[str, Query] = {
    "ALL": All(),
    **_SYSTEM,
    **{f"UN{name}": Not(flag) for name, flag in _SYSTEM.items()},
}
_WITH_ARGUMENTS: Mapping[str, tuple[int, Callable[..., Query]]] = {
    **{name.upper(): (1, _header(name)) for name in ("bcc", "cc", "from", "subject", "to")},
    "HEADER": (2, _named_header),
    "BODY": (1, _text(Body)),
    "TEXT": (1, _text(Text)),
    "KEYWORD": (1, _keyword),
    "UNKEYWORD": (1, lambda value: Not(_keyword(value))),
    "LARGER": (1, _size(Larger)),
    "SMALLER": (1, _size(Smaller)),
    "UID": (1, _uids),
    "SINCE": (1, lambda value: Since(_midnight(_day(value)))),
    "BEFORE": (1, lambda value: Before(_midnight(_day(value)))),
    "ON": (1, lambda value: both(Since(_midnight(_day(value))), Before(_midnight(_next(_day(value)))))),
    "SENTSINCE": (1, lambda value: SentSince(_day(value))),
    "SENTBEFORE": (1, lambda value: SentBefore(_day(value))),
    "SENTON": (1, lambda value: both(SentSince(_day(value)), SentBefore(_next(_day(value))))),
}
