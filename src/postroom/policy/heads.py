"""What of a message's head, and of any name that a stranger chose, may be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from postroom.base.levels import Finding
from postroom.mail.filename import safe_filename
from postroom.mail.header import decode_words
from postroom.mail.model import Address, Field, Head
from postroom.policy.contentrules import UNBOUND, ContentRules
from postroom.policy.redaction import Redaction
from postroom.policy.shownlinks import shown_line
from postroom.policy.spotlight import cut
from postroom.policy.strings import filtered_line, harmless

SUBJECT, NAME, FILE_NAME, FOLDER_NAME = 500, 200, 150, 200
"""Characters that are shown of each."""
_VALUE = 2_000
"""Characters of any other field, and of a list of addresses."""
_DATE = re.compile(rb"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)? [+-]\d{4}(?: \([A-Z]{1,5}\))?")
"""As nearly all are written (RFC 5322 3.3)."""
_PEOPLE = {"from": "from_", "to": "to", "cc": "cc", "reply-to": "reply_to"}


def show_head(head: Head, rules: ContentRules) -> Head:
    """A head as lists show it, and as conditions see it; of its fields those alone that may appear, each once.

    It depends on nothing but the head. For `UNBOUND` it is the head itself.
    """
    if rules is UNBOUND:
        return head
    lines = lines_of(rules)
    shown = {name: tuple(lines.people(getattr(head, at))) for name, at in _PEOPLE.items() if lines.may(name)}
    subject = (
        lines.shown(head.subject, SUBJECT, subject=True) if head.subject and lines.may("subject") else head.subject
    )
    subject = subject if lines.may("subject") else None
    return replace(
        head,
        fields=tuple(_fields(head, shown, subject, lines)),
        subject=subject,
        from_=shown.get("from", ()),
        to=shown.get("to", ()),
        cc=shown.get("cc", ()),
        reply_to=shown.get("reply-to", ()),
        date=head.date if lines.may("date") else None,
        message_id=lines.identifier("message-id", head.message_id),
        in_reply_to=lines.identifier("in-reply-to", head.in_reply_to),
        references=tuple(one for one in head.references if lines.identifier("references", one)),
    )


def is_fit(name: str, rules: ContentRules) -> bool:
    """Whether a name that callers have to give back, as a folder's, may be shown as it is."""
    return len(name) <= FOLDER_NAME and harmless(filtered_line(name, rules), rules) == name


def show_name(text: str, rules: ContentRules, most: int) -> str:
    """A name of a folder or of a file as it may be shown, of at most so many characters."""
    return text if rules is UNBOUND else lines_of(rules).shown(text, most)


def show_filename(name: str | None, rules: ContentRules) -> str | None:
    """A file name as it may be shown, and is still safe to save; it keeps its ending."""
    if name is None or rules is UNBOUND:
        return name
    shown = lines_of(rules).shown(name, 4 * FILE_NAME)
    if len(shown) > FILE_NAME:
        stem, dot, ending = shown.rpartition(".")
        ending = dot + ending if len(ending) <= 20 and stem else ""
        shown = cut(shown, FILE_NAME - len(ending))[0] + ending
    return safe_filename(shown) or "attachment"


class Lines:
    """Values of one line under rules."""

    def __init__(self, rules: ContentRules, redaction: Redaction | None = None) -> None:
        self._rules = rules
        self._redaction = redaction or Redaction(rules)
        self._removes = self._redaction.action("reset_link") <= Finding.REDACT

    def may(self, name: str) -> bool:
        """Whether a field of that name, in lower case, may appear."""
        return self._rules.headers is None or name in self._rules.headers

    def shown(self, text: str, most: int, context: str = "", *, subject: bool = False) -> str:
        """A value filtered, its links and its markup made harmless, redacted, and cut to a length."""
        redacted = partial(self._redaction.redacted, context=context, subject=subject)
        line, _ = shown_line(filtered_line(text, self._rules), self._rules, redacted, removes=self._removes)
        return self.told(line, most, context, subject=subject)

    def told(self, line: str, most: int, context: str = "", *, subject: bool = False) -> str:
        """As `shown`, of a value without links."""
        line = filtered_line(harmless(filtered_line(line, self._rules), self._rules), self._rules)
        return cut(self._redaction.redacted(line, context, subject=subject), most)[0]

    def identifier(self, name: str, value: str | None) -> str | None:
        """A message id of a field of that name, which is told whole or not at all."""
        return value if value and self.may(name) and self._redaction.redacted(value) == value else None

    def people(self, people: Iterable[Address]) -> Iterator[Address]:
        """Mail addresses, whose names are what a sender chose."""
        for one in people:
            name = self.shown(one.name, NAME) if one.name else None
            yield Address(name or None, harmless(filtered_line(one.address, self._rules), self._rules)[:320])


_MADE: dict[int, tuple[ContentRules, Lines]] = {}
_MOST_MADE = 64


def lines_of(rules: ContentRules) -> Lines:
    """The lines of these rules, made once for as long as few rules are in use."""
    made = _MADE.get(id(rules))
    if made is None or made[0] is not rules:
        if len(_MADE) >= _MOST_MADE:
            _MADE.clear()
        made = _MADE[id(rules)] = (rules, Lines(rules))
    return made[1]


def _fields(head: Head, shown: dict[str, tuple[Address, ...]], subject: str | None, lines: Lines) -> Iterator[Field]:
    """The fields that may appear, decoded; of one that stands twice the first, which is what the head was read from."""
    told: set[str] = set()
    for field in head.fields:
        name = field.name.lower()
        if name in told or not lines.may(name):
            continue
        told.add(name)
        if name in shown:
            value = ", ".join(f"{one.name} <{one.address}>" if one.name else one.address for one in shown[name])
        elif name == "subject":
            value = subject or ""
        elif name == "date" and _DATE.fullmatch(field.value):
            value = field.value.decode()
        else:
            value = lines.shown(decode_words(field.value), _VALUE)
        # Nobody who decodes a value again is to find other words in it.
        yield Field(field.name, value.replace("=?", "= ?").encode())
