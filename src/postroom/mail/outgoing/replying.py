"""For answers: who gets them, what they are called, and which thread they belong to (RFC 5322 3.6.3, 3.6.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from postroom.base.errors import invalid
from postroom.mail.address import parse_addresses, unreadable_in
from postroom.mail.header import first_value
from postroom.mail.model import Head, Threading
from postroom.mail.outgoing.address import MAX_NAME, MAX_RECIPIENTS, of_parts, unique
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import MESSAGE_ID, StrictAddress
from postroom.mail.unseen import visible_line

MAX_REFERENCES = 20
"""The first, which names the thread, and the latest."""
_LONGEST_SUBJECT = 900
_LONGEST_PREFIXES = 20
_LONGEST_TOLD = 100
"""Characters of an address that mail cannot be sent to."""
_WORDS = (
    *("re", "aw", "antw", "antwort", "sv", "svar", "vs", "odp", "rif", "res", "resp", "rép", "ynt", "vá", "bls", "atb"),
    *("на", "отв", "ответ", "σχετ", "απ", "회신", "답장", "回复", "答复", "回覆", "返信", "תגובה", "השב", "رد"),
)
"""What programs of many languages put before the subject of an answer."""
_PREFIX = re.compile(
    rf"(?:(?:{'|'.join(_WORDS)})\s?(?:\[\d{{1,4}}\]|\(\d{{1,4}}\)|\^\d{{1,4}})?|(?-i:R))\s?[:：]\s*", re.I
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answer takes from the message that it answers."""

    to: tuple[StrictAddress, ...]
    cc: tuple[StrictAddress, ...]
    subject: str
    in_reply_to: str | None
    references: tuple[str, ...]
    left_out: tuple[str, ...]
    """Addresses of the message that mail cannot be sent to, as it has them: foreign words, to be told as a warning."""


class _Found:
    """People of address fields in the strict grammar, and what is outside of it."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self.left_out: list[str] = []

    def people(self, name: str) -> list[StrictAddress]:
        """Read from the field as it came: taking something out of an address would make it another's."""
        value = first_value(self._head.fields, name) or b""
        found: list[StrictAddress] = []
        for one in parse_addresses(value):
            try:
                found.append(of_parts(_name(one.name), one.address))
            except ValueError:
                self.left_out.append(visible_line(one.address[:_LONGEST_TOLD]))
        self.left_out += ["(an address that cannot be read)"] * unreadable_in(value)
        return found


def derive_reply(
    head: Head, identities: Identities, *, everyone: bool = False, threading: Threading | None = None
) -> Reply:
    """The reply to a message: to its Reply-To, else to everybody in From; with `everyone` a copy to its To and Cc.

    The mailbox's exact addresses are left out, but for an answer to one's own message, which goes to whom that went
    to. Nobody stands twice. Raises `validation_error` when nobody is left to answer, or more than a caller may name:
    who writes to us must not choose whom we write to by the thousand. `threading` is the message's own, where its
    head is shown without it.
    """
    ids = threading or head.threading
    found = _Found(head)
    senders = found.people("from")
    copies = (found.people("to"), found.people("cc")) if everyone or _all_own(senders, identities) else ([], [])
    if _all_own(senders, identities) and any(copies):
        to, cc = copies[0] or copies[1], copies[1] if everyone and copies[0] else []
    else:
        answered = found.people("reply-to")
        to = _others(answered, identities) or _others(senders, identities) or answered or senders
        cc = [*copies[0], *copies[1]]
    told = unique(to)
    keys = {one.key for one in told}
    copied = tuple(one for one in unique(_others(cc, identities)) if one.key not in keys)
    if not told:
        raise invalid("uid", "the message names nobody that an answer can go to; use send and name the recipients")
    if max(len(told), len(copied)) > MAX_RECIPIENTS:
        reason = (
            f"the message asks for an answer to more than {MAX_RECIPIENTS} people; use send and name the recipients"
        )
        raise invalid("uid", reason)
    parent = ids.message_id if ids.message_id and MESSAGE_ID.fullmatch(ids.message_id) else None
    return Reply(told, copied, reply_subject(head.subject), parent, _references(ids, parent), tuple(found.left_out))


def reply_subject(subject: str | None) -> str:
    """`Re: ` once before the subject, without what programs of other languages put there for it."""
    rest = visible_line(subject or "")
    for _ in range(_LONGEST_PREFIXES):
        if not (prefix := _PREFIX.match(rest)):
            break
        rest = rest[prefix.end() :]
    return f"Re: {rest[:_LONGEST_SUBJECT]}".strip()


def valid_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """The ids that may stand in References, each once: at most `MAX_REFERENCES`, the first and the latest."""
    once = tuple(dict.fromkeys(one for one in ids if MESSAGE_ID.fullmatch(one)))
    return once if len(once) <= MAX_REFERENCES else (once[0], *once[1 - MAX_REFERENCES :])


def _references(ids: Threading, parent: str | None) -> tuple[str, ...]:
    """Those of the parent, else what it answers, and then the parent itself, last."""
    before = ids.references or ((ids.in_reply_to,) if ids.in_reply_to else ())
    return valid_ids((*(one for one in before if one != parent), *((parent,) if parent else ())))


def _name(name: str | None) -> str | None:
    """A name as it is shown; one that holds an address could speak for another."""
    shown = visible_line(name or "")[:MAX_NAME]
    return None if "@" in shown else shown


def _all_own(people: Sequence[StrictAddress], identities: Identities) -> bool:
    return bool(people) and all(map(identities.owns, people))


def _others(people: Sequence[StrictAddress], identities: Identities) -> list[StrictAddress]:
    return [one for one in people if not identities.owns(one)]
