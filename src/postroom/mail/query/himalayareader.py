"""The text of a query in Himalaya's language as a small tree: quotes, escapes, operators, days and sort keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

from postroom.base.errors import GatewayError
from postroom.mail.query import himalayafaults as faults
from postroom.mail.query.himalayafaults import FILTER, SORT, fault, refusal
from postroom.mail.query.tree import MAX_DEPTH

_MAX_CONDITIONS = 100
_FIRST_YEAR = 1_000
DAYS = ("date", "before", "after")
TEXTS = ("from", "to", "subject", "body")
CONDITIONS = (*DAYS, *TEXTS, "flag")
KEYS = ("date", "from", "to", "subject")
_DIRECTIONS = ("asc", "desc")
_TERM = ("a condition", "not", "(")
_BARE = re.compile(r"(?:\\[\\ ()]|[^\\ ()])+")
_QUOTED = re.compile(r'"(?:\\[\\"]|[^\\"])*+')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_YEAR_FIRST = re.compile(r"(\d{1,4})([-/])(\d{1,2})\2(\d{1,2})", re.ASCII)
_DAY_FIRST = re.compile(r"(\d{1,2})([-/])(\d{1,2})\2(\d{1,4})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Term:
    """One condition. Texts without their quotes and escapes, as written otherwise."""

    word: str
    """Of `CONDITIONS`."""
    value: str | date
    at: int = field(default=0, compare=False)
    """Where its value stands, in characters of the filter."""


@dataclass(frozen=True, slots=True)
class Every:
    """Terms with `and` between them."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Terms with `or` between them."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    term: Node


Node: TypeAlias = Term | Every | Either | Negation
SortKey: TypeAlias = tuple[str, bool]
"""Of `KEYS`, and whether it is the other way round."""


def read_filter(text: str) -> Node:
    """The tree of a filter without blanks around it. Raises `validation_error`."""
    node = _Filter(text).read()
    if _levels(node) > MAX_DEPTH:
        raise refusal(FILTER, 0, _TOO_DEEP)
    return node


def read_sort(text: str) -> tuple[SortKey, ...]:
    """The keys of a sort without blanks around it, none for an empty one. Raises `validation_error`."""
    return tuple(_sort_keys(text))


_TOO_DEEP = f"more than {MAX_DEPTH} levels of nesting"


def _levels(node: Node) -> int:
    """A day is two conditions under an and."""
    match node:
        case Term(word):
            return int(word == "date")
        case Negation(term):
            return 1 + _levels(term)
        case Every(terms) | Either(terms):
            return 1 + max(map(_levels, terms))


