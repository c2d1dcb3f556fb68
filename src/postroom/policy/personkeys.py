"""The keys of a rule that ask who wrote a message, and to whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from postroom.base.kleene import Truth, agreed, all_of, any_of
from postroom.config.policies.matching import AuthMatch, KnownMatch
from postroom.mail.header import MAX_FIELDS
from postroom.mail.outgoing.model import StrictAddress
from postroom.policy.condition import Condition, Terms, every, wanted
from postroom.policy.evidence import Evidence, Source
from postroom.policy.people import Named, compile_addresses, named_in

RESULT_FIELDS = frozenset(("authentication-results", "received"))
_RECIPIENTS = ("to", "cc", "delivered-to", "x-original-to")


def from_(patterns: tuple[str, ...], terms: Terms) -> Condition:
    """Every From address matches; unknown where only some do, where one cannot be read, and without any."""
    meant = compile_addresses(patterns, terms.people, tags=terms.tags)
    return Condition(lambda evidence: _of_senders(evidence, meant.holds), frozenset({"from"}))


def sender_domain(patterns: tuple[str, ...], _terms: Terms) -> Condition:
    """The same on their domains."""
    return Condition(lambda evidence: _of_senders(evidence, _within(patterns)), frozenset({"from"}))


def reply_to(patterns: tuple[str, ...], terms: Terms) -> Condition:
    """Every Reply-To address matches; a message without the field is answered to its From."""
    meant = compile_addresses(patterns, terms.people, tags=terms.tags)

    def test(evidence: Evidence) -> Truth:
        name = "reply-to" if any(field.name.lower() == "reply-to" for field in evidence.head.fields) else "from"
        return _agreed_on(_named(evidence, name), meant.holds)

    return Condition(test, frozenset({"from", "reply-to"}))


def recipient(patterns: tuple[str, ...], terms: Terms) -> Condition:
    """Some address of To, Cc, Delivered-To or X-Original-To matches."""
    meant = compile_addresses(patterns, terms.people, tags=terms.tags)

    def test(evidence: Evidence) -> Truth:
        named = _named(evidence, *_RECIPIENTS)
        return any_of((*map(meant.holds, named.addresses), None if named.unreadable else False))

    return Condition(test, frozenset(_RECIPIENTS))


def recipient_all(patterns: tuple[str, ...], terms: Terms) -> Condition:
    """Every address of To and Cc matches; unknown without any, for then nobody knows to whom it went."""
    meant = compile_addresses(patterns, terms.people, tags=terms.tags)

    def test(evidence: Evidence) -> Truth:
        named = _named(evidence, "to", "cc")
        whole = None if named.unreadable or not named.addresses else True
        return all_of((*map(meant.holds, named.addresses), whole))

    return Condition(test, frozenset({"to", "cc"}))


def auth(match: AuthMatch, _terms: Terms) -> Condition:
    """What trusted results say; each key is unknown where they say nothing of it."""
    methods = {name: given for name in ("dmarc", "spf", "dkim") if (given := getattr(match, name)) is not None}
    conditions = [_result(name, frozenset(given)) for name, given in methods.items()]
    if match.dkim_domain is not None:
        conditions.append(Condition(_signed_by(match.dkim_domain), RESULT_FIELDS))
    if match.aligned is not None:
        conditions.append(wanted(_result("dmarc", frozenset({"pass"}), against=frozenset({"fail"})), match.aligned))
    return every(conditions)


def internal(value: bool, terms: Terms) -> Condition:
    """From is internal and DMARC says so too; unknown where only From does."""
    meant = compile_addresses(("internal",), terms.people, tags=False)

    def test(evidence: Evidence) -> Truth:
        claimed = _of_senders(evidence, meant.holds)
        proven = terms.internal_without_dmarc or evidence.authentication.dmarc == "pass"
        return claimed if claimed is not True or proven else None

    return wanted(Condition(test, RESULT_FIELDS | {"from"}), value)


def known_correspondent(match: KnownMatch, terms: Terms) -> Condition:
    """Every From address is known from some of the sources."""
    contacts = compile_addresses(("list:contacts",), terms.people, tags=False)
    sources: tuple[Source, ...] = tuple(source for source in match.sources if source != "contacts")

    def test(evidence: Evidence) -> Truth:
        named = _named(evidence, "from")
        truths = [
            any_of(
                (
                    "contacts" in match.sources and contacts.holds(one),
                    *(evidence.known.known_correspondent(one.key, source) for source in sources),
                )
            )
            for one in named.addresses
        ]
        return agreed([*truths, None] if named.unreadable else truths)

    return Condition(test, frozenset({"from"}), asks_records=True)


def in_reply_to_own(value: bool, _terms: Terms) -> Condition:
    """It answers a message that this profile sent."""

    def test(evidence: Evidence) -> Truth:
        head = evidence.head
        if not head.fields:
            return None
        ids = ((head.in_reply_to,) if head.in_reply_to else ()) + head.references
        return evidence.known.in_reply_to_own(ids) if ids else False

    return wanted(Condition(test, frozenset({"in-reply-to", "references"}), asks_records=True), value)


def known_sender(evidence: Evidence) -> Truth:
    """Every From address wrote before, in mail that may be seen."""
    named = _named(evidence, "from")
    truths = [evidence.known.known_correspondent(one.key, "visible") for one in named.addresses]
    return agreed([*truths, None] if named.unreadable else truths)


def _named(evidence: Evidence, *names: str) -> Named:
    """Who the fields of these names name together, those that stand twice included."""
    fields = evidence.head.fields
    found = [named_in(field.value) for field in fields if field.name.lower() in names]
    cut = not fields or len(fields) >= MAX_FIELDS
    people = tuple(address for named in found for address in named.addresses)
    return Named(people, cut or any(named.unreadable for named in found))


def _of_senders(evidence: Evidence, holds: Callable[[StrictAddress], bool]) -> Truth:
    return _agreed_on(_named(evidence, "from"), holds)


def _agreed_on(named: Named, holds: Callable[[StrictAddress], bool]) -> Truth:
    truths: Iterable[Truth] = map(holds, named.addresses)
    return agreed([*truths, None] if named.unreadable else truths)


def _within(patterns: tuple[str, ...]) -> Callable[[StrictAddress], bool]:
    exact = frozenset(patterns)
    below = tuple(pattern[1:] for pattern in patterns if pattern.startswith("*."))
    return lambda address: address.domain in exact or address.domain.endswith(below)


def _result(method: str, accepted: frozenset[str], against: frozenset[str] | None = None) -> Condition:
    """Whether a method's result is one of those; with `against`, it must be one of these to be a no."""

    def test(evidence: Evidence) -> Truth:
        result: str = getattr(evidence.authentication, method)
        if result in accepted:
            return True
        return False if (result != "unknown" if against is None else result in against) else None

    return Condition(test, RESULT_FIELDS)


def _signed_by(patterns: tuple[str, ...]) -> Callable[[Evidence], Truth]:
    exact = frozenset(patterns)
    below = tuple(pattern[1:] for pattern in patterns if pattern.startswith("*."))

    def test(evidence: Evidence) -> Truth:
        domains = evidence.dkim_domains
        if domains is None:
            return None
        return any(domain in exact or domain.endswith(below) for domain in domains)

    return test
