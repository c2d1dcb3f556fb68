"""What of a message's content may be read, and in which form: the projector, and nothing else makes a Reading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from postroom.base.levels import Verdict
from postroom.mail.armour import armour_signals
from postroom.mail.authentication import authentication
from postroom.mail.header import decode_words
from postroom.mail.lines import joined
from postroom.mail.markup import neutralised
from postroom.mail.model import Authentication, Content, Head, Invitation, Part, Reading
from postroom.mail.quotes import without_history
from postroom.mail.render import words_of_html
from postroom.mail.signals import SIGNALS, Household, sender_signals
from postroom.mail.unseen import unseen_in, visible_line, without_unseen
from postroom.policy.bodies import best
from postroom.policy.contentrules import UNBOUND, BodyRule, ContentRules
from postroom.policy.heads import show_head
from postroom.policy.plainwords import PlainWords
from postroom.policy.projection import Projection, Shape

_IMAGE = re.compile(r"<img\b", re.IGNORECASE)
_METHODS: Mapping[str, str] = MappingProxyType(
    {
        "CANCEL": "Cancelled",
        "REPLY": "Answer to an invitation",
        "COUNTER": "Counter-proposal",
        "DECLINECOUNTER": "Counter-proposal declined",
        "PUBLISH": "Event",
    }
)
"""What a calendar object is about, if not to invite (RFC 5546 1.4)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What the operator has said about a mailbox that reading its mail depends on."""

    household: Household = field(default_factory=Household)
    trusted_authserv_ids: frozenset[str] = frozenset()
    trusted_hops: int = 1
    fence_key: bytes = b""
    """Of the boundaries around text where it is fenced; no sender can guess one while this is secret."""


@dataclass(frozen=True, slots=True)
class Projected:
    """A message's content under rules: what is shown of it, and what those rules decide on."""

    reading: Reading
    subject: str
    """As `text`, of the subject."""
    text: str
    """The filtered text of all bodies with nothing redacted, for the conditions of a policy; it is never shown."""
    found_in_subject: frozenset[str] = frozenset()
    """Names of detectors and patterns that found something there, whatever is done about it."""
    found_in_body: frozenset[str] = frozenset()
    verdict: Verdict = Verdict.ALLOW
    """The lowest that one of them demands."""
    is_whole: bool = False
    """`text` is all of it, though what is shown may be cut."""

    @property
    def detections(self) -> frozenset[str]:
        """Both together."""
        return self.found_in_subject | self.found_in_body


def read(content: Content, head: Head, setting: Setting) -> Reading:
    """The content as an unbound token reads it: everything a human could see, and nothing that only a machine would."""
    words = PlainWords()
    told = best(content.bodies, words)
    invitation = _visible_invitation(content.invitation)
    reader = told.text or _instead(content, told.signals, invitation, has_html=True)
    signals = told.signals | _signals(content, head, setting)
    return Reading(
        parts=tuple(_visible_part(part) for part in content.parts),
        text=_plain(content, words),
        html=None if content.html is None else without_unseen(content.html),
        reader=without_history(reader, head.subject, in_reply=_is_reply(head)),
        reader_quoted=reader,
        safe_html=told.safe_html,
        links=told.links,
        invitation=invitation,
        authentication=_authentication(head, setting),
        headers=tuple((one.name, visible_line(decode_words(one.value))) for one in head.fields),
        signals=tuple(name for name in SIGNALS if name in signals),
        truncated="truncated" in signals,
        by_section=content.by_section,
    )


def project(content: Content, head: Head, setting: Setting, rules: ContentRules) -> Projected:
    """The content under these rules. For `UNBOUND` itself it is as `read` has it, and nothing is looked for.

    Of two messages that differ in nothing but what is redacted or hidden the readings are equal.
    """
    if rules is UNBOUND:
        reading = read(content, head, setting)
        return Projected(reading, head.subject or "", reading.reader_quoted)
    projection = Projection(content, head, rules)
    shape = _shape(content, head, setting, projection) if rules.body is not BodyRule.NONE else Shape()
    reading = Reading(
        parts=projection.parts(),
        text=shape.text,
        html=None,
        reader=shape.reader,
        reader_quoted=shape.reader_quoted,
        safe_html=shape.safe_html,
        links=shape.links,
        invitation=projection.invitation if rules.body is not BodyRule.NONE else None,
        authentication=_authentication(head, setting),
        headers=tuple((one.name, one.value.decode()) for one in show_head(head, rules).fields),
        signals=_in_order(_signals(content, head, setting) | shape.signals, projection),
        truncated="truncated" in shape.signals | content.faults,
        by_section=content.by_section,
    )
    names = projection.names
    found = projection.found_in_subject, projection.found_in_body
    verdict = projection.redaction.verdict(names)
    return Projected(reading, projection.subject, projection.words, *found, verdict, projection.is_whole)


def withheld() -> Reading:
    """What is read of a message that a person must see first."""
    return Reading((), None, None, "", "", None, (), None, Authentication(), (), ("withheld",), truncated=False)


def _shape(content: Content, head: Head, setting: Setting, projection: Projection) -> Shape:
    told = projection.told()
    reader = told.text or _instead(content, told.signals, projection.invitation, has_html=False)
    return projection.shape(told, reader, in_reply=_is_reply(head), fence_key=setting.fence_key)


def _in_order(signals: frozenset[str], projection: Projection) -> tuple[str, ...]:
    known = tuple(name for name in SIGNALS if name in signals)
    return known + projection.redaction.signals(projection.names)


def _is_reply(head: Head) -> bool:
    return head.in_reply_to is not None or bool(head.references)


def _authentication(head: Head, setting: Setting) -> Authentication:
    return authentication(head.fields, setting.trusted_authserv_ids, setting.trusted_hops)


def _signals(content: Content, head: Head, setting: Setting) -> frozenset[str]:
    """What head and bodies give away whoever reads them; those of a page were noted with its words."""
    signals = content.faults | sender_signals(head, setting.household) | _unseen(content, head)
    return signals | _judged(_authentication(head, setting), setting) | armour_signals(content.text or "")


def _plain(content: Content, words: PlainWords) -> str | None:
    """The plain text as it came; words of a page that stand in it are those that a human would see."""
    told = [body for body in content.bodies if body.in_text]
    if content.text is None or not any(body.is_html for body in told):
        return None if content.text is None else without_unseen(content.text)
    texts = [words_of_html(words.page(body.text).safe_html) if body.is_html else body.text for body in told]
    return without_unseen(joined(texts))


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


def _instead(content: Content, signals: frozenset[str], invitation: Invitation | None, *, has_html: bool) -> str:
    """What stands for words that a message does not have, or that nobody can tell."""
    if "too_complex" in signals:
        return (
            f"[What of this page can be seen is too complex to tell{'; view: html has all of it' if has_html else ''}.]"
        )
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
