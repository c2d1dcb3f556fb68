"""A large message by section: the server says where octets lie, the sections' own MIME headers what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from postroom.imap import commands
from postroom.imap.bodystructure import read_structure
from postroom.imap.commands import Items
from postroom.imap.connection import Connection
from postroom.mail.entity import media_type, transfer_encoding
from postroom.mail.header import parse_fields
from postroom.mail.model import Entity
from postroom.mail.parse import split, wanted
from postroom.mail.sizes import base64_size

_AT_ONCE = 50
_MOST_SECTIONS = 200
"""Sections past which a message is looked at from its beginning instead: no ordinary message has so many."""
TEXT = 1024 * 1024
"""Octets of one text section that are fetched; what lies behind is cut, and said so."""
_MOST_OCTETS = 4 * 1024 * 1024
"""Octets of all sections together."""
_UNTOLD = 128 * 1024
"""Octets of headers and delimiters that a message may have beside its sections."""
_EDGE = 512
_HEAD = 8 * 1024
"""Octets of an attached message that are fetched: its subject names it."""
_IDENTITY = {"7bit", "8bit", "binary"}


async def fetch_sections(connection: Connection, items: Items, beginning: bytes) -> Entity | None:
    """The message as an entity whose text sections have octets; None if its server's BODYSTRUCTURE cannot be used."""
    outline = read_structure(items.structure)
    if outline is None or len(_sections(outline)) > _MOST_SECTIONS or _leaves_out(outline, items.size):
        return None
    head, _ = split(beginning)
    headers = await _mime_headers(connection, items.uid, outline)
    if headers is None:
        return None
    entity = _with_fields(outline, headers | {outline.section: head})
    if any(_is_misdrawn(one) for one in _sections(entity)):
        return None
    octets = await _octets(connection, items.uid, entity)
    return None if octets is None else _with_octets(entity, octets)


def _leaves_out(outline: Entity, size: int | None) -> bool:
    """Whether the message is so much larger than its sections that some of them are not told."""
    told = sum(one.length or 0 for one in _sections(outline) if not one.children)
    return size is not None and size - told > max(_UNTOLD, size // 4)


def _is_misdrawn(entity: Entity) -> bool:
    """Whether the outline and the entity's own header differ about its having parts."""
    return bool(entity.children) is not media_type(entity.fields).value.startswith("multipart/")


def _sections(entity: Entity) -> list[Entity]:
    found = [entity]
    for child in entity.children:
        found.extend(_sections(child))
    return found


async def _mime_headers(connection: Connection, uid: int, outline: Entity) -> dict[str, bytes] | None:
    wanted_sections = [entity.section for entity in _sections(outline) if entity is not outline]
    found: dict[str, bytes] = {}
    for start in range(0, len(wanted_sections), _AT_ONCE):
        names = wanted_sections[start : start + _AT_ONCE]
        answer = await commands.uid_fetch(connection, [uid], " ".join(f"BODY.PEEK[{name}.MIME]" for name in names))
        items = answer.messages.get(uid)
        if items is None or answer.refused:
            return None
        for name in names:
            header = items.sections.get((f"{name}.MIME", 0))
            if header is None:
                return None
            found[name] = header
    return found


def _with_fields(entity: Entity, headers: Mapping[str, bytes]) -> Entity:
    children = tuple(_with_fields(child, headers) for child in entity.children)
    return replace(entity, fields=parse_fields(headers[entity.section]), children=children)


async def _octets(connection: Connection, uid: int, entity: Entity) -> Mapping[tuple[str, int], bytes] | None:
    """The beginning of each text section, and both ends of each base64 one, from which its size follows.

    Each is asked for one octet more than it is said to have. None if the server refuses, leaves a text out or has
    more of it: its BODYSTRUCTURE does not speak of what is there.
    """
    asked = _asked(entity)
    found: dict[tuple[str, int], bytes] = {}
    for start in range(0, len(asked), _AT_ONCE):
        answer = await commands.uid_fetch(connection, [uid], " ".join(asked[start : start + _AT_ONCE]))
        if answer.refused:
            return None
        if uid in answer.messages:
            found.update(answer.messages[uid].sections)
    lengths = {one.section: one.length or 0 for one in _sections(entity)}
    left_out = any(
        lengths[section] and _was_asked(section, asked) and (section, 0) not in found for section in wanted(entity)
    )
    longer = any(len(found.get((section, 0), b"")) > length for section, length in lengths.items())
    return None if left_out or longer else found


def _was_asked(section: str, asked: list[str]) -> bool:
    return any(one.startswith(f"BODY.PEEK[{section}]<0.") for one in asked)


def _asked(entity: Entity) -> list[str]:
    bodies, left, asked = set(wanted(entity)), _MOST_OCTETS, []
    for leaf in (one for one in _sections(entity) if not one.children):
        length, encoding = leaf.length or 0, transfer_encoding(leaf.fields)
        if leaf.section not in bodies and encoding == "base64" and length > 2 * _EDGE:
            asked.append(f"BODY.PEEK[{leaf.section}]<0.{_EDGE}>")
            asked.append(f"BODY.PEEK[{leaf.section}]<{length - _EDGE}.{_EDGE + 1}>")
        elif media_type(leaf.fields).value == "message/rfc822":
            asked.append(f"BODY.PEEK[{leaf.section}]<0.{_HEAD}>")
            asked.extend([_end_of(leaf.section, length)] if length > _HEAD else [])
        elif leaf.section in bodies or encoding not in _IDENTITY:
            take = min(length + 1, TEXT, left)
            left -= take
            asked.extend([f"BODY.PEEK[{leaf.section}]<0.{take}>"] if take else [])
        elif length:
            asked.append(_end_of(leaf.section, length))
    return asked


def _end_of(section: str, length: int) -> str:
    """The last octet of a section, and what comes after it if its length is not right."""
    return f"BODY.PEEK[{section}]<{length - 1}.2>"


def _with_octets(entity: Entity, octets: Mapping[tuple[str, int], bytes]) -> Entity:
    if entity.children:
        return replace(entity, children=tuple(_with_octets(child, octets) for child in entity.children))
    length = entity.length or 0
    first = octets.get((entity.section, 0), None if length else b"")
    end = octets.get((entity.section, length - 1)) if length > 1 else None
    right = end is None or len(end) == 1
    size = length if right and transfer_encoding(entity.fields) in _IDENTITY else None
    if first is None:
        return replace(entity, size=size)
    last = octets.get((entity.section, length - _EDGE))
    if last is not None and last is not first:
        return replace(entity, size=base64_size(length, first, last) if len(last) == _EDGE else None)
    return replace(entity, octets=first, size=size, cut=len(first) < length)
