"""What a command asks for, read from its arguments: numbers of messages, items of a FETCH, keys of a SEARCH."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Protocol

from postroom.imap.wire import Argument, Atom

_BODY = re.compile(r"BODY\.PEEK\[([^\]]*)\](?:<(\d+)\.(\d+)>)?")
_FLAGS = {
    "SEEN": "\\Seen",
    "ANSWERED": "\\Answered",
    "FLAGGED": "\\Flagged",
    "DELETED": "\\Deleted",
    "DRAFT": "\\Draft",
}
_ALL_OF_IT = 1 << 40


class Message(Protocol):
    octets: bytes
    flags: frozenset[str]
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Item:
    """Octets of a section; `fields` are names of header fields, where only those are wanted."""

    section: str
    fields: frozenset[str] | None
    offset: int
    count: int
    answered: str
    """What the answer calls it."""


def spelled(argument: Argument) -> str:
    if isinstance(argument, Atom):
        return argument.text
    return argument.decode() if isinstance(argument, bytes) else str(argument)


def number_set(wanted: str, last: int) -> Callable[[int], bool]:
    """Whether a number is in a sequence set (RFC 9051 9)."""
    runs = [part.partition(":") for part in wanted.replace("*", str(last)).split(",")]
    ends = [sorted((int(low), int(high or low))) for low, _, high in runs]
    return lambda number: any(low <= number <= high for low, high in ends)


def plain_items(items: str) -> list[str]:
    return _BODY.sub("", items).strip("()").split()


def body_items(items: str) -> list[Item]:
    return [_item(*match.groups()) for match in _BODY.finditer(items)]


def _item(section: str, offset: str | None, count: str | None) -> Item:
    names = section[len("HEADER.FIELDS (") : -1].split() if section.startswith("HEADER.FIELDS") else None
    origin = f"<{offset}>" if offset is not None else ""
    number, octets = int(offset or 0), int(count) if count else _ALL_OF_IT
    return Item(section, None if names is None else frozenset(names), number, octets, f"BODY[{section}]{origin}")


def has(keys: Sequence[Argument], uid: int, message: Message) -> bool:
    """Whether a message fits all of these keys (RFC 9051 6.4.4), texts as they stand in its octets."""
    words = [*_words(keys)]
    fits = True
    while words:
        fits &= _key(words, uid, message)
    return fits


@dataclass(frozen=True, slots=True)
class _Said:
    """A string of the caller's, which is no key."""

    text: str


_Word = str | _Said


def _words(keys: Sequence[Argument]) -> Iterator[_Word]:
    for key in keys:
        if isinstance(key, Atom):
            yield from key.text.split()
        else:
            yield _Said(spelled(key))


def _key(words: list[_Word], uid: int, message: Message) -> bool:
    word = words.pop(0)
    if word == "NOT":
        return not _key(words, uid, message)
    if word == "OR":
        first, second = _key(words, uid, message), _key(words, uid, message)
        return first or second
    if word == "(":
        fits = True
        while words[0] != ")":
            fits &= _key(words, uid, message)
        words.pop(0)
        return fits
    return _condition(str(word), words, uid, message)


def _condition(word: str, words: list[_Word], uid: int, message: Message) -> bool:
    if word == "CHARSET":
        words.pop(0)
        return True
    if word == "ALL":
        return True
    if word.removeprefix("UN") in _FLAGS:
        return (_FLAGS[word.removeprefix("UN")] in message.flags) is not word.startswith("UN")
    if word in ("UID", "KEYWORD", "UNKEYWORD", "SINCE", "BEFORE", "LARGER", "SMALLER", "SENTSINCE", "SENTBEFORE"):
        return _measured(word, str(words.pop(0)), uid, message)
    return _textual(word, words, message)


def _measured(word: str, told: str, uid: int, message: Message) -> bool:
    match word:
        case "UID":
            return number_set(told, uid)(uid)
        case "KEYWORD" | "UNKEYWORD":
            there = told.lower() in {flag.lower() for flag in message.flags}
            return there is (word == "KEYWORD")
        case "LARGER" | "SMALLER":
            return len(message.octets) > int(told) if word == "LARGER" else len(message.octets) < int(told)
        case "SINCE" | "SENTSINCE":
            return message.received_at.date() >= _day(told)
        case _:
            return message.received_at.date() < _day(told)


def _day(told: str) -> date:
    return datetime.strptime(told, "%d-%b-%Y").replace(tzinfo=UTC).date()


def _textual(word: str, words: list[_Word], message: Message) -> bool:
    head, _, body = message.octets.decode("latin-1").lower().partition("\r\n\r\n")
    name = _said(words.pop(0)) if word == "HEADER" else word
    wanted = _said(words.pop(0)).lower()
    if name in ("TEXT", "BODY"):
        return wanted in (body if name == "BODY" else f"{head}\n{body}")
    lines = [line for line in head.split("\r\n") if line.startswith(f"{name.lower()}:")]
    return any(wanted in line for line in lines)


def _said(word: _Word) -> str:
    return word.text if isinstance(word, _Said) else word
