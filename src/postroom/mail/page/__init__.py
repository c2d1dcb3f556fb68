"""For an HTML body as a human would see it: its words, its links, safe HTML, and what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from turbohtml import Element, parse

from postroom.mail.model import Link
from postroom.mail.page.cascade import Styles
from postroom.mail.page.css import Overload
from postroom.mail.page.loads import loads_remotely
from postroom.mail.page.pieces import Piece, Pieces
from postroom.mail.page.safe import Neutralise, SafeHtml
from postroom.mail.page.walk import PLAINLY, Manner, Walk
from postroom.mail.page.words import LINK_CLOSE, LINK_OPEN, Words

__all__ = ["LINK_CLOSE", "LINK_OPEN", "MAX_HTML", "Manner", "Page", "Piece", "read_page", "seen_pieces"]

MAX_HTML = 2 << 20
"""Characters of HTML that are looked at."""
_INTO_BODY = "<!DOCTYPE html><body>"
"""Put before a page it has all of it parsed inside the body, whose own attributes still count (HTML 13.2.6.4.7)."""


@dataclass(frozen=True, slots=True)
class Page:
    """An HTML body as it is seen."""

    text: str
    """Markdown with LF line ends. After the label of link n stand `LINK_OPEN`, n in decimal, `LINK_CLOSE`."""
    links: tuple[Link, ...]
    """In order of appearance."""
    safe_html: str
    signals: frozenset[str]
    """Of hidden_text, link_mismatch, suspicious_link, homograph_link, tracking_pixel, remote_content, too_complex,
    truncated."""
    pieces: tuple[Piece, ...] = ()
    """Of the safe HTML, where they were asked for instead of it."""


def _as_it_is(text: str) -> str:
    return text


def seen_pieces(html: str, manner: Manner) -> Page:
    """As `read_page`, with the pieces of the safe HTML instead of it."""
    pieces = Pieces()
    page = _read(html, pieces, manner)
    return replace(page, pieces=tuple(pieces.seen) if page.text or "too_complex" not in page.signals else ())


def read_page(html: str, neutralise: Neutralise = _as_it_is) -> Page:
    """A page as a human sees it: what is hidden by whatever means is not in it.

    `neutralise` is applied to each text of the safe HTML. Takes linear time; of a page whose styles ask for more work
    than a page may, nothing is shown, as nobody can say what of it is seen: `too_complex`.
    """
    return _read(html, SafeHtml(neutralise), PLAINLY)


def _read(html: str, safe: SafeHtml | Pieces, manner: Manner) -> Page:
    page = parse(_INTO_BODY + html[:MAX_HTML], positions=False, allow_declarative_shadow_roots=False)
    cut = {"truncated"} if len(html) > MAX_HTML else set()
    words = Words()
    try:
        styles = Styles(page)
        walk = Walk(page, styles, words, safe, manner)
        root = page.root
        if isinstance(root, Element):
            walk.go(root)
    except Overload:
        return Page("", (), "", frozenset(cut | {"too_complex"}))
    signals, text = walk.signals | cut, words.written()
    if walk.hides_words(text):
        signals.add("hidden_text")
    if loads_remotely(page, styles.sheets):
        signals.add("remote_content")
    if safe.is_cut:
        signals.add("truncated")
    return Page(text, tuple(walk.links), safe.written(), frozenset(signals))
