"""What HTML says to whoever may read it: its source, the page as it is seen, and its letters run together."""

from __future__ import annotations

import html
from collections.abc import Iterator

from turbohtml import Element, Node, Text, parse

from postroom.mail.page import read_page
from postroom.mail.render import MAX_HTML, words_of_html

_UNREAD = frozenset(("script", "style"))
_LEADING = frozenset(
    (
        *("href", "xlink:href", "src", "action", "formaction", "background", "poster", "data", "cite", "ping"),
        *("longdesc", "manifest", "codebase"),
    )
)
"""Attributes that hold an address (HTML, index of attributes)."""


def readings(page: str) -> Iterator[str]:
    """Its source, all of its words, and those that a human sees; tags part the words as they do on a screen."""
    yield html.unescape(page)
    yield words_of_html(page)
    yield words_of_html(read_page(page).safe_html)


def run_together(page: str) -> str:
    """Its letters with nothing between that was not written: what tags and comments were put in to break up."""
    nodes = _nodes(page)
    return "".join(one.data for one in nodes if isinstance(one, Text))


def addresses_of(page: str) -> Iterator[str]:
    """The values of all attributes that lead somewhere, entities decoded."""
    for node in _nodes(page):
        if isinstance(node, Element):
            for name, value in node.attrs.items():
                if value and name.lower() in _LEADING:
                    yield value if isinstance(value, str) else " ".join(value)


def _nodes(page: str) -> Iterator[Node]:
    """In document order, without recursion."""
    stack: list[Node] = [parse(page[:MAX_HTML])]
    while stack:
        node = stack.pop()
        yield node
        if not (isinstance(node, Element) and node.tag in _UNREAD):
            stack.extend(reversed(list(node.children)))