class _Filter:
    """Reads from left to right and never goes back; a level of nesting is a level of recursion, and these are few."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._conditions = 0
        self._last = 0
        """Where the last condition begins."""

    def read(self) -> Node:
        node = self._either(0)
        if self._at < len(self._text):
            raise self._no_end(("and", "or", "end"))
        return node

    def _either(self, level: int) -> Node:
        terms = [self._every(level)]
        while self._operator("or"):
            terms.append(self._every(level))
        return terms[0] if len(terms) == 1 else Either(tuple(terms))

    def _every(self, level: int) -> Node:
        terms = [self._negated(level)]
        while self._operator("and"):
            terms.append(self._negated(level))
        return terms[0] if len(terms) == 1 else Every(tuple(terms))

    def _negated(self, level: int) -> Node:
        nots = 0
        while self._operator("not"):
            nots += 1
            self._bounded(level + nots)
        node = self._primary(level + nots)
        for _ in range(nots):
            node = Negation(node)
        return node

    def _primary(self, level: int) -> Node:
        if not self._text.startswith("(", self._at):
            node: Node = self._condition()
            self._blanks()
            return node
        self._bounded(level + 1)
        self._at += 1
        self._blanks()
        node = self._either(level + 1)
        if not self._text.startswith(")", self._at):
            raise self._no_end((")", "and", "or"))
        self._at += 1
        self._blanks()
        return node

    def _condition(self) -> Term:
        self._last = self._at
        word = next((one for one in CONDITIONS if _begins(self._text, self._at, one)), None)
        if word is None:
            offset = _furthest(self._text, self._at, (*CONDITIONS, "not"))
            raise fault(FILTER, offset, _TERM, faults.no_condition(self._text, self._at))
        self._conditions += 1
        if self._conditions > _MAX_CONDITIONS:
            raise refusal(FILTER, self._at, f"more than {_MAX_CONDITIONS} conditions")
        end = self._at + len(word)
        self._at = end
        self._blanks()
        if self._at == end:
            raise fault(FILTER, end, ("a space and a value",), faults.no_value(self._text, word, end))
        at = self._at
        value = self._value(word)
        return Term(word, self._day(value, at) if word in DAYS else value, at)

    def _value(self, word: str) -> str:
        if word != "flag" and self._text.startswith('"', self._at):
            return self._quoted()
        match = _BARE.match(self._text, self._at)
        end = match.end() if match else self._at
        if self._text.startswith("\\", end):
            raise fault(FILTER, end + 1, ("\\", "a space", "(", ")"), "outside quotes write \\\\ for a backslash")
        if not match:
            raise fault(FILTER, end, ("a value",), faults.no_value(self._text, word, end))
        self._at = end
        return _ESCAPE.sub(r"\1", match[0])

    def _quoted(self) -> str:
        """Himalaya takes a quote that does not end for a letter, which nobody means."""
        match = _QUOTED.match(self._text, self._at)
        end = match.end() if match else self._at
        if end == len(self._text):
            raise fault(FILTER, end, ('"',), "a quoted value lacks its end")
        if self._text[end] == "\\":
            raise fault(FILTER, end + 1, ("\\", '"'), 'inside quotes write \\\\ for a backslash and \\" for a quote')
        start, self._at = self._at + 1, end + 1
        return _ESCAPE.sub(r"\1", self._text[start:end])

    def _day(self, value: str, at: int) -> date:
        day = _read_day(value)
        if day is None:
            raise fault(FILTER, at, ("a day such as 2026-01-31",), faults.no_day(value))
        if day.year < _FIRST_YEAR:
            raise refusal(FILTER, at, f"this is the year {day.year}; write the year first, and all of it: 2026-01-31")
        return day

    def _operator(self, word: str) -> bool:
        if not _begins(self._text, self._at, word) or not self._text.startswith(" ", self._at + len(word)):
            return False
        self._at += len(word)
        self._blanks()
        return True

    def _blanks(self) -> None:
        while self._text.startswith(" ", self._at):
            self._at += 1

    def _bounded(self, level: int) -> None:
        if level > MAX_DEPTH:
            raise refusal(FILTER, self._at, _TOO_DEEP)

    def _no_end(self, expected: tuple[str, ...]) -> GatewayError:
        offset = _furthest(self._text, self._at, ("and", "or"))
        return fault(FILTER, offset, expected, faults.no_end(self._text, self._last, self._at))


def _sort_keys(text: str) -> Iterator[SortKey]:
    at = 0
    while at < len(text):
        key, at = _word(text, at, KEYS, KEYS)
        descending = False
        if any(_stands(text, at, direction) for direction in _DIRECTIONS):
            direction, at = _word(text, at, _DIRECTIONS, KEYS)
            descending = direction == "desc"
        elif at < len(text) and not any(_stands(text, at, one) for one in KEYS):
            raise _no_key(text, at, (*_DIRECTIONS, *KEYS))
        yield key, descending


def _word(text: str, at: int, words: tuple[str, ...], expected: tuple[str, ...]) -> tuple[str, int]:
    """The one of `words` that stands here, and where the next one does."""
    for word in words:
        if _stands(text, at, word):
            at += len(word)
            while text.startswith(" ", at):
                at += 1
            return word, at
    raise _no_key(text, at, expected)


def _no_key(text: str, at: int, expected: tuple[str, ...]) -> GatewayError:
    offset = _furthest(text, at, expected)
    return fault(SORT, offset, expected, faults.no_key(text, at, offset))


def _begins(text: str, at: int, word: str) -> bool:
    """Himalaya knows its words in lower case alone; in upper case they mean nothing else there."""
    return text[at : at + len(word)].lower() == word


def _stands(text: str, at: int, word: str) -> bool:
    end = at + len(word)
    return _begins(text, at, word) and (end == len(text) or text[end] == " ")


def _furthest(text: str, at: int, words: tuple[str, ...]) -> int:
    """Up to where what stands here is the beginning of one of `words`: the first character that is wrong."""
    return at + max(length for word in words for length in range(len(word) + 1) if _begins(text, at, word[:length]))


def _read_day(value: str) -> date | None:
    """Year first, else day first; the calendar decides between them, as Himalaya has it."""
    for pattern, year, day in ((_YEAR_FIRST, 1, 4), (_DAY_FIRST, 4, 1)):
        match = pattern.fullmatch(value)
        if match:
            try:
                return date(int(match[year]), int(match[3]), int(match[day]))
            except ValueError:
                continue
    return None
