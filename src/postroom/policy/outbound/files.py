"""Which files may go with a message, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from postroom.base.levels import Outcome
from postroom.mail.filewords import words_in
from postroom.policy.filefacts import facts_of_file
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.plan import Plan
from postroom.policy.outbound.rules import OutboundRules

_RULE = "outbound.attachments"


def with_files(plan: Plan) -> Plan:
    """With what is known of its files, and what they say. Takes time with their octets."""
    files = plan.outgoing.files
    words = words_in(files)
    return replace(
        plan,
        files=tuple(facts_of_file(one, at) for at, one in enumerate(files)),
        file_texts=tuple(words.texts),
        file_pages=tuple(words.pages),
        files_unread=words.unread,
    )


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """Each file must pass; one of which nothing is known does not."""
    known, given = case.plan.files, case.plan.outgoing.files
    if not known and not given:
        return
    if rules.files.mode is not Outcome.SEND:
        words = "Files may not be sent." if rules.files.mode is Outcome.DENY else "A message with files must wait."
        yield Reason(f"{_RULE}.mode", rules.files.mode, words)
    if len(known) < len(given) or not all(map(rules.files.passes, known)):
        sentence = "A file is of a kind or size that may not be sent, or there are too many."
        yield Reason(_RULE, Outcome.DENY, sentence)
