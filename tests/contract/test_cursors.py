"""A cursor goes on with the very list it came from, for the very token that got it, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from postroom.operations.catalogue import CATALOGUE
from tests.contract.asking import Told
from tests.contract.conftest import World

PAGED = [
    name
    for name, operation in CATALOGUE.items()
    if "cursor" in operation.ask.model_fields and "folder" in operation.ask.model_fields
]
"""Lists of messages; that of the audit is of no folder."""
FIRST = {"mailbox": "work", "limit": 2, "fields": "full"}


def pages(world: World, token: str, name: str, arguments: dict[str, Any]) -> Iterator[Told]:
    yield from world.asking[token].both(CATALOGUE[name], arguments)


def rows(body: dict[str, Any]) -> list[Any]:
    """What a page lists."""
    return list(body["threads"] if "threads" in body else body["messages"])


def cursor_of(world: World, token: str, name: str, **more: Any) -> str:
    first, *_ = pages(world, token, name, FIRST | more)
    return str(first.body["next_cursor"])


@pytest.mark.parametrize("name", PAGED)
def test_a_cursor_goes_on_behind_the_last_row_on_either_surface(world: World, name: str) -> None:
    first, *_ = pages(world, "all", name, FIRST)
    both = [told.body for told in pages(world, "all", name, FIRST | {"limit": 4})]
    for told, whole in zip(pages(world, "all", name, FIRST | {"cursor": first.body["next_cursor"]}), both, strict=True):
        assert rows(first.body) + rows(told.body) == rows(whole)


@pytest.mark.parametrize("name", PAGED)
def test_a_cursor_of_another_token_mailbox_or_folder_is_refused_like_an_invented_one(world: World, name: str) -> None:
    mine = cursor_of(world, "all", name)
    calls = [
        ("read", FIRST | {"cursor": mine}),
        ("work", FIRST | {"cursor": mine}),
        ("all", FIRST | {"mailbox": "strict", "cursor": mine}),
        ("all", FIRST | {"folder": "Sent", "cursor": mine}),
        ("owner", {"limit": 2, "mailbox": "private", "cursor": mine}),
        ("all", FIRST | {"cursor": mine[:-2]}),
        ("all", FIRST | {"cursor": "c1_AAAA"}),
        ("all", FIRST | {"cursor": "2"}),
    ]
    for token, arguments in calls:
        for told in pages(world, token, name, arguments):
            assert told.code == "validation_error", f"{token} {told.surface} {arguments}"
            assert told.body["error"]["details"] == {
                "argument": "cursor",
                "reason": "is not a cursor of this list; start again without a cursor",
            }
