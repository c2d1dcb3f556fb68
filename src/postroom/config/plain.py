"""For values of a file before they are typed: tables, lists and texts, whatever else stands there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from postroom.config.faults import Where

Table = Mapping[str, object]


def table(value: object) -> Table:
    """The table, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[object]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else ()


def text(value: object) -> str:
    """The text, or ""."""
    return value if isinstance(value, str) else ""


def texts(value: object, where: Where) -> Iterator[tuple[Where, str]]:
    """The texts of one value or a list of them, with their places."""
    if isinstance(value, str):
        yield where, value
    for at, item in enumerate(items(value)):
        if isinstance(item, str):
            yield (*where, at), item


def at(value: object, *keys: str) -> object:
    """What stands below these keys, or None."""
    for key in keys:
        value = table(value).get(key)
    return value


def entries(value: object, where: Where) -> Iterator[tuple[Where, str, object]]:
    """Every entry of every table in a value, however deep: its place, its key and what stands there."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield (*where, key), key, inner
            yield from entries(inner, (*where, key))
    for position, item in enumerate(items(value)):
        yield from entries(item, (*where, position))
