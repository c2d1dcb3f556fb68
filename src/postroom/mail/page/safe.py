"""For HTML that is safe to show: built anew from what is seen, and passed by nh3 as its last gate."""

from __future__ import annotations

import re
from collections.abc import Callable

import nh3

from postroom.mail.page.css import names

MAX_DEPTH = 256
"""Levels that are kept: a sanitizer may take quadratic time on depth."""
MAX_LENGTH = 1 << 20
"""Characters that are built: a sanitizer may take quadratic time on the ampersands of one text."""
_HALF_ENTITY = re.compile("&[^;]{0,5}$")
_ROUNDS = 3

_KEPT = names(
    "p br div span h1 h2 h3 h4 h5 h6 ul ol li table thead tbody tr td th blockquote pre code b strong i em u s a hr"
)
_BOXES = names(
    "section article header footer main nav aside center figure figcaption dl dt dd address fieldset form details "
    "summary hgroup search"
)
_SHOWN_AS = (
    {tag: tag for tag in _KEPT}
    | dict.fromkeys(_BOXES, "div")
    | {"tfoot": "tbody", "menu": "ul", "dir": "ul", "listing": "pre", "cite": "i"}
    | {"strike": "s", "del": "s", "ins": "u", "tt": "code", "samp": "code", "kbd": "code"}
)
_VOID = names("br hr")
_SPANS = ("colspan", "rowspan")

Neutralise = Callable[[str], str]

_CLEANER = nh3.Cleaner(
    tags=set(_KEPT),
    attributes={"a": {"href"}, "td": set(_SPANS), "th": set(_SPANS)},
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
)


class SafeHtml:
    """What is seen of a page, as elements of a short list without anything that acts, loads or styles."""

    def __init__(self, neutralise: Neutralise) -> None:
        self._neutralise = neutralise
        self._pieces: list[str] = []
        self._depth = 0
        self._left = MAX_LENGTH

    @property
    def is_cut(self) -> bool:
        """There was more than fits."""
        return self._left < 0

    def text(self, words: str) -> None:
        if self._left > 0:
            self._add(_escaped(self._neutralise(words)))

    def _add(self, piece: str) -> None:
        self._left -= len(piece)
        self._pieces.append(piece if self._left >= 0 else _HALF_ENTITY.sub("", piece[: self._left]))

    def begin(self, tag: str, attributes: str = "", address: str = "", *, block: bool = False) -> str:
        """The start tag of an element, if it has one here; answers what `end` is to be given.

        `address` is where a link leads; whether it is a `block` makes no difference here.
        """
        attributes = href(address) if address else attributes
        shown = _SHOWN_AS.get(tag, "")
        if not shown or (shown == "a" and not attributes) or self._depth >= MAX_DEPTH or self._left <= 0:
            return ""
        self._left -= len(shown) + len(attributes) + 2
        self._pieces.append(f"<{shown}{attributes}>")
        if shown in _VOID:
            return ""
        self._depth += 1
        return f"</{shown}>"

    def end(self, tag: str) -> None:
        if tag:
            self._depth -= 1
            self._left -= len(tag)
            self._pieces.append(tag)

    def link(self, number: int) -> None:
        """The link that has just ended; its address stands in its attribute."""

    def written(self) -> str:
        """The HTML, which nh3 has no more to take from; empty where it never comes to rest."""
        text = "".join(self._pieces)
        for _ in range(_ROUNDS):
            cleaned = _CLEANER.clean(text)
            if cleaned == text:
                return text
            text = cleaned
        return ""


def _escaped(text: str) -> str:
    """As a browser writes text (HTML 13.3), and so nh3."""
    return text.replace("&", "&amp;").replace("\xa0", "&nbsp;").replace("<", "&lt;").replace(">", "&gt;")


def href(target: str) -> str:
    """The attribute of a link."""
    return f' href="{_escaped(target).replace(chr(34), "&quot;")}"'


def spans(colspan: str | None, rowspan: str | None) -> str:
    """The attributes of a table cell that spans others."""
    given = (("colspan", colspan), ("rowspan", rowspan))
    return "".join(f' {name}="{value}"' for name, value in given if value and value.isascii() and value.isdecimal())
