"""A server's BODYSTRUCTURE as MIME entities without octets: it says where octets lie, our parse says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from postroom.imap.wire import Token, as_int
from postroom.mail.model import Entity, Field

_MAX_PARTS = 1_000
_BASIC_TEXT = 8
"""Fields of a text part before its extension data: MD5, disposition, language, location (RFC 9051 7.5.2)."""
_DISPOSITION = 9
"""Where the disposition of a text part stands, if it has one."""
_LARGEST = 2**53 - 1
"""Octets that a body may have: what JSON can say exactly."""


def read_structure(token: Token) -> Entity | None:
    """The tree (RFC 9051 7.5.2), its header fields spelled out from what the server told; None if it is no tree."""
    counter = [0]
    entity = _entity(token, "", counter)
    if entity is None or counter[0] > _MAX_PARTS:
        return None
    return entity


def is_words_alone(token: Token) -> bool:
    """Whether a message is one text, or alternatives that are texts, as most are; False if it is unclear."""
    if not isinstance(token, list) or not token or not isinstance(token[0], list):
        return _is_text(token)
    parts = list(takewhile(lambda part: isinstance(part, list), token))
    kind = _at(token, len(parts))
    return isinstance(kind, bytes) and kind.lower() == b"alternative" and all(map(_is_text, parts))


def _is_text(token: Token) -> bool:
    """A text without a name or a disposition."""
    if not isinstance(token, list) or len(token) < _BASIC_TEXT or not isinstance(token[0], bytes):
        return False
    if token[0].lower() != b"text" or not isinstance(token[1], bytes) or token[1].lower() not in (b"plain", b"html"):
        return False
    if len(token) > _DISPOSITION and token[_DISPOSITION] is not None:
        return False
    parameters = token[2] if isinstance(token[2], list) else []
    return not any(map(_begins_a_name, parameters[::2]))


def _begins_a_name(parameter: Token) -> bool:
    return isinstance(parameter, bytes) and parameter[:4].lower() == b"name"


def _entity(token: Token, section: str, counter: list[int]) -> Entity | None:
    counter[0] += 1
    if not isinstance(token, list) or not token or counter[0] > _MAX_PARTS:
        return None
    if isinstance(token[0], list):
        return _multipart(token, section, counter)
    return _leaf(token, section or "1")


def _multipart(token: Sequence[Token], section: str, counter: list[int]) -> Entity | None:
    prefix = f"{section}." if section else ""
    children: list[Entity] = []
    for position, child in enumerate(token):
        if not isinstance(child, list):
            break
        entity = _entity(child, f"{prefix}{position + 1}", counter)
        if entity is None:
            return None
        children.append(entity)
    rest = token[len(children) :]
    subtype = rest[0] if rest else None
    if not isinstance(subtype, bytes):
        return None
    fields = _fields(b"multipart/" + subtype, _at(rest, 1), None, None, _at(rest, 2))
    return Entity(section, fields, tuple(children))


def _leaf(token: Sequence[Token], section: str) -> Entity | None:
    main, sub = _at(token, 0), _at(token, 1)
    length = as_int(_at(token, 6))
    if not isinstance(main, bytes) or not isinstance(sub, bytes) or length is None or length > _LARGEST:
        return None
    kind = (main + b"/" + sub).lower()
    fields = _fields(kind, _at(token, 2), _at(token, 3), _at(token, 5), _disposition(token, kind))
    return Entity(section, fields, octets=None, length=length)


def _disposition(token: Sequence[Token], kind: bytes) -> Token:
    """Extension data begins after the basic fields, of which text has one more and message/rfc822 three."""
    basic = 7 + (1 if kind.startswith(b"text/") else 3 if kind == b"message/rfc822" else 0)
    return _at(token, basic + 1)


def _fields(
    kind: bytes, parameters: Token, content_id: Token, encoding: Token, disposition: Token
) -> tuple[Field, ...]:
    fields = [Field("Content-Type", kind + _spelled(parameters))]
    if isinstance(content_id, bytes):
        fields.append(Field("Content-ID", content_id))
    if isinstance(encoding, bytes):
        fields.append(Field("Content-Transfer-Encoding", encoding))
    if isinstance(disposition, list) and disposition and isinstance(disposition[0], bytes):
        fields.append(Field("Content-Disposition", disposition[0] + _spelled(_at(disposition, 1))))
    elif isinstance(disposition, bytes):
        fields.append(Field("Content-Disposition", disposition))
    return tuple(fields)


def _spelled(parameters: Token) -> bytes:
    pairs = parameters if isinstance(parameters, list) else []
    spelled = b""
    for name, value in zip(pairs[::2], pairs[1::2], strict=False):
        if isinstance(name, bytes) and isinstance(value, bytes):
            quoted = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            spelled += b"; " + name + b'="' + quoted + b'"'
    return spelled


def _at(values: Sequence[Token], position: int) -> Token:
    return values[position] if position < len(values) else None
