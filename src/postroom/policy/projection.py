"""The content of one message under rules: filtered, its links reduced, redacted, without history, cut and marked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial

from postroom.base.levels import Finding
from postroom.mail.armour import without_armour
from postroom.mail.model import Body, Content, Head, Invitation, Link, Part
from postroom.mail.page import Manner, Page, seen_pieces
from postroom.mail.page.pieces import Kind, Piece
from postroom.mail.quotes import without_history
from postroom.mail.unseen import unseen_in
from postroom.policy.bodies import Words, best
from postroom.policy.contentrules import BodyRule, ContentRules, HistoryRule
from postroom.policy.detectors.links import asks_to_act
from postroom.policy.detectors.otp import tells_of_codes
from postroom.policy.detectors.shadow import shadow
from postroom.policy.heads import Lines, show_filename
from postroom.policy.redaction import SCAN_CHARS, Redaction
from postroom.policy.shownhtml import ShownHtml
from postroom.policy.shownlinks import LinkPass, Numbering
from postroom.policy.spotlight import cut, marked
from postroom.policy.strings import filtered, filtered_line, harmless

_MARK = re.compile("\x0e\\d{1,7}\x0f")
_PLAIN = re.compile(r"[\w.+/-]{1,127}", re.ASCII)
_LINE = 500
"""Characters of a field of an invitation, and of a link's label."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The words of a message in the forms in which they are shown."""

    text: str | None = None
    reader: str = ""
    reader_quoted: str = ""
    safe_html: str | None = None
    links: tuple[Link, ...] = ()
    signals: frozenset[str] = frozenset()


