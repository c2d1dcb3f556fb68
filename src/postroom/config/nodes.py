"""YAML text to plain strings, lists and tables that still know their lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    Event,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from postroom.config.faults import Fault, Where, spell

_DEEPEST = 32
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as it was written, or None for a plain null; what it means is for the schema to say."""

    line: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Listing:
    """A YAML sequence."""

    line: int
    items: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Table:
    """A YAML mapping; an entry has its key's line."""

    line: int
    entries: Mapping[str, tuple[int, Node]]


Node = Scalar | Listing | Table


def compose(text: str) -> tuple[Node | None, list[Fault]]:
    """The one document of a YAML text, and every fault of form in it; None where no document can be read.

    Scalars stay strings. Duplicate keys, anchors, aliases, tags, several documents and nesting deeper than 32 are
    faults. Takes linear time and bounded stack.
    """
    composer = _Composer(yaml.parse(text, Loader=yaml.CSafeLoader))
    try:
        return composer.document(), composer.faults
    except _Unreadable as unreadable:
        return None, [*composer.faults, unreadable.fault]
    except yaml.MarkedYAMLError as failure:
        line = failure.problem_mark.line + 1 if failure.problem_mark else 0
        return None, [*composer.faults, Fault(line, "", f"not valid YAML: {failure.problem}")]
    except yaml.YAMLError:
        return None, [*composer.faults, Fault(0, "", "not valid YAML: it holds a character that is not text")]


def plain(node: Node) -> object:
    """The same as strings, None, lists and dicts."""
    match node:
        case Scalar(text=text):
            return text
        case Listing(items=items):
            return [plain(item) for item in items]
        case Table(entries=entries):
            return {key: plain(value) for key, (_, value) in entries.items()}


def line_at(node: Node, where: Where) -> int:
    """The line of a value, or of the nearest thing around it that is written in the file."""
    line = node.line
    for step in where:
        if isinstance(node, Table) and step in node.entries:
            line, node = node.entries[str(step)]
        elif isinstance(node, Listing) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            line = node.line
        else:
            break
    return line


class _Unreadable(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault


class _Composer:
    """Builds nodes from libyaml's events; composing them ourselves keeps going after the first fault."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self.faults: list[Fault] = []

    def document(self) -> Node | None:
        next(self._events)  # the start of the stream
        if isinstance(next(self._events), StreamEndEvent):
            self._fault(0, (), "the file is empty", "see the documentation for a first postroom.yaml")
            return None
        root = self._node(next(self._events), ())
        next(self._events)  # the end of the document
        after = next(self._events)
        if not isinstance(after, StreamEndEvent):
            self._fault(_line(after), (), "a second YAML document begins here", "put all into the first")
        return root

    def _node(self, event: Event, where: Where) -> Node:
        line = _line(event)
        if len(where) > _DEEPEST:
            raise _Unreadable(Fault(line, "", f"nested deeper than {_DEEPEST} levels"))
        if isinstance(event, AliasEvent):
            self._fault(line, where, "aliases (*name) are not used here", "write the value out")
        if isinstance(event, ScalarEvent):
            self._refuse_decoration(event, where)
            is_null = event.implicit[0] and event.value in _NULLS  # only plain scalars are implicit
            return Scalar(line, None if is_null else event.value)
        if isinstance(event, CollectionStartEvent):
            self._refuse_decoration(event, where)
            is_list = isinstance(event, SequenceStartEvent)
            return Listing(line, self._items(where)) if is_list else Table(line, self._entries(where))
        return Scalar(line, None)

    def _items(self, where: Where) -> list[Node]:
        items: list[Node] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._node(event, (*where, len(items))))
        return items

    def _entries(self, where: Where) -> dict[str, tuple[int, Node]]:
        entries: dict[str, tuple[int, Node]] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            line = _line(event)
            key = self._key(event, where)
            value = self._node(next(self._events), (*where, key))
            if key in entries:
                self._fault(line, (*where, key), f"given twice, first in line {entries[key][0]}", "remove one")
            else:
                entries[key] = (line, value)
        return entries

    def _key(self, event: Event, where: Where) -> str:
        if isinstance(event, ScalarEvent):
            self._refuse_decoration(event, where)
            return event.value
        self._node(event, (*where, "?"))
        self._fault(_line(event), where, "a key must be a plain word")
        return "?"

    def _refuse_decoration(self, event: ScalarEvent | CollectionStartEvent, where: Where) -> None:
        if event.anchor is not None:
            self._fault(_line(event), where, "anchors (&name) are not used here", "write the value out")
        if event.tag is not None:
            self._fault(_line(event), where, "tags (!name) are not used here", "write the plain value")

    def _fault(self, line: int, where: Where, problem: str, suggestion: str | None = None) -> None:
        self.faults.append(Fault(line, spell(where), problem, suggestion))


def _line(event: Event) -> int:
    """Counted from 1, as editors do."""
    return 0 if event.start_mark is None else event.start_mark.line + 1
