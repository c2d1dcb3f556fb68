"""For the style rules of a sheet that hold in the reference environment, in order (CSS Syntax 3, Conditional 3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import tinycss2

from postroom.mail.page.css import MAX_CSS, Declaration, Overload, declarations, names, parsed_declaration, spelled
from postroom.mail.page.media import applies
from postroom.mail.page.properties import RELEVANT

MAX_RULES = 20_000
"""Of a page: far more than anybody writes."""
_DEEP = 8
"""At-rules and nested rules in each other that are followed."""

_ATOM = re.compile(r"""(?i:url)\(\s*+(?!["'\s])[^()]*+\)|"[^"\n\r\f]*+"|'[^'\n\r\f]*+'|/\*.*?(?:\*/|\Z)""", re.DOTALL)
_PLAIN = re.compile(
    r"""(?:[^"'()\[\]\\<\x00]|"[^"\n\r\f{};@\\]*+"|'[^'\n\r\f{};@\\]*+'|\[(?:[^\[\]()"'{};@\\]|"[^"{};@\\]*+"|'[^'{};@\\]*+')*+\]"""
    r"""|\((?:[^()\[\]"'{};@\\]|"[^"{};@\\]*+"|'[^'{};@\\]*+'|\((?:[^()\[\]"'{};@\\]|\([^()\[\]"'{};@\\]*+\))*+\))*+\))*+"""
)
_STEP = re.compile(r"([^{};]*+)([{};])")
_BODY = re.compile(r"([^{}]*+)(?:\}|\Z)")
_AT = re.compile(r"@([\w-]+)\s*(.*)", re.DOTALL)
_LONE = frozenset(" \t\r\n\f{};,")
_WITHOUT_TEXT = names(
    "font-face page keyframes property counter-style font-feature-values font-palette-values namespace import charset "
    "color-profile view-transition position-try viewport"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A style rule: its selector list as written, and its declarations."""

    selector: str
    declarations: tuple[Declaration, ...]
    certain: bool = True
    """False where a browser might leave it out: it then may hide, but not show."""
    layer: str | None = None
    """The cascade layer (CSS Cascade 5); None is outside all of them, which is stronger."""


@dataclass(frozen=True, slots=True)
class _Context:
    """What the at-rules around say: does what is in here hold?"""

    holds: bool | None = True
    layer: str | None = None

    def rule(self, selector: str, body: Iterable[Declaration]) -> Iterator[Rule]:
        known = tuple(body) if self.holds is not False else ()
        if known:
            yield Rule(selector, known, self.holds is True, self.layer)


def rules(text: str, media: str = "") -> Iterator[Rule]:
    """The rules of a style element whose `media` attribute is given.

    A sheet without any trap (no escapes, no brackets or braces in strings, nothing left open) is cut at its braces,
    which takes a tenth of the time and gives the same as the full parser.
    """
    context = _Context(applies(media))
    plain = _plain(text)
    found = None if plain is None else _cut(plain, context)
    if found is None and len(text) > MAX_CSS:
        raise Overload
    yield from _parsed(text, context) if found is None else found


def _plain(text: str) -> str | None:
    """The text without comments and addresses; None if cutting it might go wrong."""
    text = text.strip()
    if text.startswith("<!--"):
        text = text[4:].removesuffix("-->")
    if "\\" in text or "-->" in text:
        return None
    text = _ATOM.sub(_shorter, text)
    return text if _PLAIN.fullmatch(text) else None


def _shorter(match: re.Match[str]) -> str:
    """A comment that parts two words says something, and is left for the full parser to see."""
    atom = match[0]
    if not atom.startswith("/*"):
        return "url(u)" if atom[0] in "uU" else atom
    before = match.string[match.start() - 1 : match.start()] or " "
    after = match.string[match.end() : match.end() + 1] or " "
    return "" if before in _LONE or after in _LONE else "\\"


def _cut(text: str, context: _Context) -> list[Rule] | None:
    """Rules by braces; None where that is not enough: rules in rules, stray marks, named layers."""
    found: list[Rule] = []
    around = [context]
    at = 0
    while around and (step := _STEP.match(text, at)):
        prelude, mark, at = step[1].strip(), step[2], step.end()
        if mark == "}":
            around.pop()
        elif prelude.startswith("@") or around[-1].holds is False:
            if mark == "{":
                around.append(_inside(prelude, around[-1]))
            elif prelude.startswith("@layer"):
                return None
        else:
            body = _BODY.match(text, at) if mark == "{" else None
            if not body:
                return None
            found.extend(around[-1].rule(prelude, declarations(body[1], RELEVANT)))
            at = body.end()
    return found if around else None


def _inside(prelude: str, context: _Context) -> _Context:
    """What holds inside the block of an at-rule."""
    match = _AT.fullmatch(prelude)
    name, condition = (match[1].lower(), match[2].strip()) if match else ("", "")
    if (
        context.holds is False
        or name.removeprefix("-webkit-").removeprefix("-moz-").removeprefix("-ms-") in _WITHOUT_TEXT
    ):
        return replace(context, holds=False)
    if name == "media":
        return replace(context, holds=_both(context.holds, applies(condition)))
    if name == "layer":
        return replace(context, layer=".".join(filter(None, (context.layer, condition or "\0"))))
    return context if name == "supports" and not condition.lower().startswith("not") else replace(context, holds=None)


def _both(one: bool | None, other: bool | None) -> bool | None:
    return False if False in (one, other) else None if None in (one, other) else True


def _parsed(text: str, context: _Context) -> Iterator[Rule]:
    """The same by tinycss2."""
    yield from _listed(tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True), context, 0)


def _listed(nodes: Iterable[Any], context: _Context, depth: int) -> Iterator[Rule]:
    for node in nodes:
        if node.type == "qualified-rule":
            yield from _nested(_selector(node.prelude), node.content, context, depth)
        elif node.type == "at-rule":
            yield from _grouped(node, context, depth)


def _grouped(node: Any, context: _Context, depth: int) -> Iterator[Rule]:
    prelude = f"@{node.lower_at_keyword} {spelled(node.prelude).strip()}"
    if node.content is None and node.lower_at_keyword == "layer" and context.holds is not False:
        for name in prelude[7:].split(","):
            yield Rule("", (), layer=".".join(filter(None, (context.layer, name.strip()))))
    inside = _inside(prelude, context)
    if node.content is not None and inside.holds is not False and depth < _DEEP:
        content = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
        yield from _listed(content, inside, depth + 1)


def _nested(selector: str, content: Any, context: _Context, depth: int) -> Iterator[Rule]:
    """A rule and the rules in it (CSS Nesting 1)."""
    nodes = tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)
    yield from context.rule(selector, (parsed for node in nodes if (parsed := parsed_declaration(node, RELEVANT))))
    for node in nodes if depth < _DEEP and len(selector) < 1000 else ():
        if node.type == "qualified-rule":
            inner = _selector(node.prelude)
            whole = inner.replace("&", f":is({selector})") if "&" in inner else f":is({selector}) {inner}"
            yield from _nested(whole, node.content, context, depth + 1)
        elif node.type == "at-rule" and node.content is not None:
            inside = _inside(f"@{node.lower_at_keyword} {spelled(node.prelude).strip()}", context)
            yield from _nested(selector, node.content, inside, depth + 1) if inside.holds is not False else ()


def _selector(tokens: Iterable[Any]) -> str:
    """Selectors keep their escapes: they are read by a parser of their own."""
    return spelled(tokens, lambda token: "" if token.type == "comment" else token.serialize()).strip()
