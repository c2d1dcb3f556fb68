"""Parsing what mail servers tell: in passing where it is little, in another thread where somebody would wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from postroom.imap.bodystructure import is_words_alone, read_structure
from postroom.imap.wire import Token
from postroom.mail.model import Content, Entity
from postroom.mail.parse import assemble, leaves, split_message

LITTLE = 32 * 1024
"""Octets and tokens of rows that are parsed in passing: some milliseconds' work."""
T = TypeVar("T")
_INLINE = 16 * 1024
"""Octets up to which parsing is done at once: a hostile head of that size costs some milliseconds."""


async def worked(parse: Callable[[bytes], T], octets: bytes) -> T:
    """Parse, in another thread if there is much to it, so that nobody else waits."""
    return parse(octets) if len(octets) <= _INLINE else await asyncio.to_thread(parse, octets)


def assembled(octets: bytes) -> Content:
    return assemble(split_message(octets))


def assembled_beginning(octets: bytes) -> Content:
    return assemble(split_message(octets, cut=True), frozenset({"truncated"}))


def has_attachments(structure: Token) -> bool | None:
    """Whether a message has attachments by its server's BODYSTRUCTURE; None when that cannot be read."""
    if is_words_alone(structure):
        return False
    entity: Entity | None = read_structure(structure)
    if entity is None:
        return None
    return any(not leaf.is_body for leaf in leaves(entity))


def is_tree(structure: Token) -> bool:
    """Whether there is more than one part to read in it."""
    return isinstance(structure, list) and bool(structure) and isinstance(structure[0], list)


def is_little(tokens: list[Token]) -> bool:
    """Whether all of these together are little to parse; lists are followed only until that is known."""
    left = LITTLE
    while tokens and left >= 0:
        token = tokens.pop()
        left -= len(token or b"") + 1
        if isinstance(token, list):
            tokens.extend(token)
    return left >= 0
