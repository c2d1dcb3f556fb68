"""For the signs by which a sender may deceive, and what kind of mail a head says it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from postroom.mail.model import Address, Field, Head

SIGNALS = (
    *("hidden_text", "invisible_characters", "bidi_controls", "control_characters", "alternatives_differ"),
    *("link_mismatch", "suspicious_link", "homograph_link", "tracking_pixel", "remote_content"),
    *("display_name_address", "internal_name_external_address", "confusable_sender", "multiple_from"),
    *("reply_to_differs", "duplicate_header", "dmarc_fail", "auth_unknown", "mime_ambiguous", "too_complex"),
    *("truncated", "auto_submitted", "bulk", "signed", "encrypted", "first_time_sender", "withheld"),
)
"""The closed list, in the order in which answers tell them; `redacted:NAME` follows them."""

_ONCE = (
    *("from", "sender", "reply-to", "to", "cc", "bcc", "subject", "date", "message-id", "in-reply-to", "references"),
    *("mime-version", "content-type", "content-transfer-encoding", "content-disposition", "content-id"),
)
"""Fields of which a message has one at most (RFC 5322 3.6, RFC 2045)."""
SENDER_SIGNALS = frozenset(
    (
        *("duplicate_header", "multiple_from", "reply_to_differs", "display_name_address"),
        *("internal_name_external_address", "confusable_sender", "auto_submitted", "bulk"),
    )
)
"""Those that a head alone decides: what `sender_signals` may tell."""
SENDER_FIELDS = frozenset(
    (*_ONCE, "list-id", "list-unsubscribe", "precedence", "auto-submitted", "x-autoreply", "x-autorespond")
)
"""The fields that it looks at."""
_ADDRESS = re.compile(r"[^\s@<>\"'(),;:\[\]]{1,64}@([^\s@<>\"'(),;:\[\]]{1,253}\.[^\s@<>\"'(),;:\[\].]{2,63})")
_BULK = (b"bulk", b"list", b"junk")
_MOST_ADDRESSES = 100
_PUBLIC = frozenset(
    ("ac", "co", "com", "edu", "go", "gob", "gouv", "gov", "ltd", "me", "mil", "ne", "net", "nom", "or", "org", "plc")
)
"""Second-level labels under which unrelated owners have their domains, as in `co.uk`."""
_AFTER_KEYWORD = re.compile(rb"[\s;(]")
_LONGEST_NAME = 200
_NAME_PARTS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Household:
    """Who belongs to a mailbox: its own addresses with their names, and the domains of its organisation."""

    own: tuple[Address, ...] = ()
    internal_domains: frozenset[str] = frozenset()


def sender_signals(head: Head, household: Household) -> frozenset[str]:
    """What a head gives away about its sender, of `SIGNALS`."""
    return frozenset(_sender_signals(head, household)) | frozenset(_kinds(head.fields))


def _sender_signals(head: Head, household: Household) -> Iterator[str]:
    counts: dict[str, int] = {}
    for field in head.fields:
        counts[field.name.lower()] = counts.get(field.name.lower(), 0) + 1
    if any(counts.get(name, 0) > 1 for name in _ONCE):
        yield "duplicate_header"
    if len(head.from_) > 1 or counts.get("from", 0) > 1:
        yield "multiple_from"
    senders = {_domain(address.address) for address in head.from_}
    answered = {_domain(address.address) for address in head.reply_to[:_MOST_ADDRESSES]} - senders if senders else ()
    if any(not any(_are_related(one, sender) for sender in islice(senders, _MOST_ADDRESSES)) for one in answered):
        yield "reply_to_differs"
    for sender in head.from_[:20]:
        yield from _of_one(sender, household)


def _of_one(sender: Address, household: Household) -> Iterator[str]:
    domain = _domain(sender.address)
    named = list(_ADDRESS.finditer(_plain(sender.name or "")[:500]))
    if any(match[0] != sender.address.lower() for match in named):
        yield "display_name_address"
    internal = household.internal_domains | {_domain(address.address) for address in household.own}
    external = bool(internal) and not _is_within(domain, internal)
    if external and sender.name and _is_internal_name(sender.name, household, named):
        yield "internal_name_external_address"
    if _is_mixed(domain) or (external and any(_looks_like(domain, ours) for ours in internal)):
        yield "confusable_sender"


def _is_internal_name(name: str, household: Household, named: list[re.Match[str]]) -> bool:
    """One of the mailbox's own names, or an address of its organisation."""
    names = {_seen_name(address.name) for address in household.own if address.name}
    return _seen_name(name) in names or any(_is_within(match[1], household.internal_domains) for match in named)


def _kinds(fields: tuple[Field, ...]) -> Iterator[str]:
    for field in fields:
        name, value = field.name.lower(), field.value.strip().lower()
        if name == "auto-submitted":
            automatic = _AFTER_KEYWORD.split(value, maxsplit=1)[0] not in (b"", b"no")
        else:
            automatic = name in ("x-autoreply", "x-autorespond") or (name == "precedence" and value == b"auto_reply")
        if automatic:
            yield "auto_submitted"
        if name in ("list-id", "list-unsubscribe") or (name == "precedence" and value in _BULK):
            yield "bulk"


def _domain(address: str) -> str:
    return address.rpartition("@")[2].lower().rstrip(".")


def _are_related(first: str, second: str) -> bool:
    """One domain is above the other, or both are below a third that has an owner."""
    one, other = (domain.split(".")[::-1] for domain in (first, second))
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared > 2 or (shared == 2 and one[1] not in _PUBLIC)


def _seen_name(name: str) -> tuple[str, ...]:
    """The parts of a name as the eye takes them in, in whatever order they stand."""
    return tuple(sorted(_NAME_PARTS.findall(skeleton(name[:_LONGEST_NAME]))))


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).lower().split())


def _is_within(domain: str, domains: Collection[str]) -> bool:
    return any(domain == one or domain.endswith(f".{one}") for one in domains)


def _looks_like(domain: str, ours: str) -> bool:
    """Another domain that is the same to the eye, or begins like ours; hyphens are easily overlooked."""
    if not ours or domain == ours:
        return False
    if domain.startswith(f"{ours}."):
        return True
    theirs, own = skeleton(_unicode(domain)), skeleton(_unicode(ours))
    return theirs.replace("-", "") == own.replace("-", "")


_LATIN = dict(zip("аеорсухіјѕһԁԛԝӏкмтвнгпοαρνυικτηεχγ0135", "aeopcyxijshdqwlkmtbhrnoapvuiktnexyoles", strict=True))
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("ⅼ", "l"))


def skeleton(text: str) -> str:
    """Text as the eye takes it in: letters of other scripts and figures as the Latin ones they look like."""
    folded = "".join(
        _LATIN.get(letter, letter)
        for letter in unicodedata.normalize("NFKD", text.lower())
        if not unicodedata.combining(letter)
    )
    for pair, one in _PAIRS:
        folded = folded.replace(pair, one)
    return folded.replace("i", "l")


def _is_mixed(domain: str) -> bool:
    """Letters of Latin beside those of a script with look-alikes, within one label."""
    return any(
        any("a" <= letter <= "z" for letter in label) and any("\u0370" <= letter <= "\u052f" for letter in label)
        for label in _unicode(domain).split(".")
    )


def _unicode(domain: str) -> str:
    """A domain with its A-labels (RFC 5890) as the letters they stand for."""
    return ".".join(_u_label(label) for label in domain[:255].split("."))


def _u_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode").lower()
    except (UnicodeError, ValueError):
        return label
