"""For asking a page which elements a selector names, and how strong it is (Selectors 4)."""

from __future__ import annotations

import re

from turbohtml import Document, Element, SelectorSyntaxError

from postroom.mail.page.css import Overload

MAX_STEPS = 20_000_000
"""Elements looked at, summed over the selectors of a page: about a second."""
MAX_MATCHES = 1_000_000
_HARD = 16
"""Steps that an element costs under a selector with combinators or functions; one for a plain one."""
MAX_SELECTOR = 2000
"""Characters of a selector list."""

_PART = re.compile(
    r"""(?:[^,()\[\]"'\\]|\\.|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\[(?:[^\]"']|"[^"]*+"|'[^']*+')*+\]|\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\))++""",
    re.DOTALL,
)
_PLAIN = re.compile(r"[\w-]*(?:[.#][\w-]+)?")
_PIECE = re.compile(
    r"""\\.|(?P<id>#)|(?P<class>\.(?!\d))|(?P<attribute>\[(?:[^\]"']|"[^"]*+"|'[^']*+')*+\]?)|(?P<element>::[\w-]+|:(?:before|after|first-line|first-letter)\b)"""
    r"""|:(?P<pseudo>[\w-]+)(?P<open>\()?|(?P<close>\))|(?<![\w\\#.:-])(?P<type>[a-zA-Z][\w-]*)""",
    re.DOTALL,
)
_PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-line|first-letter)\b", re.IGNORECASE)
_STATES = re.compile(
    r":(?:hover|focus|active|visited|focus-within|focus-visible|target|selection|-moz-[\w-]+|-ms-[\w-]+|-webkit-[\w-]+)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""\\.|\[(?:[^\]"']|"[^"]*+"|'[^']*+')*+\]""", re.DOTALL)
_NOTHING = re.compile(r":where\([^()]*\)", re.IGNORECASE)

Specificity = tuple[int, int, int]


class Elements:
    """The elements of a page, to be asked for by selector within a budget."""

    def __init__(self, page: Document) -> None:
        self._page = page
        self._count = max(len(page.select("*")), 1)
        self._steps = self._matches = 0
        self._known: dict[str, list[Element] | None] = {}

    def named(self, selector: str) -> list[Element] | None:
        """The elements one complex selector names; None if it cannot be understood.

        A pseudo-element, or a state such as `:hover` that a page at rest has not, names none.
        """
        if selector not in self._known:
            self._known[selector] = self._asked(selector)
        found = self._known[selector]
        self._matches += len(found or ())
        if self._matches > MAX_MATCHES:
            raise Overload
        return found

    def _asked(self, selector: str) -> list[Element] | None:
        bare = _QUOTED.sub("", selector)
        if _PSEUDO_ELEMENT.search(bare) or (_STATES.search(bare) and ":not(" not in bare):
            return []
        if bare.lower().count(":has(") > 1:  # in each other they take quadratic time
            return None
        self._steps += self._count * (1 if _PLAIN.fullmatch(selector) else _HARD)
        if self._steps > MAX_STEPS:
            raise Overload
        try:
            return self._page.select(selector)
        except SelectorSyntaxError:
            return None


def separate(selectors: str) -> list[str]:
    """The complex selectors of a list."""
    if not set(selectors) & set("()[]\"'\\"):
        return [part.strip() for part in selectors.split(",")]
    return [part.strip() for part in _PART.findall(selectors)]


def specificity(selector: str) -> Specificity:
    """Ids, then classes, attributes and pseudo-classes, then types (Selectors 4, 17).

    The arguments of :is(), :not() and :has() are summed up where the strongest would count; :where() is nothing.
    """
    ids = classes = types = 0
    for piece in _PIECE.finditer(_NOTHING.sub("", selector)):
        ids += piece["id"] is not None
        classes += piece["class"] is not None or piece["attribute"] is not None
        classes += piece["pseudo"] is not None and piece["pseudo"].lower() not in (
            "is",
            "not",
            "has",
            "where",
            "matches",
        )
        types += piece["type"] is not None or piece["element"] is not None
    return ids, classes, types
