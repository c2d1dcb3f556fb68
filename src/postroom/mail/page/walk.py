"""For going through a page once, from top to bottom, and noting down what a human would see of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from turbohtml import Document, Element, Node, Text

from postroom.mail.model import Link
from postroom.mail.page.cascade import Styles
from postroom.mail.page.css import names
from postroom.mail.page.loads import is_pixel, is_remote_image
from postroom.mail.page.pieces import Pieces
from postroom.mail.page.rows import tabular_rows
from postroom.mail.page.safe import MAX_DEPTH, SafeHtml, spans
from postroom.mail.page.state import State, Style
from postroom.mail.page.words import INLINE, LINE, PARAGRAPH, Words
from postroom.mail.url import Target, is_mismatch, is_suspicious_scheme, read_url

_NEVER = names(
    "head title meta style script template noscript noembed noframes iframe object embed applet svg math select option "
    "optgroup datalist textarea input audio video canvas dialog map xmp plaintext frameset frame link base progress "
    "meter"
)
"""Elements whose content is never text."""
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_PARAGRAPHS = names("p h1 h2 h3 h4 h5 h6 dl pre figure listing blockquote")
_LINES = names(
    "address article aside body caption center dd details div dt fieldset figcaption footer form header hgroup hr "
    "legend li main nav search section summary table tbody tfoot thead tr td th button"
)
_GAPS = dict.fromkeys(_PARAGRAPHS, PARAGRAPH) | dict.fromkeys(_LINES, LINE)
_LISTS = names("ul ol menu dir")
_BREAKING = frozenset({"block", "flex", "grid", "table", "list-item", "flow-root"})
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f]")
_SEEN = re.compile(
    "[^\\s\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0]"
)
"""Anything but blanks and fillers, which say nothing where they are hidden."""
_INDENT = re.compile(r"margin:0(?:px)?0(?:px)?0(?:px)?40px;border:none", re.IGNORECASE)
"""How editors of the web indent what is no quotation (HTML, execCommand `indent`)."""
_WORD = re.compile(r"\w+")
_MOST_HIDDEN = 20_000
"""Characters of hidden text that are compared with what is seen."""
_RUBY_BRACKETS = frozenset("()（）[]【】")
"""Shown for readers of text, though a page that can set ruby hides them (HTML 15.3.4)."""
MAX_LABEL = 500
"""Characters of a link's label that are kept beside its target."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What a page is to tell beside what is seen of it."""

    unwrap: bool = True
    """Known wrappers of links are undone."""
    hidden: bool = False
    """Text that no human sees, as `[hidden: ...]`."""
    alts: bool = False
    """The words that stand for a picture, as `[image: ...]`."""


PLAINLY = Manner()
MAX_ALT = 80
"""Characters of the words for a picture."""


@dataclass(slots=True, eq=False)
class _End:
    """What is to be done where an element ends."""

    tag: str
    state: State
    """Of what follows."""
    safe: str
    gap: int
    target: Target | None = None
    quote: bool = False
    row: bool = False
    blank: bool = False
    """An empty cell that leaves a place in its row."""


