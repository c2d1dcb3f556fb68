"""What of a message's content may be read, and in which form: the projector, and nothing else makes a Reading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from postroom.mail.authentication import authentication
from postroom.mail.header import decode_words
from postroom.mail.markup import neutralised
from postroom.mail.model import Authentication, Body, Content, Head, Invitation, Link, Part, Reading
from postroom.mail.page import read_page
from postroom.mail.quotes import without_history
from postroom.mail.signals import SIGNALS, Household, sender_signals
from postroom.mail.unseen import tidy, unseen_in, visible_line, without_unseen
from postroom.mail.url import Target, find_urls, read_url

LONG_LINK = 60
"""Characters of an address past which its host stands for it in the reader text; `links` has the whole of it."""
_STUB, _STUB_WORDS = 1_000, 8
"""Characters of a page that are looked at, and visible words up to which a longer text beside it says more."""
_ALIKE = 0.6
"""Share of common words under which two alternatives say different things (of the words of both together)."""
_SCHEME = re.compile(r"\A[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PLACE = re.compile("\x0e(\\d{1,7})\x0f")
_ARMOUR = re.compile(r"^-----BEGIN PGP (MESSAGE|SIGNED MESSAGE)-----\s*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
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
    words = _best(content.bodies)
    invitation = _visible_invitation(content.invitation)
    reader = words.text or _instead(words.signals, invitation)
    signals = words.signals | content.faults | sender_signals(head, setting.household) | _unseen(content, head)
    signals |= _judged(told, setting) | _armoured(content.text)
    return Reading(
        parts=tuple(_visible_part(part) for part in content.parts),
        text=None if content.text is None else without_unseen(content.text),
        html=None if content.html is None else without_unseen(content.html),
        reader=without_history(reader, head.subject),
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


# -- the best body


def _best(bodies: Sequence[Body]) -> _Words:
    """All bodies in the message's order; of alternatives the page, since that is what a human is shown."""
    pieces = [_of_group(group) for group in _groups(bodies)]
    pages = [piece.safe_html for piece in pieces if piece.safe_html is not None]
    return _Words(
        "\n\n".join(piece.text for piece in pieces if piece.text),
        tuple(link for piece in pieces for link in piece.links)[:_MOST_LINKS],
        "\n".join(pages) if pages else None,
        frozenset[str]().union(*(piece.signals for piece in pieces)),
    )


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


def _of_group(group: Sequence[Body]) -> _Words:
    pages = [_of_page(body.text) for body in group if body.is_html]
    texts = [_of_text(body.text) for body in group if not body.is_html]
    page, text = _joined(pages), _joined(texts)
    if page is None or text is None:
        return page or text or _Words("", (), None, frozenset())
    differ = frozenset({"alternatives_differ"} if not _alike(page.text, text.text) else ())
    is_stub = _is_stub(page.text, text.text)
    chosen = text if is_stub else page
    return chosen._replace(safe_html=page.safe_html, signals=page.signals | text.signals | differ)


def _is_stub(page: str, text: str) -> bool:
    """Whether a page says next to nothing beside its text: it is one picture, or asks to be opened elsewhere."""
    words = len(_WORD.findall(page[:_STUB]))
    return words <= _STUB_WORDS and len(_WORD.findall(text[:_STUB])) >= 4 * max(1, words)


def _joined(pieces: Sequence[_Words]) -> _Words | None:
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
    """Whether two texts share most of their words."""
    one, other = (set(_WORD.findall(text.lower())[:_MOST_WORDS]) for text in (first, second))
    together = len(one | other)
    return not together or len(one & other) / together >= _ALIKE


def _of_page(html: str) -> _Words:
    page = read_page(html, lambda text: neutralised(tidy(text)))
    text, bare, odd = _with_short_links(neutralised(tidy(page.text, marks=True)))
    signals = page.signals | odd | unseen_in(page.text.translate(_NO_MARKS))
    return _Words(_placed(text, page.links).strip("\n"), (*page.links, *bare), page.safe_html, signals)


_NO_MARKS = {0x0E: None, 0x0F: None}


def _of_text(plain: str) -> _Words:
    text, bare, odd = _with_short_links(neutralised(tidy(plain)))
    return _Words(text.strip("\n"), bare, None, odd)


# -- links


def _with_short_links(text: str) -> tuple[str, tuple[Link, ...], frozenset[str]]:
    """Text in which an address over `LONG_LINK` characters is shown as its host, the links in it, and their signals."""
    pieces, links, signals, position = [], list[Link](), set[str](), 0
    for start, end, written in find_urls(text):
        target = read_url(written if _SCHEME.match(written) else f"https://{written}")
        if target is None or len(links) == _MOST_LINKS:
            continue
        links.append(Link(written, target.href, target.host, mismatch=False))
        signals |= _signs(target)
        # Where a wrapper was undone, the address leads elsewhere than it says.
        is_direct = _SCHEME.sub("", written.lower()).lstrip("/").startswith(target.host)
        as_written = is_direct and len(written) <= LONG_LINK and not target.suspicious
        pieces += [text[position:start], written if as_written else _address(links[-1])]
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
        if link is None or not link.href or link.text.strip() in (link.href, link.host):
            return ""
        is_long = len(link.href) > LONG_LINK
        if is_long and link.host in told and not link.mismatch:
            return ""
        told.add(link.host)
        return f" <{link.host if is_long else link.href}>"

    return _PLACE.sub(address, text)


# -- what else there is to know


def _unseen(content: Content, head: Head) -> frozenset[str]:
    """Signals of characters that nobody sees, in whatever a sender wrote."""
    texts = [content.text, content.html, *(part.filename for part in content.parts)]
    return head.unseen.union(*(unseen_in(text) for text in texts if text))


def _judged(told: Authentication, setting: Setting) -> frozenset[str]:
    """Nothing known is a sign only where something is expected: where no server is trusted it goes for all mail."""
    if told.dmarc == "fail":
        return frozenset({"dmarc_fail"})
    return frozenset({"auth_unknown"} if told == Authentication() and setting.trusted_authserv_ids else ())


def _armoured(text: str | None) -> frozenset[str]:
    """OpenPGP in the text itself (RFC 9580 6.2)."""
    match = _ARMOUR.search(text or "")
    return frozenset() if match is None else frozenset({"encrypted" if match[1] == "MESSAGE" else "signed"})


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


def _instead(signals: frozenset[str], invitation: Invitation | None) -> str:
    """What stands for words that a message does not have, or that nobody can tell."""
    if "too_complex" in signals:
        return "[What of this page can be seen is too complex to tell; view: html has all of it.]"
    return _invitation_in_words(invitation) if invitation else ""


def _invitation_in_words(invitation: Invitation) -> str:
    """For a message that is nothing but an invitation."""
    named = (("Invitation", invitation.summary), ("Start", invitation.start), ("End", invitation.end))
    lines = [f"{name}: {value}" for name, value in (*named, ("Organizer", invitation.organizer)) if value]
    return "\n".join(lines)
