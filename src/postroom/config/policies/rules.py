"""What must hold between policies, profiles, lists and tests: names that exist, and what a grant may not leave open."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from postroom.config.faults import Finding, Where, nearest
from postroom.config.plain import Table, at, entries, items, table, text, texts
from postroom.config.policies.conflicts import broken_policy
from postroom.config.policies.content import DetectorsConfig
from postroom.config.policies.limits import UNBUILT_LIMITS
from postroom.config.policies.tokenrules import broken_tokens
from postroom.config.policies.values import list_named

_ADDRESS_KEYS = frozenset(("from", "recipient", "recipient_all", "reply_to", "allow", "deny"))


@dataclass(frozen=True, slots=True)
class Names:
    """What the file names."""

    mailboxes: tuple[str, ...]
    lists: Table
    policies: Table
    profiles: Table

    @classmethod
    def of(cls, top: Table) -> Names:
        boxes = (text(table(mailbox).get("name")) for mailbox in items(top.get("mailboxes")))
        return cls(tuple(boxes), table(top.get("lists")), table(top.get("policies")), table(top.get("profiles")))


def broken_policies(top: Table) -> Iterator[Finding]:
    """Every rule that policies, profiles, lists, tests and bound tokens break, judged on plain values."""
    names = Names.of(top)
    yield from _lists(names)
    yield from _profiles(names)
    granted = _granted(names)
    for where, policy, grants in _policies(top, names, granted):
        yield from _targets(policy, where, names)
        yield from _unbuilt(policy, where)
        yield from broken_policy(policy, where, grants=grants)
    yield from _tests(top, names)
    yield from broken_tokens(top, names.profiles, names.policies, names.mailboxes)


def _policies(top: Table, names: Names, granted: Collection[str]) -> Iterator[tuple[Where, Table, bool]]:
    """Each policy with its place, and whether some profile grants it."""
    if top.get("ceiling"):
        yield ("ceiling",), table(top.get("ceiling")), False
    for name, policy in names.policies.items():
        yield ("policies", name), table(policy), name in granted


def _granted(names: Names) -> frozenset[str]:
    found = set[str]()
    for profile in map(table, names.profiles.values()):
        found.add(text(profile.get("policy")))
        found |= {text(policy) for policy in table(profile.get("policies")).values()}
    return frozenset(found)


def _lists(names: Names) -> Iterator[Finding]:
    for name, patterns in names.lists.items():
        for where, pattern in texts(patterns, ("lists", name)):
            if list_named(pattern) is not None:
                yield Finding(where, "a list cannot name a list", "write its addresses out")
            if pattern in ("anyone", "*"):
                yield Finding(where, "everybody is no list", "write anyone in the rule itself")


def _profiles(names: Names) -> Iterator[Finding]:
    for name, value in names.profiles.items():
        profile, where = table(value), ("profiles", name)
        if not profile.get("policy") and not profile.get("policies"):
            yield Finding(where, "grants nothing", "give it a policy, or policies by mailbox")
        for mailbox, policy in table(profile.get("policies")).items():
            if mailbox not in names.mailboxes:
                yield _unknown((*where, "policies", mailbox), "mailbox", mailbox, names.mailboxes)
            yield from _policy_named((*where, "policies", mailbox), policy, names)
        yield from _policy_named((*where, "policy"), profile.get("policy"), names)
        for position, restriction in enumerate(items(profile.get("restrict"))):
            yield from _policy_named((*where, "restrict", position), restriction, names)


def _policy_named(where: Where, name: object, names: Names) -> Iterator[Finding]:
    if isinstance(name, str) and name not in names.policies:
        yield _unknown(where, "policy", name, names.policies)


def _targets(policy: Table, where: Where, names: Names) -> Iterator[Finding]:
    """Lists and detectors that a policy names."""
    detectors = {*DetectorsConfig.model_fields, *_own_detectors(policy)}
    for place, key, value in entries(policy, where):
        for at_, name in texts(value, place):
            wanted = list_named(name) if key in _ADDRESS_KEYS else None
            if wanted is not None and wanted not in names.lists:
                yield _unknown(at_, "list", wanted, names.lists)
            elif key == "sources" and name == "contacts" and name not in names.lists:
                yield Finding(at_, "there is no list contacts", "add it to lists, or leave the source out")
            elif key == "detector" and name not in detectors:
                yield _unknown(at_, "detector", name, detectors)


def _own_detectors(policy: Table) -> Iterator[str]:
    """Detectors that the policy declares, for what is read and for what is sent."""
    for patterns in (at(policy, "content", "patterns"), at(policy, "outbound", "content", "patterns")):
        yield from (text(table(pattern).get("name")) for pattern in items(patterns))


def _unbuilt(policy: Table, where: Where) -> Iterator[Finding]:
    for key, subject in UNBUILT_LIMITS.items():
        if at(policy, "limits", key) is not None:
            yield Finding((*where, "limits", key), f"{subject} not built yet", "remove it")
    outbound = table(policy.get("outbound"))
    if outbound.get("undo_window") not in (None, "0", "0s"):
        problem = "calling a message back is not built yet"
        yield Finding((*where, "outbound", "undo_window"), problem, "write undo_window: 0, or remove it")
    if outbound.get("approval") is not None:
        problem = "a person's approval is not built yet"
        yield Finding(
            (*where, "outbound", "approval"), problem, "remove it; what is held ends as a draft, or as denied"
        )


def _tests(top: Table, names: Names) -> Iterator[Finding]:
    for index, value in enumerate(items(top.get("tests"))):
        test, where = table(value), ("tests", index)
        profile, mailbox = text(test.get("profile")), text(test.get("mailbox"))
        if profile and profile not in names.profiles:
            yield _unknown((*where, "profile"), "profile", profile, names.profiles)
        if mailbox and mailbox not in names.mailboxes:
            yield _unknown((*where, "mailbox"), "mailbox", mailbox, names.mailboxes)
        if not mailbox and len(names.mailboxes) != 1:
            yield Finding(where, "does not say in which mailbox", "add mailbox: NAME")


def _unknown(where: Where, kind: str, name: str, known: Collection[str]) -> Finding:
    return Finding(where, f"there is no such {kind}", nearest(name, known))
