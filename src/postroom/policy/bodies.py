"""Which of a message's bodies is its words: of alternatives the page that a human is shown, unless it is a stub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from postroom.mail.model import Body, Link

MOST_LINKS = 2_000
_STUB, _STUB_WORDS = 1_000, 8
"""Characters of a page that are looked at, and visible words up to which a longer text beside it says more."""
_ALIKE = 0.6
"""Share of common words under which two alternatives say different things (of the words of both together)."""
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(f"[^\\W{_IDEOGRAPHS}]+|[{_IDEOGRAPHS}]")
"""A word, or a letter of a script that does not part its words."""
_OURS = re.compile(r"\[image: [^\]\n]{0,200}\]|‹(?:link|bad link)[^‹›\n]{0,8200}›")
"""How a text tells of a picture or of a link that the page shows."""
_MOST_WORDS = 20_000


class Words(NamedTuple):
    """Text for a reader, the links in it, and what was noticed on the way."""

    text: str
    links: tuple[Link, ...]
    safe_html: str | None
    """None if it comes of no page."""
    signals: frozenset[str]


class Maker(Protocol):
    """Makes words of one body."""

    def of_page(self, html: str) -> Words: ...

    def of_text(self, plain: str) -> Words: ...


Together = Callable[[list[str]], list[str]]
"""Makes of texts that are read one after another as many that may be."""


def best(bodies: Sequence[Body], maker: Maker, together: Together = list) -> Words:
    """All bodies in the message's order; of alternatives the page, since that is what a human is shown."""
    pieces = _told_once([_of_group(group, maker, together) for group in _groups(bodies)])
    texts = together([piece.text for piece in pieces])
    html = [piece.safe_html for piece in pieces if piece.safe_html is not None]
    return Words(
        "\n\n".join(text for text in texts if text),
        tuple(link for piece in pieces for link in piece.links)[:MOST_LINKS],
        "\n".join(html) if html else None,
        frozenset[str]().union(*(piece.signals for piece in pieces)),
    )


def _told_once(pieces: list[Words]) -> list[Words]:
    """Without texts that say in the same words what a page says beside them, in no alternative."""
    if len(pieces) <= 1:
        return pieces
    pages = [_words(piece.text) for piece in pieces if piece.safe_html is not None]
    return [piece for piece in pieces if piece.safe_html is not None or (_words(piece.text) or None) not in pages]


def _groups(bodies: Sequence[Body]) -> Iterator[list[Body]]:
    """Bodies that say the same, as alternatives; any other stands alone."""
    together: dict[str, list[Body]] = {}
    for body in bodies:
        if body.alternative is None:
            yield from together.values()
            together = {}
            yield [body]
        else:
            together.setdefault(body.alternative, []).append(body)
    yield from together.values()


def _of_group(group: Sequence[Body], maker: Maker, together: Together) -> Words:
    page = _joined([maker.of_page(body.text) for body in group if body.is_html], together)
    text = _joined([maker.of_text(body.text) for body in group if not body.is_html], together)
    if page is None or text is None:
        return page or text or Words("", (), None, frozenset())
    differ = frozenset({"alternatives_differ"} if not _alike(page.text, text.text) else ())
    is_stub = _is_stub(page.text, text.text)
    chosen = text if is_stub else page
    return chosen._replace(safe_html=page.safe_html, signals=page.signals | text.signals | differ)


def _is_stub(page: str, text: str) -> bool:
    """Whether a page says next to nothing beside its text: it is one picture, or asks to be opened elsewhere."""
    words = len(_words(page[:_STUB]))
    return words <= _STUB_WORDS and len(_words(text[:_STUB])) >= 4 * max(1, words)


def _joined(pieces: Sequence[Words], together: Together) -> Words | None:
    pieces = list({piece.text: piece for piece in reversed(pieces)}.values())[::-1]
    if len(pieces) <= 1:
        return pieces[0] if pieces else None
    html = [piece.safe_html for piece in pieces if piece.safe_html is not None]
    return Words(
        "\n\n".join(together([piece.text for piece in pieces])),
        tuple(link for piece in pieces for link in piece.links),
        "\n".join(html) if html else None,
        frozenset[str]().union(*(piece.signals for piece in pieces)),
    )


def _alike(first: str, second: str) -> bool:
    """Whether a page's text and the one beside it share most of their words; one that says nothing hides nothing."""
    one, other = set(_words(first)), set(_words(second))
    return not other or len(one & other) / len(one | other) >= _ALIKE


def _words(text: str) -> list[str]:
    """Words in order, without addresses, of which a text has many that a page has behind its words."""
    told = (word for word in _OURS.sub(" ", text).lower().split() if not _is_address(word))
    return _WORD.findall(" ".join(told))[:_MOST_WORDS]


def _is_address(word: str) -> bool:
    return "://" in word or "@" in word or (word[0] == "<" and word[-1] == ">")
