"""The only conversions from fetched to shown and to admitted: what a caller sees or changes is decided here alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from postroom.base.levels import Access, Files, Verdict
from postroom.mail.authentication import authentication, signing_domains
from postroom.mail.model import (
    Act,
    Address,
    Admitted,
    Authentication,
    Fetched,
    Field,
    Head,
    Named,
    Part,
    Reading,
    Shown,
)
from postroom.mail.signals import sender_signals
from postroom.policy.attachments import hides_size
from postroom.policy.content import Projected, Setting
from postroom.policy.content import withheld as withheld_reading
from postroom.policy.contentrules import ContentRules
from postroom.policy.effective import Policy
from postroom.policy.evidence import Evidence, Known
from postroom.policy.filefacts import facts_of
from postroom.policy.heads import is_fit, show_head

WITHHELD = "[withheld]"
"""Stands for a subject that is not shown."""
_ENVELOPE = frozenset({"from", "to", "cc", "date"})
"""Header fields of a withheld message that are shown."""


def show(fetched: Fetched, uid: str, reading: Reading | None = None) -> Shown | None:
    """The message as an unbound caller sees it under the id `uid`: its mailboxes are whole.

    `reading` is its content, made by `policy.content`.
    """
    return Shown(
        uid=uid,
        folder=fetched.folder,
        head=fetched.head,
        received_at=fetched.received_at,
        size=fetched.size,
        flags=fetched.flags,
        has_attachments=fetched.has_attachments,
        labels=fetched.labels,
        reading=reading,
        incomplete=fetched.incomplete,
        written=fetched.head,
    )


def admit(message: Fetched | Named, act: Act) -> Admitted | None:
    """The message with leave to act on it like that, for an unbound caller, who need not have it looked at."""
    return Admitted(message.folder, message.uid, message.uid_validity, act)


# -- for bound callers


@dataclass(frozen=True, slots=True)
class Gaze:
    """With what a bound caller looks: its policy, whose mail it is, when, and what the gateway's records tell."""

    policy: Policy
    setting: Setting
    now: datetime
    known: Known
    labels_are_folders: bool = False
    """As at Gmail, where a label names a folder that the message is in too."""


@dataclass(frozen=True, slots=True)
class JudgedHead:
    """A head as it may be shown, and what it says about its sender; it depends on nothing else."""

    shown: Head
    authentication: Authentication
    signers: frozenset[str] | None
    """Domains of signatures that trusted results tell of as passed."""
    signals: frozenset[str]


def judge_head(head: Head, setting: Setting, rules: ContentRules) -> JudgedHead:
    """What there is to know of a head under these rules."""
    trusted = (setting.trusted_authserv_ids, setting.trusted_hops)
    told, signers = authentication(head.fields, *trusted), signing_domains(head.fields, *trusted)
    return JudgedHead(show_head(head, rules), told, signers, sender_signals(head, setting.household))


def may_be_seen(fetched: Fetched, judged: JudgedHead, gaze: Gaze) -> bool:
    """Whether a message is worth being read: whether its head does not hide it already."""
    policy = gaze.policy
    if fetched.incomplete or _is_tainted(fetched, gaze):
        return False
    return policy.messages.ceiling(_evidence(fetched, judged, gaze)) is not Verdict.HIDE


def show_row(fetched: Fetched, uid: str, judged: JudgedHead, gaze: Gaze) -> Shown | None:
    """A row as a bound caller sees it, under a policy that needs no more than its head to decide."""
    if fetched.incomplete or _is_tainted(fetched, gaze):
        return None
    verdict = gaze.policy.messages.verdict(_evidence(fetched, judged, gaze))
    return _shown(fetched, uid, judged, gaze, verdict)


def show_message(
    fetched: Fetched,
    uid: str,
    judged: JudgedHead,
    projected: Projected | None,
    gaze: Gaze,
    named: Callable[[Part], str],
) -> Shown | None:
    """A message as a bound caller sees it; `named` gives the id under which it may ask for a part.

    What could not be read cannot be judged, and is hidden.
    """
    if fetched.incomplete or projected is None or _is_tainted(fetched, gaze):
        return None
    evidence = whole_evidence(fetched, judged, projected, gaze)
    verdict = min(gaze.policy.messages.verdict(evidence), projected.verdict)
    shown = _shown(fetched, uid, judged, gaze, verdict)
    if shown is None or verdict is Verdict.WITHHOLD:
        return shown
    reading = _with_files(projected.reading, gaze.policy, named)
    size = sum(len(text.encode()) for text in (reading.reader_quoted, reading.text or ""))
    return replace(shown, reading=reading, size=size, has_attachments=_has_attachments(reading, gaze.policy))