class Walk:
    """One way through a page; afterwards the words, the safe HTML, the links and the signals are there."""

    def __init__(
        self, page: Document, styles: Styles, words: Words, safe: SafeHtml | Pieces, manner: Manner = PLAINLY
    ) -> None:
        self.links: list[Link] = []
        self.signals: set[str] = set()
        self._styles = styles
        self._words = words
        self._safe = safe
        self._manner = manner
        self._labels: list[list[str]] = []
        self._rows, self._blanks = tabular_rows(page)
        self._depth = 0
        self._hidden_texts: list[str] = []
        self._hidden_left = _MOST_HIDDEN

    def go(self, root: Element) -> None:
        """Every element once, and without recursion: what is left to do stands on a stack."""
        state = State()
        left: list[Node | _End] = [root]
        while left:
            item = left.pop()
            if type(item) is Text:
                self._text(item.data, state)
            elif type(item) is _End:
                self._leave(item)
                state = item.state
            elif type(item) is Element:
                own = self._styles.own(item, item.tag)
                inner = self._styles.state(state, own)
                if self._is_passed_over(item, inner, own):
                    continue
                left.append(self._enter(item, state, inner, own))
                left.extend(reversed(item.children))
                state = inner

    def _text(self, text: str, state: State) -> None:
        if not state.legible:
            self._hidden(text)
            return
        is_plain = text.isprintable()
        if not is_plain:
            text = _CONTROLS.sub("", text)
        if state.keeps_lines:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
            self._words.kept(text)
        else:
            text = text if is_plain and "  " not in text else _BLANKS.sub(" ", text)
            self._words.text(text)
        self._safe.text(text)
        if self._labels:
            self._labels[-1].append(text)

    def _hidden(self, text: str) -> None:
        if self._manner.hidden and _SEEN.search(text):
            self._aside("hidden", text)
        if self._hidden_left < 0 or not _SEEN.search(text):
            return
        self._hidden_left -= len(text)
        self._hidden_texts.append(text)

    def _aside(self, kind: str, text: str) -> None:
        """Words that the page does not show, marked as such."""
        told = f"[{kind}: {' '.join(_CONTROLS.sub('', text).split())}]"
        self._words.text(told)
        self._safe.text(told)

    def hides_words(self, visible: str) -> bool:
        """Whether anything is hidden that the page does not say elsewhere, as copies for small screens do."""
        if self._hidden_left < 0:
            return True
        hidden = set(_WORD.findall(" ".join(self._hidden_texts).lower()))
        return bool(self._hidden_texts) and not (hidden and hidden <= set(_WORD.findall(visible.lower())))

    def _is_passed_over(self, element: Element, state: State, own: Style | None) -> bool:
        """What has no inside: the hidden, the never shown, and the void."""
        tag = element.tag
        if state.hidden:
            self._hidden("" if tag in _NEVER else element.text)
            self._images([element, *element.select("img")], None, hidden=True)
            return True
        if tag == "rp" and element.text.strip() not in _RUBY_BRACKETS:
            self._hidden(element.text)
            return True
        if tag == "img":
            self._images([element], own, hidden=not state.shown)
        elif tag == "br" and state.legible:
            self._words.line_end()
            self._safe.begin("br")
        elif tag == "hr" and state.shown:
            self._words.rule()
            self._safe.begin("hr")
        return tag in _NEVER or tag in ("img", "br", "hr", "wbr", "col")

    def _images(self, elements: Iterable[Element], own: Style | None, *, hidden: bool) -> None:
        for element in elements:
            if element.tag == "img":
                if is_remote_image(element) and (hidden or is_pixel(element, own)):
                    self.signals.add("tracking_pixel")
                if self._labels and not hidden:
                    self._labels[-1].append("")
                if self._manner.alts and not hidden and (element.attr("alt") or "").strip():
                    self._aside("image", _shortened(element.attr("alt") or ""))

    def _enter(self, element: Element, outer: State, inner: State, own: Style | None) -> _End:
        tag = element.tag
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.signals.add("too_complex")
        end = _End(tag, outer, "", _gap(tag, own))
        attributes = ""
        if tag == "a":
            end.target = self._target(element.attr("href"))
            self._labels.append([])
        elif tag in ("td", "th"):
            attributes = spans(element.attr("colspan"), element.attr("rowspan"))
            end.blank = element in self._blanks
        elif tag == "blockquote":
            end.quote = not _INDENT.match("".join((element.attr("style") or "").split()))
        elif tag == "tr":
            end.row = element in self._rows
        address = end.target.href if end.target else ""
        is_block = end.gap != INLINE or tag in ("td", "th", "li")
        end.safe = self._safe.begin(tag, attributes, address, block=is_block)
        self._begin(element, end)
        return end

    def _begin(self, element: Element, end: _End) -> None:
        words, tag = self._words, end.tag
        if end.gap:
            words.block(end.gap)
        if tag == "li" and end.gap:
            words.item()
        elif tag in _HEADINGS:
            words.mark(_HEADINGS[tag])
        elif tag in _LISTS:
            words.list_begins(_first(element) if tag == "ol" else None)
        elif end.quote:
            words.quote(1)
        elif end.row:
            words.row(1)

    def _leave(self, end: _End) -> None:
        words, tag = self._words, end.tag
        self._depth -= 1
        self._safe.end(end.safe)
        if tag == "a":
            self._link(end.target, self._labels.pop())
        elif tag in _LISTS:
            words.list_ends()
        elif end.quote:
            words.quote(-1)
        elif tag == "li" or tag in _HEADINGS:
            words.unmark()
        elif tag in ("td", "th"):
            words.cell(blank=end.blank)
        elif end.row:
            words.row(-1)
        if end.gap:
            words.block(end.gap)

    def _target(self, given: str | None) -> Target | None:
        target = read_url(given, unwrap=self._manner.unwrap) if given else None
        if given and target is None and is_suspicious_scheme(given):
            self.signals.add("suspicious_link")
        return target

    def _link(self, target: Target | None, label: list[str]) -> None:
        """Notes a link that can be seen, by words or by an image."""
        text = "".join(label)
        if target is None or not (text.strip() or "" in label):
            return
        if self._labels:  # a link in a link, by way of a table
            self._labels[-1].append(text)
        text = " ".join(text[: 4 * MAX_LABEL].split())[:MAX_LABEL]
        link = Link(text, target.href, target.host, is_mismatch(text, target))
        if text:
            self._words.link(len(self.links))
            self._safe.link(len(self.links))
        self.links.append(link)
        flags = (
            ("link_mismatch", link.mismatch),
            ("suspicious_link", target.suspicious),
            ("homograph_link", target.homograph),
        )
        self.signals.update(name for name, is_set in flags if is_set)


def _gap(tag: str, own: Style | None) -> int:
    """The distance an element keeps from its neighbours; its display may change it."""
    gap = _GAPS.get(tag, INLINE)
    display = own.get("display", "") if own else ""
    if display == "inline":
        return INLINE
    return LINE if gap == INLINE and display in _BREAKING else gap


def _shortened(alt: str) -> str:
    return alt if len(alt) <= MAX_ALT else alt[: MAX_ALT - 1] + "…"


def _first(element: Element) -> int:
    start = element.attr("start") or "1"
    return int(start) if start.isascii() and start.isdecimal() and len(start) < 6 else 1
