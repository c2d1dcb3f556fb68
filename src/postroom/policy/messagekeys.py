"""The keys of a rule that ask what a message is like: its words, age, size, flags, signals and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TypeVar

from postroom.base.glob import text_glob
from postroom.base.kleene import Truth, all_of, any_of, negation
from postroom.config.policies.matching import AttachmentMatch, ContainsMatch, HeaderMatch, TextPattern
from postroom.mail.header import MAX_FIELDS, decode_words, one_line
from postroom.mail.model import Authentication, Part
from postroom.mail.signals import SENDER_FIELDS, SENDER_SIGNALS, sender_signals
from postroom.mail.unseen import visible_line
from postroom.policy.condition import Condition, Terms
from postroom.policy.evidence import Evidence
from postroom.policy.personkeys import RESULT_FIELDS, known_sender
from postroom.policy.textpatterns import TextTest, compile_texts

_LIST_ID = re.compile(r"<([^<>]{1,255})>[^<>]{0,255}\Z")
_SYSTEM_FLAGS = {"seen": "\\seen", "flagged": "\\flagged", "answered": "\\answered", "draft": "\\draft"}
_PARTIAL = frozenset(("mime_ambiguous", "too_complex", "truncated"))
"""Signals of content that was not read whole, or can be read in two ways: there may be more in it."""


def subject(patterns: tuple[TextPattern, ...], terms: Terms) -> Condition:
    """The decoded subject; a message without one has an empty one."""
    texts = compile_texts(patterns, terms.scan_chars)

    def test(evidence: Evidence) -> Truth:
        return texts.fits(evidence.head.subject or "") if evidence.head.fields else None

    return Condition(test, frozenset({"subject"}))


def header(matches: tuple[HeaderMatch, ...], terms: Terms) -> Condition:
    """Some field of that name fits; a message without it does not."""
    wanted = [(match.name, compile_texts(match.pattern, terms.scan_chars)) for match in matches]

    def test(evidence: Evidence) -> Truth:
        return any_of(_some_field(evidence, name, texts.fits) for name, texts in wanted)

    return Condition(test, frozenset(match.name for match in matches))


def list_id(globs: tuple[str, ...], _terms: Terms) -> Condition:
    """`present`, `absent`, or globs over the identifier in lower case, without its brackets (RFC 2919)."""
    compiled = [text_glob(glob.lower()) for glob in globs]

    def identified(value: str) -> Truth:
        match = _LIST_ID.search(value.strip().lower())
        return None if match is None else any(glob.matches(match[1].strip()) for glob in compiled)

    def test(evidence: Evidence) -> Truth:
        if globs in (("present",), ("absent",)):
            present = _some_field(evidence, "list-id", lambda _: True)
            return present if globs == ("present",) else negation(present)
        return _some_field(evidence, "list-id", identified)

    return Condition(test, frozenset({"list-id"}))


def older_than(age: timedelta, _terms: Terms) -> Condition:
    """By the time of arrival, never by Date: a message of exactly this age is older."""

    def test(evidence: Evidence) -> Truth:
        return None if evidence.received_at is None else evidence.now - evidence.received_at >= age

    return Condition(test)


def newer_than(age: timedelta, terms: Terms) -> Condition:
    """Not `older_than`."""
    older = older_than(age, terms)
    return Condition(lambda evidence: negation(older.test(evidence)))


def size_over(octets: int, _terms: Terms) -> Condition:
    return Condition(lambda evidence: None if evidence.size is None else evidence.size > octets)


def size_under(octets: int, _terms: Terms) -> Condition:
    return Condition(lambda evidence: None if evidence.size is None else evidence.size < octets)


def flags(wanted: tuple[str, ...], _terms: Terms) -> Condition:
    """All of these hold; one with `-` holds where the flag is not set."""

    def test(evidence: Evidence) -> Truth:
        if evidence.flags is None:
            return None
        set_ = {flag.lower() for flag in evidence.flags}
        return all((_SYSTEM_FLAGS[one.removeprefix("-")] in set_) is not one.startswith("-") for one in wanted)

    return Condition(test)


def anomaly(names: tuple[str, ...], terms: Terms) -> Condition:
    """Some of these signals is set; those that need the content are unknown without it."""

    def test(evidence: Evidence) -> Truth:
        from_head = sender_signals(evidence.head, terms.household) | evidence.head.unseen
        return any_of(_signal(name, evidence, from_head, terms) for name in names)

    in_head = frozenset(names) <= SENDER_SIGNALS | {"dmarc_fail", "auth_unknown", "first_time_sender"}
    fields = SENDER_FIELDS | RESULT_FIELDS
    return Condition(test, fields, needs_body=not in_head, asks_records="first_time_sender" in names)


def attachment(match: AttachmentMatch, terms: Terms) -> Condition:
    """Some attachment fits all that is asked; where there may be more than was found, a no is unknown."""
    tests = tuple(_part_tests(match, terms))

    def test(evidence: Evidence) -> Truth:
        parts = evidence.parts
        if parts is None:
            return None
        truths: list[Truth] = []
        if match.any is not None:
            truths.append(bool(parts) is match.any)
        if match.count_over is not None:
            truths.append(len(parts) > match.count_over)
        if tests:
            truths.append(any_of(all_of(fits(part) for fits in tests) for part in parts))
        truth = all_of(truths)
        return None if _is_partial(evidence) and (truth is False or match.any is False) else truth

    return Condition(test, needs_body=True)


def contains(match: ContainsMatch, terms: Terms) -> Condition:
    """What subject or text say, before redaction: a detector's finding, a pattern, or with both keys both."""
    texts = None if match.pattern is None else compile_texts(match.pattern, terms.scan_chars)
    names = frozenset(match.detector or ())

    def test(evidence: Evidence) -> Truth:
        truths: list[Truth] = []
        if names:
            found = _places(match, evidence.found_in_subject, evidence.found_in_body)
            truths.append(any_of(None if one is None else not names.isdisjoint(one) for one in found))
        if texts is not None:
            truths.append(any_of(map(texts.fits, _places(match, evidence.subject, evidence.text))))
        truth = all_of(truths)
        return None if truth is False and match.where != "subject" and _is_partial(evidence) else truth

    return Condition(test, needs_body=True, detectors=names)


