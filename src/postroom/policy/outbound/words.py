"""What a message says: how much, in which form, what detectors find in it, and where it links to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from postroom.base.kleene import Truth, any_of
from postroom.base.levels import Outcome
from postroom.policy.contentrules import Spans
from postroom.policy.detectors.shadow import shadow
from postroom.policy.outbound.case import Case
from postroom.policy.outbound.judgement import Reason
from postroom.policy.outbound.rules import OutboundRules

_QUOTED = re.compile(r"^[ \t]{0,8}>", re.MULTILINE)
_UNREAD = "The message, or the text in its files, is too long to be looked through"
_NAMES = {
    "otp": "a one-time code",
    "reset_link": "a link that opens an account",
    "secret": "a key or token",
    "private_key": "a private key",
    "jwt": "a signed token",
    "password": "a password",
    "card": "a card number",
    "iban": "an account number",
    "phone": "a telephone number",
    "email_address": "a mail address",
    "national_id": "a number that names a person",
    "crypto_seed": "words that open a wallet",
    "recovery_codes": "recovery codes",
}


def reasons(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    """What `content` says, and the secrets of the gateway, which no policy lets through."""
    if case.holds_own_secret:
        sentence = "The message holds a secret of the gateway or of this mailbox, which is never sent; take it out."
        yield Reason("own_secrets", Outcome.DENY, sentence)
    yield from _form(case, rules)
    yield from _detected(case, rules)
    yield from _patterns(case, rules)
    yield from _links(case, rules)


def _form(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    outgoing, words = case.plan.outgoing, rules.words
    text = outgoing.text or outgoing.html or ""
    if words.max_chars is not None and len(text) > words.max_chars:
        sentence = f"The text may have at most {words.max_chars:,} characters."
        yield Reason("outbound.content.max_chars", Outcome.DENY, sentence)
    if not words.html and outgoing.html is not None:
        yield Reason("outbound.content.html", Outcome.DENY, "The message may have no html; give text alone.")
    most = words.quote_max_lines
    if most is not None and sum(1 for _ in _QUOTED.finditer(text)) > most:
        sentence = f"At most {most} lines of the text may be quoted; leave more of the history out."
        yield Reason("outbound.content.quote_max_lines", Outcome.DENY, sentence)


def _detected(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    detectors = rules.words.detectors
    for name, found in case.found(detectors, rules.scan_chars).items():
        if found is not False:
            what = _NAMES.get(name, name)
            sentence = f"The message seems to hold {what}." if found else f"{_UNREAD}, and may hold {what}."
            yield Reason(f"outbound.content.detectors.{name}", detectors[name], sentence)


def _patterns(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    for one in rules.words.patterns:
        unread: Truth = None if case.plan.files_unread else False
        found = any_of((unread, *(_stands(one.pattern, piece) for piece in case.scanned)))
        if found is not False:
            what = f"something that the pattern {one.name} finds"
            sentence = f"The message holds {what}." if found else f"{_UNREAD}, and may hold {what}."
            yield Reason(f"outbound.content.patterns.{one.name}", one.action, sentence)


def _stands(pattern: Spans, text: str) -> Truth:
    """Whether it finds something, in the text as it is or in the simple forms of its characters."""
    simple = shadow(text)
    found = [pattern.spans(one) for one in ((text,) if simple == text else (text, simple))]
    return any_of(None if spans is None else bool(spans) for spans in found)


def _links(case: Case, rules: OutboundRules) -> Iterator[Reason]:
    links = rules.words.links
    if links is not None and any(not _is_within(host, links.domains) for host in case.hosts):
        sentence = "The message links to hosts that the policy does not name."
        yield Reason("outbound.content.links", links.others, sentence)


def _is_within(host: str, domains: Iterable[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