def whole_evidence(fetched: Fetched, judged: JudgedHead, projected: Projected, gaze: Gaze) -> Evidence:
    """Everything that rules may ask of a message that was read."""
    return replace(
        _evidence(fetched, judged, gaze),
        signals=frozenset(projected.reading.signals) | judged.signals,
        parts=projected.reading.attachments,
        subject=projected.subject,
        text=projected.text,
        is_whole=projected.is_whole,
        found_in_subject=projected.found_in_subject,
        found_in_body=projected.found_in_body,
    )


def is_from_outside(shown: Shown, judged: JudgedHead, gaze: Gaze) -> bool:
    """Whether a message that was read says something of somebody else: what is not certainly internal does."""
    evidence = Evidence(head=shown.written, now=gaze.now, authentication=judged.authentication)
    return shown.reading is not None and not shown.withheld and gaze.policy.internal.test(evidence) is not True


def as_row(shown: Shown) -> Shown:
    """The same message as a list tells it."""
    return replace(shown, reading=None, size=None)


def admit_shown(fetched: Fetched, shown: Shown | None, act: Act) -> Admitted | None:
    """Leave for a bound caller to act on a message that it sees; the folder and the act were allowed before."""
    return Admitted(fetched.folder, fetched.uid, fetched.uid_validity, act) if shown is not None else None


def _evidence(fetched: Fetched, judged: JudgedHead, gaze: Gaze) -> Evidence:
    return Evidence(
        head=fetched.head,
        now=gaze.now,
        received_at=fetched.received_at,
        size=fetched.size,
        flags=fetched.flags,
        authentication=judged.authentication,
        dkim_domains=judged.signers,
        known=gaze.known,
    )


def _is_tainted(fetched: Fetched, gaze: Gaze) -> bool:
    """Whether it also lies, by a label, in a folder that a rule hides."""
    folders = gaze.policy.folders
    return folders.taint_labels and any(folders.concealed(label, None) for label in fetched.labels)


def _may_be_named(label: str, gaze: Gaze) -> bool:
    if gaze.labels_are_folders and gaze.policy.folders.access(label, None) is Access.HIDDEN:
        return False
    return is_fit(label, gaze.policy.content)


def _shown(fetched: Fetched, uid: str, judged: JudgedHead, gaze: Gaze, verdict: Verdict) -> Shown | None:
    if verdict is Verdict.HIDE:
        return None
    withheld = verdict is Verdict.WITHHOLD
    lists_files = gaze.policy.attachments.mode >= Files.METADATA and not withheld
    return Shown(
        uid=uid,
        folder=fetched.folder,
        head=_reduced(judged.shown, gaze.policy.messages.withhold_subject) if withheld else judged.shown,
        received_at=fetched.received_at,
        size=None,
        flags=fetched.flags,
        has_attachments=fetched.has_attachments if lists_files else None,
        labels=tuple(label for label in fetched.labels if _may_be_named(label, gaze)),
        reading=withheld_reading() if withheld else None,
        incomplete=None,
        written=fetched.head,
        withheld=withheld,
    )


def _reduced(head: Head, withhold_subject: bool) -> Head:
    """The envelope of a withheld message: addresses and date, and a subject only if the policy leaves it."""
    kept = _ENVELOPE if withhold_subject else _ENVELOPE | {"subject"}
    people = {"from": _nameless(head.from_), "to": _nameless(head.to), "cc": _nameless(head.cc)}
    fields = [_without_names(field, people) for field in head.fields if field.name.lower() in kept]
    return replace(
        head,
        fields=tuple(fields),
        subject=WITHHELD if withhold_subject else head.subject,
        from_=people["from"],
        to=people["to"],
        cc=people["cc"],
        reply_to=(),
        message_id=None,
        in_reply_to=None,
        references=(),
    )


def _nameless(people: tuple[Address, ...]) -> tuple[Address, ...]:
    return tuple(one._replace(name=None) for one in people)


def _without_names(field: Field, people: Mapping[str, tuple[Address, ...]]) -> Field:
    """A field as it is searched and answered: of people their addresses alone."""
    told = people.get(field.name.lower())
    return field if told is None else field._replace(value=", ".join(one.address for one in told).encode())


def _with_files(reading: Reading, policy: Policy, named: Callable[[Part], str]) -> Reading:
    """The reading with the files that may be named, each under a sealed id, and without where they lie."""
    files: list[Part] = []
    for place, part in enumerate(reading.attachments):
        if policy.attachments.level(facts_of(part, place=place)) > Files.NONE:
            size = None if hides_size(part, place, policy.attachments) else part.size
            files.append(replace(part, section=named(part), content_id=None, size=size))
    return replace(reading, parts=tuple(files))


def _has_attachments(reading: Reading, policy: Policy) -> bool | None:
    return bool(reading.attachments) if policy.attachments.mode >= Files.METADATA else None
