"""What one policy may not say at once: grants that undo its own rules, and grants that were not meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from postroom.base.glob import path_glob
from postroom.config.faults import Finding, Where
from postroom.config.plain import Table, at
from postroom.config.policies.content import NEVER_SHOWN, ContentPolicy, DetectorsConfig
from postroom.config.policies.outbound import OutboundPolicy
from postroom.config.policies.policy import PolicyConfig
from postroom.config.policies.values import is_special

_COPIES = ("special:all", "special:flagged", "special:important")


def broken_policy(policy: Table, where: Where, *, grants: bool) -> Iterator[Finding]:
    """Every rule that one policy breaks by itself; `grants` if some profile grants it.

    A section whose shape is at fault is told of elsewhere, and not looked at here.
    """
    whole = _typed(policy)
    if grants:
        yield from _no_opinion(policy, where)
        yield from _nobody(whole.outbound, where)
        yield from _raw(whole.content, where)
        yield from _copies(whole, where)
    yield from _twice(whole, where)
    yield from _headers(whole.content, where)
    yield from _senders(whole.outbound, where)
    yield from _folders_in_reach(whole, where)


def _typed(policy: Table) -> PolicyConfig:
    """The policy without the sections that are not as they must be."""
    sound: dict[str, Any] = {}
    for key, section in policy.items():
        try:
            sound |= {key: getattr(PolicyConfig.model_validate({key: section}), key)}
        except ValidationError:
            continue
    return PolicyConfig(**sound)


def _no_opinion(policy: Table, where: Where) -> Iterator[Finding]:
    for section, instead in (("folders", "hidden"), ("messages", "allow")):
        if at(policy, section, "default") == "pass":
            suggestion = f"write another one, such as {instead}, or use the policy in restrict only"
            yield Finding((*where, section, "default"), "a policy that is granted must have an opinion", suggestion)


def _nobody(outbound: OutboundPolicy, where: Where) -> Iterator[Finding]:
    if outbound.mode == "send" and not outbound.recipients.allow:
        suggestion = "add recipients: {allow: [...]}, with anyone for everybody"
        yield Finding((*where, "outbound"), "may send, but to nobody", suggestion)


def _raw(content: ContentPolicy, where: Where) -> Iterator[Finding]:
    stronger = ("hide", "withhold", "redact")
    detects = any(getattr(content.detectors, name) in stronger for name in DetectorsConfig.model_fields)
    detects = detects or any(pattern.action in stronger for pattern in content.patterns)
    hides = detects or content.hidden_text == "remove" or content.links.mode != "full"
    if content.raw and hides and not content.raw_overrides_content:
        suggestion = "write raw_overrides_content: true if that is meant"
        yield Finding((*where, "content", "raw"), "shows what other keys of content take out", suggestion)


def _copies(policy: PolicyConfig, where: Where) -> Iterator[Finding]:
    if policy.folders.duplicates == "accepted":
        return
    for index, rule in enumerate(policy.folders.rules):
        if rule.access != "hidden" and any(pattern in _COPIES for pattern in rule.match):
            problem = "opens a folder that shows the mail of others once more"
            place = (*where, "folders", "rules", index)
            yield Finding(place, problem, "write duplicates: accepted in folders if that is meant")


def _twice(policy: PolicyConfig, where: Where) -> Iterator[Finding]:
    yield from _unique([rule.id for rule in policy.messages.rules], (*where, "messages", "rules"), "id")
    content, outbound = policy.content.patterns, policy.outbound.content.patterns
    yield from _unique([one.name for one in content], (*where, "content", "patterns"), "name", _BUILT_IN)
    place = (*where, "outbound", "content", "patterns")
    yield from _unique([one.name for one in outbound], place, "name", _BUILT_IN)


_BUILT_IN = frozenset(DetectorsConfig.model_fields) | {"own_secrets"}


def _unique(names: Sequence[str], where: Where, key: str, taken: Iterable[str] = ()) -> Iterator[Finding]:
    seen = set(taken)
    for index, name in enumerate(names):
        if name in seen:
            yield Finding((*where, index, key), "another one has the same", f"every {key} must be unique")
        seen.add(name)


def _headers(content: ContentPolicy, where: Where) -> Iterator[Finding]:
    for index, name in enumerate(content.headers):
        if name in NEVER_SHOWN:
            problem = "is never shown: it tells of the way mail took"
            yield Finding((*where, "content", "headers", index), problem, "remove it")


def _senders(outbound: OutboundPolicy, where: Where) -> Iterator[Finding]:
    for index, pattern in enumerate(outbound.from_):
        local, at_, domain = pattern.rpartition("@")
        if not at_ or domain.startswith("*") or (local != "*" and "*" in local):
            problem = "must be an address, or *@domain for all of a domain"
            yield Finding((*where, "outbound", "from", index), problem)
    for index, pattern in enumerate(outbound.recipients.allow):
        if pattern == "*":
            place = (*where, "outbound", "recipients", "allow", index)
            yield Finding(place, "lets mail go to everybody", "write anyone if that is meant")


def _folders_in_reach(policy: PolicyConfig, where: Where) -> Iterator[Finding]:
    """Moving or creating must not be able to meet what a rule hides: an answer would tell of it."""
    hidden = [pattern for rule in policy.folders.rules if rule.access == "hidden" for pattern in rule.match]
    for key in ("move_to", "create_under"):
        for index, pattern in enumerate(getattr(policy.actions, key)):
            place = (*where, "actions", key, index)
            if key == "create_under" and is_special(pattern):
                yield Finding(place, "a folder that is created has no special use yet", "write its path")
            elif any(_meet(pattern, other) for other in hidden):
                yield Finding(place, "can meet a folder that a rule of folders hides", "make one of them narrower")


def _meet(one: str, other: str) -> bool:
    if is_special(one) or is_special(other):
        return one == other
    return path_glob(_inbox(one)).intersects(path_glob(_inbox(other)))


def _inbox(pattern: str) -> str:
    first, slash, rest = pattern.partition("/")
    return ("INBOX" if first.upper() == "INBOX" else first) + slash + rest
