"""For an element's own declarations: style sheets, style attribute and presentational attributes in cascade order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turbohtml import Document, Element

from postroom.mail.page.colours import legacy_colour
from postroom.mail.page.css import Declaration, Overload, declarations, names
from postroom.mail.page.properties import RELEVANT, longhands
from postroom.mail.page.selectors import MAX_SELECTOR, Elements, Specificity, separate, specificity
from postroom.mail.page.sheet import MAX_RULES, Rule, rules
from postroom.mail.page.state import VARIABLE, State, Style, descend

MAX_SHEETS = 512 << 10
"""Characters of style sheets of a page; mail services take a tenth of it."""
Rank = tuple[int, Specificity, int]
"""Layer, specificity, order: the greater wins."""

_BUTTON = (("color", "#000"), ("background-color", "#efefef"), ("font-size", "13.333px"))
_DEFAULTS: dict[str, Iterable[tuple[str, str]]] = {
    "h1": [("font-size", "2em")],
    "h2": [("font-size", "1.5em")],
    "h3": [("font-size", "1.17em")],
    "h5": [("font-size", "0.83em")],
    "h6": [("font-size", "0.67em")],
    "small": [("font-size", "smaller")],
    "big": [("font-size", "larger")],
    "sub": [("font-size", "smaller")],
    "sup": [("font-size", "smaller")],
    "pre": [("white-space", "pre")],
    "listing": [("white-space", "pre")],
    "button": _BUTTON,
    "mark": [("color", "#000"), ("background-color", "#ff0")],
}
"""What a browser gives these elements by itself (HTML 15.3)."""
_LINK = (("color", "#00e"),)
_FONT_SIZES = ("x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large")
_COLOURED = names("body table thead tbody tfoot tr td th marquee")
_STYLED = frozenset({*_DEFAULTS, *_COLOURED, "font", "a"})
_PRESENTATION = ("", "text/css")


class Styles:
    """The styles of a page: asked for each element on the way down, with the state of its parent."""

    def __init__(self, page: Document) -> None:
        self._named: dict[Element, list[int]] = {}
        self._ranked: list[tuple[Rank, list[Declaration]]] = []
        self._styles: dict[object, Style] = {}
        self._same: dict[tuple[tuple[str, str], ...], Style] = {}
        self._states: dict[tuple[int, int], State] = {}
        self._hidden = frozenset(page.select("[hidden], [popover]"))
        self.sheets: list[str] = []
        self._read_sheets(page)

    def own(self, element: Element, tag: str) -> Style | None:
        """The element's own declarations after the cascade; None if there are none that matter."""
        attr = element.attr
        hints = _hints(element, tag) if tag in _STYLED else ()
        named = self._named.get(element) if self._named else None
        style = attr("style")
        hidden = element in self._hidden
        if not (hints or named or style or hidden):
            return None
        key = (hints, tuple(named or ()), style, hidden)
        known = self._styles.get(key)
        if known is None:
            known = self._styles[key] = self._cascaded(hints, named or (), style or "", hidden)
        return known or None

    def state(self, parent: State, own: Style | None) -> State:
        """The state of an element under a parent; elements that say nothing share their parent's."""
        if own is None:
            return parent
        key = (id(parent), id(own))
        known = self._states.get(key)
        if known is None:
            known = self._states[key] = descend(parent, own)
        return known

    def _cascaded(self, hints: Iterable[tuple[str, str]], named: Iterable[int], style: str, hidden: bool) -> Style:
        ranked = sorted((self._ranked[index] for index in named), key=lambda one: one[0])
        inline = declarations(style, RELEVANT) if style else []
        known: dict[str, str] = {}
        for name, value in hints:
            _set(known, name, value)
        for _, body in ranked:
            _add(known, body, important=False)
        _add(known, inline, important=False)
        for _, body in sorted(ranked, key=lambda one: (-one[0][0], *one[0][1:])):  # layers turn round (Cascade 5, 6.4)
            _add(known, body, important=True)
        _add(known, inline, important=True)
        if hidden:
            known["-hidden"] = "hidden"
        return self._same.setdefault(tuple(known.items()), known)

    def _read_sheets(self, page: Document) -> None:
        found: list[Rule] = []
        size = 0
        for sheet in page.find_all("style"):
            if (sheet.attr("type") or "").strip().lower() in _PRESENTATION:
                self.sheets.append(sheet.text)
                size += len(sheet.text)
                if size > MAX_SHEETS:
                    raise Overload
                found.extend(rules(sheet.text, sheet.attr("media") or ""))
        if len(found) > MAX_RULES:
            raise Overload
        layers = {layer: at for at, layer in enumerate(dict.fromkeys(rule.layer for rule in found if rule.layer))}
        elements = Elements(page)
        for order, rule in enumerate(found):
            self._apply(rule, layers.get(rule.layer or "", len(layers)), order, elements)

    def _apply(self, rule: Rule, layer: int, order: int, elements: Elements) -> None:
        body = list(rule.declarations)
        if not body:
            return
        if len(rule.selector) > MAX_SELECTOR:
            raise Overload
        parts = separate(rule.selector)
        matched = [(part, elements.named(part)) for part in parts]
        if not rule.certain or any(found is None for _, found in matched):
            body = list(_hiding(body))
        for part, found in matched if body else ():
            if found:
                self._ranked.append(((layer, specificity(part), order), body))
                for element in found:
                    self._named.setdefault(element, []).append(len(self._ranked) - 1)


def _hiding(body: Iterable[Declaration]) -> Iterator[Declaration]:
    """What a rule that may not hold is believed: that it hides."""
    body = list(body)
    alone: dict[str, str] = {}
    _add(alone, body, important=False)
    _add(alone, body, important=True)
    state = descend(State(), alone)
    if state.hidden or not state.legible:
        yield from body


def _add(known: dict[str, str], body: Iterable[Declaration], *, important: bool) -> None:
    for name, value, urgent in body:
        if urgent is important:
            _set(known, name, value)


def _set(known: dict[str, str], name: str, value: str) -> None:
    """The later declaration wins, also over shorthands before it."""
    if "--" in name or "var(" in value:
        known[VARIABLE] = "var"
    for longhand, single in longhands(name, value):
        known.pop(longhand, None)
        known[longhand] = single


def _hints(element: Element, tag: str) -> tuple[tuple[str, str], ...]:
    """Presentational attributes and defaults, weaker than any rule (HTML 15.2)."""
    attr = element.attr
    if tag == "a":
        return _LINK if attr("href") is not None else ()
    hints = tuple(_DEFAULTS.get(tag, ()))
    if tag == "font":
        return hints + _font(attr("color"), attr("size"))
    if tag in _COLOURED:
        ground, image, ink = attr("bgcolor"), attr("background"), attr("text") if tag == "body" else None
        for name, value in (("background-color", ground), ("color", ink)):
            shade = legacy_colour(value) if value else None
            hints += ((name, shade),) if shade else ()
        hints += (("background-image", "url(u)"),) if image else ()
    return hints


def _font(shade: str | None, size: str | None) -> tuple[tuple[str, str], ...]:
    hints: tuple[tuple[str, str], ...] = ()
    if shade and (legacy := legacy_colour(shade)):
        hints += (("color", legacy),)
    digits = (size or "").strip()
    if digits.lstrip("+-").isdecimal() and digits.isascii():
        number = int(digits[:3]) + (3 if digits[0] in "+-" else 0)
        hints += (("font-size", _FONT_SIZES[min(max(number, 1), 7) - 1]),)
    return hints
