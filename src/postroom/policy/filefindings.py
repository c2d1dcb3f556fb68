"""Whether a file may leave whole, by what its words say: the same words that are looked through in one that is sent."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.base.kleene import Truth
from postroom.mail.filewords import FileWords
from postroom.mail.unseen import without_unseen
from postroom.policy.contentrules import ContentRules
from postroom.policy.outbound.decoding import decoded
from postroom.policy.pagewords import readings, run_together
from postroom.policy.redaction import SCAN_CHARS, Redaction


def may_leave(words: FileWords, rules: ContentRules) -> Truth:
    """False if it says what would be removed in a message; None if not all that it says could be looked through."""
    redaction = Redaction(rules)
    missed: Truth = None if words.unread else True
    for text in _texts(words):
        if any(redaction.removes(name) for name in redaction.names(text)):
            return False
        missed = None if len(text) > SCAN_CHARS else missed
    return missed


def _texts(words: FileWords) -> Iterator[str]:
    """Each once, as it reads; pages in all their readings, and what stands under one layer of an encoding."""
    seen = set[str]()
    pages = (text for page in words.pages for text in (*readings(page), run_together(page)))
    for text in map(without_unseen, (*words.texts, *pages)):
        if text and text not in seen:
            seen.add(text)
            yield text
            yield from decoded(text)