def _signal(name: str, evidence: Evidence, from_head: frozenset[str], terms: Terms) -> Truth:
    if name in from_head or (evidence.signals is not None and name in evidence.signals):
        return True
    if not evidence.head.fields:
        return None
    if name == "dmarc_fail":
        return evidence.authentication.dmarc == "fail"
    if name == "auth_unknown":
        return evidence.authentication == Authentication() and terms.trusts_results
    if name == "first_time_sender":
        return negation(known_sender(evidence))
    if name in SENDER_SIGNALS:
        return None if len(evidence.head.fields) >= MAX_FIELDS else False
    return None if evidence.signals is None else False


def _some_field(evidence: Evidence, name: str, fits: Callable[[str], Truth]) -> Truth:
    fields = evidence.head.fields
    values = (visible_line(one_line(decode_words(one.value))) for one in fields if one.name.lower() == name)
    cut = not fields or len(fields) >= MAX_FIELDS
    return any_of((*map(fits, values), None if cut else False))


def _part_tests(match: AttachmentMatch, terms: Terms) -> Iterator[Callable[[Part], Truth]]:
    if match.type is not None:
        types = [text_glob(one) for one in match.type]
        yield lambda part: any(one.matches(part.content_type.lower()) for one in types)
    if match.extension is not None:
        endings = frozenset(match.extension)
        yield lambda part: not endings.isdisjoint(endings_of(part.filename))
    if match.name is not None:
        yield _named(compile_texts(match.name, terms.scan_chars))
    if match.size_over is not None:
        most = match.size_over
        yield lambda part: None if part.size is None else part.size > most


def endings_of(filename: str | None) -> frozenset[str]:
    """Every ending of a file's name, in lower case: `a.PDF.exe` has `pdf` and `exe`."""
    return frozenset((filename or "").lower().split(".")[1:])


def _named(texts: TextTest) -> Callable[[Part], Truth]:
    return lambda part: texts.fits(part.filename or "")


_T = TypeVar("_T")


def _places(match: ContainsMatch, in_subject: _T, in_body: _T) -> tuple[_T, ...]:
    return {"subject": (in_subject,), "body": (in_body,), "both": (in_subject, in_body)}[match.where]


def _is_partial(evidence: Evidence) -> bool:
    partial = _PARTIAL - {"truncated"} if evidence.is_whole else _PARTIAL
    return evidence.signals is not None and not partial.isdisjoint(evidence.signals)
