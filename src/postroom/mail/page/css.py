"""For reading CSS so that no escape, comment or entity can hide a declaration (CSS Syntax Level 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tinycss2

Declaration = tuple[str, str, bool]
"""Property in lower case, value in its plain spelling, and whether it is important."""

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_PLAIN = re.compile(
    r"""(?:(?i:url)\((?:[^\\"'()\[\]{}<\x00-\x20;/]|/(?!\*))*+\)|[^\\"'(){}\[\]@<\x00-\x08\x0b\x0e-\x1f/]|/(?!\*)"""
    r"""|"[^"\\\n\r\f;:]*+"|'[^'\\\n\r\f;:]*+'|\((?:[^\\"'(){}\[\];:@<\x00-\x08\x0b\x0e-\x1f/]|/(?!\*))*+\))*+"""
)
_CUSTOM = re.compile(r"--[\w-]++")
_CASED = re.compile(r"(--[\w-]+)|[A-Z]+")
_IMPORTANT = re.compile(r"[ \t\r\n\f]*![ \t\r\n\f]*important[ \t\r\n\f]*$", re.IGNORECASE)
_BLANK = " \t\r\n\f"
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_ODD = re.compile(r"[^\w-]")
_UNREADABLE = "\ufffd"
_DEEP = 8
"""Nested brackets that are looked into; no property we judge needs more."""

MAX_CSS = 256 << 10
"""Characters of a style that are worth the full parser, at 0.4 to 2.5 microseconds each."""


class Overload(Exception):
    """The page asks for more work than a page may."""


def names(text: str) -> frozenset[str]:
    """The names in a line of them, as tables of this package are written."""
    return frozenset(text.split())


def lower(text: str) -> str:
    """ASCII lower case, which is what CSS means by case-insensitive: no other letter becomes an ASCII one."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def declarations(text: str, wanted: frozenset[str]) -> list[Declaration]:
    """The declarations of a style attribute or of a rule's block, in order, valid or not.

    Those of the `wanted` properties and of custom ones (`--x`). A value is spelled plainly: lower case (but for names
    of custom properties), one blank where there were several, no comments, no escapes. Text without any of the traps
    takes a short cut that gives the same.
    """
    if _PLAIN.fullmatch(text):
        return list(_split(text, wanted))
    if len(text) > MAX_CSS:
        raise Overload
    content = tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True)
    return [parsed for node in content if (parsed := parsed_declaration(node, wanted))]


def parsed_declaration(node: Any, wanted: frozenset[str]) -> Declaration | None:
    """A wanted declaration that tinycss2 has parsed; None for everything else."""
    if node.type != "declaration" or not (node.lower_name in wanted or node.name.startswith("--")):
        return None
    name = node.name if node.name.startswith("--") else node.lower_name
    return name, _value(name, spelled(node.value)), node.important


def _split(text: str, wanted: frozenset[str]) -> Iterator[Declaration]:
    for piece in text.split(";"):
        name, colon, value = piece.partition(":")
        name = name.strip(_BLANK)
        if colon and ((low := lower(name)) in wanted or _CUSTOM.fullmatch(name)):
            important = _IMPORTANT.search(value) if "!" in value else None
            value = value[: important.start()] if important else value
            yield low if low in wanted else name, _value(name, value), important is not None


def _value(name: str, value: str) -> str:
    value = value.strip(_BLANK)
    if "  " in value or not value.isprintable():
        value = _BLANKS.sub(" ", value)
    if name.startswith("--"):
        return value
    return _CASED.sub(lambda match: match[1] or match[0].lower(), value) if "--" in value else lower(value)


def spelled(tokens: Iterable[Any], leaf: Callable[[Any], str] | None = None, depth: int = 0) -> str:
    """Component values as text again; `leaf` spells one that holds no others, by default without escapes."""
    if depth > _DEEP:
        return _UNREADABLE
    return "".join(_spelled(token, leaf or _leaf, depth) for token in tokens)


def _spelled(token: Any, leaf: Callable[[Any], str], depth: int) -> str:
    if token.type == "function":
        return f"{_word(str(token.lower_name))}({spelled(token.arguments, leaf, depth + 1)})"
    if token.type.endswith(" block"):
        return f"{token.type[0]}{spelled(token.content, leaf, depth + 1)}{token.type[1]}"
    return leaf(token)


def _leaf(token: Any) -> str:
    match token.type:
        case "ident":
            return _word(token.value)
        case "hash":
            return "#" + _word(token.value)
        case "dimension":
            return f"{token.representation}{_word(token.unit)}"
        case "percentage":
            return f"{token.representation}%"
        case "number":
            return str(token.representation)
        case "url":
            return f"url({_ODD_IN_URL.sub(_UNREADABLE, token.value)})"
        case "string":
            return '""'
        case "whitespace" | "comment":
            return " "
        case "literal":
            return str(token.value)
    return _UNREADABLE


_ODD_IN_URL = re.compile(r"[\s()\"'\\,]")


def _word(name: str) -> str:
    """An escaped blank or bracket in a name must not look like one of the grammar."""
    return _ODD.sub(_UNREADABLE, name)