class Projection:
    """One message under rules. Everything is decided on text as it is shown, so that nothing tells of what is not."""

    def __init__(self, content: Content, head: Head, rules: ContentRules) -> None:
        self.redaction = Redaction(rules)
        self.subject = filtered_line(head.subject or "", rules)
        self._rules, self._content, self._head = rules, content, head
        self._manner = Manner(unwrap=rules.unwrap, hidden=rules.mark_hidden, alts=rules.image_alt)
        self._pages: dict[str, Page] = {}
        self._texts: dict[tuple[str, bool], Words] = {}
        self.words = "\n".join(self._seen())
        told = asks_to_act(shadow(self.subject)) or asks_to_act(shadow(self.words))
        removes = self.redaction.action("reset_link") <= Finding.REDACT
        self._lines = Lines(rules, self.redaction)
        # A label or a field that stands alone is judged by what the message is about.
        self._context = f"{self.subject}\n{'OTP' if tells_of_codes(shadow(self.words)) else ''}"
        of_link = partial(self.redaction.redacted, context=self._context)
        self._links = LinkPass(rules, of_link, told=told, removes=removes)
        is_one = len({body.alternative or str(at) for at, body in enumerate(content.bodies)}) <= 1
        self._beside = self.subject if is_one else self._context
        self.found_in_subject = self.redaction.names(self.subject, subject=True)
        self.found_in_body = self.redaction.names(self.words, self.subject)
        self.invitation = self._shown_invitation(content.invitation) if rules.calendar else None

    @property
    def names(self) -> frozenset[str]:
        """Names of all detectors and patterns that found something, whatever is done about it."""
        return self.found_in_subject | self.found_in_body

    @property
    def is_whole(self) -> bool:
        """Whether everything was looked through, however little of it is shown."""
        pages = [self._page(body.text) for body in self._content.bodies if body.is_html]
        signals = self._content.faults.union(*(page.signals | _cut(page.text) for page in pages))
        return "truncated" not in signals.union(*(_cut(body.text) for body in self._content.bodies if not body.is_html))

    def _seen(self) -> list[str]:
        """All bodies as text, filtered and nothing more; of an invitation its words."""
        texts = []
        for body in self._content.bodies:
            text = _MARK.sub("", self._page(body.text).text) if body.is_html else body.text
            texts.append(filtered(text[:SCAN_CHARS], self._rules))
        one = self._content.invitation
        texts += [filtered_line(f"{one.summary or ''} {one.organizer or ''}", self._rules)] if one else []
        return list(dict.fromkeys(texts))

    def _page(self, html: str) -> Page:
        if html not in self._pages:
            self._pages[html] = seen_pieces(html, self._manner)
        return self._pages[html]

    # -- bodies

    def told(self) -> Words:
        """The best of the bodies."""
        return best(self._content.bodies, self, self._together)

    def _together(self, texts: list[str]) -> list[str]:
        return self.redaction.redacted_together(texts, self._beside)

    def of_page(self, html: str) -> Words:
        if (html, True) not in self._texts:
            page = self._page(html)
            shown = self._links.without_references(filtered(page.text[:SCAN_CHARS], self._rules, marks=True))
            text = self._redacted(self._links.shown_page(shown, page))
            odd = unseen_in(_MARK.sub("", page.text)) | _cut(page.text)
            self._texts[html, True] = Words(text, (), html, page.signals | odd)
        return self._texts[html, True]

    def of_text(self, plain: str) -> Words:
        if (plain, False) not in self._texts:
            text = filtered(without_armour(plain[:SCAN_CHARS]), self._rules)
            text = self._redacted(self._links.shown(self._links.without_references(text)))
            self._texts[plain, False] = Words(text, (), None, _cut(plain))
        return self._texts[plain, False]

    def _redacted(self, text: str) -> str:
        """Text whose links are reduced, as it may be shown; the filter has to pass over what was made of it."""
        text = filtered(harmless(text, self._rules), self._rules)
        return self.redaction.redacted(text, self._beside).strip("\n")

    # -- the forms in which they are shown

    def shape(self, told: Words, reader: str, *, in_reply: bool, fence_key: bytes) -> Shape:
        """All forms of the best body, of which `reader` is the text."""
        numbering, most = Numbering(), self._rules.max_chars
        full = numbering.numbered(reader)
        new = without_history(full, self._head.subject, in_reply=in_reply)
        quoted = self._with_history(full, new)
        plain = self._plain()
        forms = [cut(text, most) for text in (new, quoted, numbering.numbered(plain or ""))]
        html, is_html_cut = self._html(numbering) if self._has_html(told) else (None, False)
        shown = [marked(one, self._rules.spotlight, fence_key, self._head.message_id or "") for one, _ in forms]
        signals = told.signals | {name for name in self._links.signals if name != "reset_link"}
        self.found_in_body |= self.redaction.met | (self._links.signals & {"reset_link"})
        return Shape(
            text=None if plain is None else shown[2],
            reader=shown[0],
            reader_quoted=shown[1],
            safe_html=html,
            links=numbering.links(self._links.links, self._label),
            signals=signals | ({"truncated"} if is_html_cut or any(is_cut for _, is_cut in forms) else set()),
        )

    def _with_history(self, full: str, new: str) -> str:
        if self._rules.history is HistoryRule.KEEP or full == new:
            return full
        lines = len(full.split("\n")) - len(new.split("\n"))
        return f"{new}\n\n[quoted: {max(lines, 1)} lines]" if self._rules.history is HistoryRule.COLLAPSE else new

    def _plain(self) -> str | None:
        texts = [self._of(body).text for body in self._content.bodies if body.in_text]
        return None if self._content.text is None else "\n".join(self._together(texts))

    def _of(self, body: Body) -> Words:
        return self.of_page(body.text) if body.is_html else self.of_text(body.text)

    def _has_html(self, told: Words) -> bool:
        return self._rules.body is BodyRule.TEXT_AND_HTML and told.safe_html is not None

    def _html(self, numbering: Numbering) -> tuple[str | None, bool]:
        """The safe HTML of the pages; None where nh3 would have more to take from it."""
        shown = ShownHtml(self._rules, self.redaction, self._links, self._beside)
        bodies = {body.text: body for body in self._content.bodies if body.is_html or body.alternative is None}
        read = [self._pieces(body, shown) for body in bodies.values()]
        pages = [
            pieces for body, pieces in zip(bodies.values(), shown.redacted_together(read), strict=True) if body.is_html
        ]
        written = [shown.written(pieces, numbering) for pieces in pages]
        return "\n".join(html for html, _ in written) or None, any(is_cut for _, is_cut in written)

    def _pieces(self, body: Body, shown: ShownHtml) -> list[Piece]:
        """A page, or the text that is read before or behind one."""
        if body.is_html:
            return shown.pieces(self._page(body.text))
        return [Piece(Kind.TEXT, self.of_text(body.text).text)]

    # -- what else is shown

    def _label(self, text: str) -> str:
        return self._lines.told(self._links.label(text), _LINE, self._context)

    def _line(self, text: str) -> str:
        return self._lines.shown(text, _LINE, self._context)

    def _shown_invitation(self, one: Invitation | None) -> Invitation | None:
        if one is None:
            return None
        names = ("method", "uid", "summary", "start", "end", "organizer")
        values = {name: getattr(one, name) for name in names}
        lines = {name: value and self._line(value) for name, value in values.items()}
        return replace(one, **lines, attendees=tuple(map(self._line, one.attendees)))

    def parts(self) -> tuple[Part, ...]:
        """The parts with names that may be shown; the size of what is read as text is not told."""
        return tuple(
            replace(
                part,
                filename=show_filename(part.filename, self._rules),
                content_type=self._token(part.content_type),
                charset=part.charset and self._token(part.charset),
                content_id=part.content_id and self._lines.shown(part.content_id, _LINE),
                size=None if part.is_body else part.size,
            )
            for part in self._content.parts
        )

    def _token(self, text: str) -> str:
        return text if _PLAIN.fullmatch(text) else self._lines.shown(text, 127)


def _cut(text: str) -> frozenset[str]:
    return frozenset({"truncated"} if len(text) > SCAN_CHARS else ())
