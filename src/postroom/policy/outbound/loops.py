"""Against answers to answers without end: what is not answered at all, and how often a thread is (RFC 3834 2)."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.base.levels import Outcome
from postroom.mail.header import one_line
from postroom.mail.model import Head
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.plan import Answered, Operation
from postroom.policy.outbound.rates import within
from postroom.policy.outbound.rules import OutboundRules

_NOBODY = frozenset({"mailer-daemon", "postmaster", "noreply", "no-reply", "donotreply"})
_NOBODY_BEGINS = "bounce"
_FORWARDS = (Operation.FORWARD, Operation.FORWARD_RAW)


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """A message that answers none begins no loop, and a forwarded one goes to others."""
    answered = case.plan.answered
    if answered is None or case.plan.operation in _FORWARDS:
        return
    for kind in sorted(rules.loop.no_reply_to & _kinds(case, answered)):
        yield Reason("outbound.loop.no_reply_to", Outcome.DENY, _SENTENCES[kind])
    most = rules.loop.max_turns
    if most is not None and not _has_turn_left(case, answered, most, rules):
        sentence = f"At most {most} messages are sent in one thread in this time; a person must go on."
        yield Reason("outbound.loop.max_turns", Outcome.DENY, sentence)


_SENTENCES = {
    "auto": "The message was sent automatically and is not answered.",
    "list": "The message came over a mailing list and is not answered.",
    "noreply": "The sender's address takes no answers.",
}


def _kinds(case: Case, answered: Answered) -> frozenset[str]:
    """What kinds of message it is; a head that is not at hand may be of any."""
    head = answered.head
    if not head.fields:
        return frozenset(_SENTENCES)
    precedence = _values(head, "precedence")
    automatic = [value for value in _values(head, "auto-submitted") if value.partition(";")[0].strip() != "no"]
    kinds = {
        "auto": automatic or not precedence.isdisjoint(("bulk", "junk")) or "<>" in _values(head, "return-path"),
        "list": _values(head, "list-id") or "list" in precedence,
        "noreply": any(map(_takes_none, _locals(case, head))),
    }
    return frozenset(kind for kind, holds in kinds.items() if holds)


def _values(head: Head, name: str) -> frozenset[str]:
    """The values of a field without their comments' worth of space, in lower case."""
    found = (one_line(field.value.decode("latin-1")) for field in head.fields if field.name.lower() == name)
    return frozenset(value.strip().lower() for value in found)


def _locals(case: Case, head: Head) -> Iterator[str]:
    """Of those who are answered, and of those who wrote."""
    yield from (one.local for one in case.recipients)
    yield from (one.address.rpartition("@")[0] for one in (*head.from_, *head.reply_to))


def _takes_none(local: str) -> bool:
    local = local.lower().partition("+")[0]
    return local in _NOBODY or local.startswith(_NOBODY_BEGINS)


def _has_turn_left(case: Case, answered: Answered, most: int, rules: OutboundRules) -> bool:
    """Turns are what was sent in the thread, and whatever else of ours the answered message refers to."""
    records = within(case, rules.loop.window)
    if records is None:
        return False
    named = {answered.head.in_reply_to, *answered.head.references}
    turns = sum(one.thread == answered.thread != "" or one.message_id in named for one in records)
    return turns < most
