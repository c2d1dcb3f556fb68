"""The words of a body as an unbound reader has them: all that a human could see, with long addresses made short."""

from __future__ import annotations

import re
from collections.abc import Sequence

from postroom.mail.armour import without_armour
from postroom.mail.markup import neutralised
from postroom.mail.model import Link
from postroom.mail.page import LINK_OPEN, Page, read_page
from postroom.mail.unseen import tidy, tidy_piece, unseen_in
from postroom.mail.url import Target, find_urls, read_url
from postroom.policy.bodies import MOST_LINKS, Words

LONG_LINK = 60
"""Characters of an address past which its host stands for it in the reader text; `links` has the whole of it."""
_SCHEME = re.compile(r"\A[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PLACE = re.compile("\x0e(\\d{1,7})\x0f")
_PLAIN_ADDRESS = re.compile(r"\A(?:https?://|mailto:)|/\Z")


class PlainWords:
    """The pages of one message, each looked at once, and its texts."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}

    def page(self, html: str) -> Page:
        if html not in self._pages:
            self._pages[html] = read_page(html, lambda text: neutralised(tidy_piece(text)))
        return self._pages[html]

    def of_page(self, html: str) -> Words:
        return _words_of(self.page(html))

    def of_text(self, plain: str) -> Words:
        text, bare, odd = _with_short_links(neutralised(tidy(without_armour(plain))))
        return Words(text.strip("\n"), bare, None, odd)


def _words_of(page: Page) -> Words:
    text, bare, odd = _with_short_links(neutralised(tidy(page.text, marks=True)))
    signals = page.signals | odd | unseen_in(page.text.translate(_NO_MARKS))
    return Words(_placed(text, page.links).strip("\n"), (*page.links, *bare), page.safe_html, signals)


_NO_MARKS = {0x0E: None, 0x0F: None}


# -- links


def _with_short_links(text: str) -> tuple[str, tuple[Link, ...], frozenset[str]]:
    """Text in which an address over `LONG_LINK` characters is shown as its host, the links in it, and their signals."""
    pieces, links, signals, position = [], list[Link](), set[str](), 0
    for start, end, written in find_urls(text):
        target = read_url(written if _SCHEME.match(written) else f"https://{written}")
        if target is None or len(links) == MOST_LINKS:
            continue
        link = Link(written, target.href, target.host, mismatch=False)
        # The label of a link, which has been told already, ends at the mark behind it.
        links += [] if text.startswith(LINK_OPEN, end) else [link]
        signals |= _signs(target)
        # Where a wrapper was undone, the address leads elsewhere than it says.
        is_direct = _SCHEME.sub("", written.lower()).lstrip("/").startswith(target.host)
        as_written = is_direct and len(written) <= LONG_LINK and not target.suspicious
        pieces += [text[position:start], written if as_written else _address(link)]
        position = end
    return "".join([*pieces, text[position:]]), tuple(links), frozenset(signals)


def _signs(target: Target) -> set[str]:
    named = (("suspicious_link", target.suspicious), ("homograph_link", target.homograph))
    return {name for name, is_so in named if is_so}


def _address(link: Link) -> str:
    return link.href if len(link.href) <= LONG_LINK else f"<{link.host}>"


def _placed(text: str, links: Sequence[Link]) -> str:
    """Text with each link's address behind its label, unless the label is the address.

    A host that stands for long addresses is told with the first of them: a newsletter has fifty.
    """
    told: set[str] = set()

    def address(match: re.Match[str]) -> str:
        link = links[int(match[1])] if int(match[1]) < len(links) else None
        if link is None or not link.href or link.text.strip() == link.host or _is_same(link.text, link.href):
            return ""
        is_long = len(link.href) > LONG_LINK
        if is_long and link.host in told and not link.mismatch:
            return ""
        told.add(link.host)
        return f" <{link.host if is_long else link.href}>"

    return _PLACE.sub(address, text)


def _is_same(label: str, address: str) -> bool:
    return _PLAIN_ADDRESS.sub("", label.strip()) == _PLAIN_ADDRESS.sub("", address)
