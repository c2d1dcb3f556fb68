"""What of a message's content may be read, and in which form: the projector, and nothing else makes a Reading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from postroom.mail.armour import armour_signals, without_armour
from postroom.mail.authentication import authentication
from postroom.mail.header import decode_words
from postroom.mail.lines import joined
from postroom.mail.markup import neutralised
from postroom.mail.model import Authentication, Body, Content, Head, Invitation, Link, Part, Reading
from postroom.mail.page import LINK_OPEN, Page, read_page
from postroom.mail.quotes import without_history
from postroom.mail.render import words_of_html
from postroom.mail.signals import SIGNALS, Household, sender_signals
from postroom.mail.unseen import tidy, tidy_piece, unseen_in, visible_line, without_unseen
from postroom.mail.url import Target, find_urls, read_url

LONG_LINK = 60
"""Characters of an address past which its host stands for it in the reader text; `links` has the whole of it."""
_STUB, _STUB_WORDS = 1_000, 8
"""Characters of a page that are looked at, and visible words up to which a longer text beside it says more."""
_ALIKE = 0.6
"""Share of common words under which two alternatives say different things (of the words of both together)."""
_IMAGE = re.compile(r"<img\b", re.IGNORECASE)
_METHODS = {
    "CANCEL": "Cancelled",
    "REPLY": "Answer to an invitation",
    "COUNTER": "Counter-proposal",
    "DECLINECOUNTER": "Counter-proposal declined",
    "PUBLISH": "Event",
}
"""What a calendar object is about, if not to invite (RFC 5546 1.4)."""
_SCHEME = re.compile(r"\A[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PLACE = re.compile("\x0e(\\d{1,7})\x0f")
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(f"[^\\W{_IDEOGRAPHS}]+|[{_IDEOGRAPHS}]")
"""A word, or a letter of a script that does not part its words."""
_PICTURE = re.compile(r"\[image: [^\]\n]{0,200}\]")
"""How a text tells of a picture that the page shows."""
_PLAIN_ADDRESS = re.compile(r"\A(?:https?://|mailto:)|/\Z")
_MOST_WORDS = 20_000
_MOST_LINKS = 2_000


@dataclass(frozen=True, slots=True)
class Setting:
    """What the operator has said about a mailbox that reading its mail depends on."""

    household: Household = field(default_factory=Household)
    trusted_authserv_ids: frozenset[str] = frozenset()
    trusted_hops: int = 1


class _Words(NamedTuple):
    """Text for a reader, the links in it, and what was noticed on the way."""

    text: str
    links: tuple[Link, ...]
    safe_html: str | None
    signals: frozenset[str]


def read(content: Content, head: Head, setting: Setting) -> Reading:
    """The content as an unbound token reads it: everything a human could see, and nothing that only a machine would."""
    told = authentication(head.fields, setting.trusted_authserv_ids, setting.trusted_hops)
    pages = _Pages()
    words = _best(content.bodies, pages)
    in_reply = head.in_reply_to is not None or bool(head.references)
    invitation = _visible_invitation(content.invitation)
    reader = words.text or _instead(content, words.signals, invitation)
    signals = words.signals | content.faults | sender_signals(head, setting.household) | _unseen(content, head)
    signals |= _judged(told, setting) | armour_signals(content.text or "")
    return Reading(
        parts=tuple(_visible_part(part) for part in content.parts),
        text=_plain(content, pages),
        html=None if content.html is None else without_unseen(content.html),
        reader=without_history(reader, head.subject, in_reply=in_reply),
        reader_quoted=reader,
        safe_html=words.safe_html,
        links=words.links,
        invitation=invitation,
        authentication=told,
        headers=tuple((one.name, visible_line(decode_words(one.value))) for one in head.fields),
        signals=tuple(name for name in SIGNALS if name in signals),
        truncated="truncated" in signals,
        by_section=content.by_section,
    )


class _Pages:
    """The pages of one message, each looked at once."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}

    def read(self, html: str) -> Page:
        if html not in self._pages:
            self._pages[html] = read_page(html, lambda text: neutralised(tidy_piece(text)))
        return self._pages[html]


def _plain(content: Content, pages: _Pages) -> str | None:
    """The plain text as it came; words of a page that stand in it are those that a human would see."""
    told = [body for body in content.bodies if body.in_text]
    if content.text is None or not any(body.is_html for body in told):
        return None if content.text is None else without_unseen(content.text)
    texts = [words_of_html(pages.read(body.text).safe_html) if body.is_html else body.text for body in told]
    return without_unseen(joined(texts))


# -- the best body


def _best(bodies: Sequence[Body], pages: _Pages) -> _Words:
    """All bodies in the message's order; of alternatives the page, since that is what a human is shown."""
    pieces = _told_once([_of_group(group, pages) for group in _groups(bodies)])
    html = [piece.safe_html for piece in pieces if piece.safe_html is not None]
    return _Words(
        "\n\n".join(piece.text for piece in pieces if piece.text),
        tuple(link for piece in pieces for link in piece.links)[:_MOST_LINKS],
        "\n".join(html) if html else None,
        frozenset[str]().union(*(piece.signals for piece in pieces)),
    )


def _told_once(pieces: list[_Words]) -> list[_Words]:
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


def _of_group(group: Sequence[Body], pages: _Pages) -> _Words:
    page = _joined([_of_page(pages.read(body.text)) for body in group if body.is_html])
    text = _joined([_of_text(body.text) for body in group if not body.is_html])
    if page is None or text is None:
        return page or text or _Words("", (), None, frozenset())
    differ = frozenset({"alternatives_differ"} if not _alike(page.text, text.text) else ())
    is_stub = _is_stub(page.text, text.text)
    chosen = text if is_stub else page
    return chosen._replace(safe_html=page.safe_html, signals=page.signals | text.signals | differ)


def _is_stub(page: str, text: str) -> bool:
    """Whether a page says next to nothing beside its text: it is one picture, or asks to be opened elsewhere."""
    words = len(_words(page[:_STUB]))
    return words <= _STUB_WORDS and len(_words(text[:_STUB])) >= 4 * max(1, words)


def _joined(pieces: Sequence[_Words]) -> _Words | None:
    pieces = list({piece.text: piece for piece in reversed(pieces)}.values())[::-1]
    if len(pieces) <= 1:
        return pieces[0] if pieces else None
    html = [piece.safe_html for piece in pieces if piece.safe_html is not None]
    return _Words(
        "\n\n".join(piece.text for piece in pieces),
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
    told = (word for word in _PICTURE.sub(" ", text).lower().split() if not _is_address(word))
    return _WORD.findall(" ".join(told))[:_MOST_WORDS]


def _is_address(word: str) -> bool:
    return "://" in word or "@" in word or (word[0] == "<" and word[-1] == ">")


def _of_page(page: Page) -> _Words:
    text, bare, odd = _with_short_links(neutralised(tidy(page.text, marks=True)))
    signals = page.signals | odd | unseen_in(page.text.translate(_NO_MARKS))
    return _Words(_placed(text, page.links).strip("\n"), (*page.links, *bare), page.safe_html, signals)


_NO_MARKS = {0x0E: None, 0x0F: None}


def _of_text(plain: str) -> _Words:
    text, bare, odd = _with_short_links(neutralised(tidy(without_armour(plain))))
    return _Words(text.strip("\n"), bare, None, odd)


# -- links


def _with_short_links(text: str) -> tuple[str, tuple[Link, ...], frozenset[str]]:
    """Text in which an address over `LONG_LINK` characters is shown as its host, the links in it, and their signals."""
    pieces, links, signals, position = [], list[Link](), set[str](), 0
    for start, end, written in find_urls(text):
        target = read_url(written if _SCHEME.match(written) else f"https://{written}")
        if target is None or len(links) == _MOST_LINKS:
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


# -- what else there is to know


def _unseen(content: Content, head: Head) -> frozenset[str]:
    """Signals of characters that nobody sees, in the head and in plain text; those of a page were noted with it."""
    return head.unseen.union(*(unseen_in(body.text) for body in content.bodies if not body.is_html))


def _judged(told: Authentication, setting: Setting) -> frozenset[str]:
    """Nothing known is a sign only where something is expected: where no server is trusted it goes for all mail."""
    if told.dmarc == "fail":
        return frozenset({"dmarc_fail"})
    return frozenset({"auth_unknown"} if told == Authentication() and setting.trusted_authserv_ids else ())


def _visible_part(part: Part) -> Part:
    return replace(part, filename=part.filename and visible_line(part.filename))


def _visible_invitation(invitation: Invitation | None) -> Invitation | None:
    if invitation is None:
        return None
    lines = {
        name: value and neutralised(visible_line(value))
        for name, value in ((name, getattr(invitation, name)) for name in ("method", "uid", "summary", "organizer"))
    }
    return replace(invitation, **lines, attendees=tuple(neutralised(visible_line(one)) for one in invitation.attendees))


def _instead(content: Content, signals: frozenset[str], invitation: Invitation | None) -> str:
    """What stands for words that a message does not have, or that nobody can tell."""
    if "too_complex" in signals:
        return "[What of this page can be seen is too complex to tell; view: html has all of it.]"
    if invitation:
        return _invitation_in_words(invitation)
    kind = next((name for name in ("encrypted", "signed") if name in content.faults), None)
    if kind:
        return f"[This message is {kind}: its words are in its attachments.]"
    return "[This page shows pictures and no words.]" if content.html and _IMAGE.search(content.html) else ""


def _invitation_in_words(invitation: Invitation) -> str:
    """For a message that is nothing but an invitation."""
    first = f"{_METHODS.get(invitation.method or '', 'Invitation')}: {invitation.summary or '(no title)'}"
    named = (("Start", invitation.start), ("End", invitation.end), ("Organizer", invitation.organizer))
    return "\n".join([first, *(f"{name}: {value}" for name, value in named if value)])
