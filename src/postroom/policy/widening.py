"""What became more permissive from one configuration to another, decision by decision over a finite catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from postroom.base.levels import Finding
from postroom.config.policies.outbound import OutboundPolicy
from postroom.config.policies.values import spell_duration
from postroom.config.schema import ConfigFile
from postroom.policy.changedkeys import changed_keys, changed_settings
from postroom.policy.contentmeet import stricter
from postroom.policy.contentrules import ContentRules
from postroom.policy.effective import Limits, NoGrant, Policy, compile_policy, policies_of
from postroom.policy.people import compile_addresses, strictly
from postroom.policy.probes import Probes, probes_of
from postroom.policy.trials import evidence_of

_ORDERS: dict[str, tuple[object, ...]] = {
    "mode": ("deny", "draft", "hold", "send"),
    "reply_only": ("thread", "correspondent", "off"),
    "reply_all": ("deny", "hold", "allow"),
    "reply_to": ("never", "same_domain", "follow"),
    "forward": ("deny", "sanitized", "raw"),
    "require_draft": (True, False),
    "draft_recipients": ("same", "any"),
    "drafts": ("none", "own", "all"),
    "recipients.bcc": ("deny", "allow"),
    "recipients.internal_only": (True, False),
    "after_untrusted_read.action": ("deny", "draft", "hold", "send"),
    "content.html": ("deny", "allow"),
    "content.links.others": ("deny", "hold", "allow"),
    "attachments.mode": ("deny", "hold", "allow"),
}
"""Keys of `outbound` whose values have an order, the strictest first."""
_AMOUNTS = (
    *("recipients.max", "content.max_chars", "content.quote_max_lines", "loop.max_turns", "attachments.max_bytes"),
    *("attachments.max_count", "rate.messages.per_minute", "rate.messages.per_hour", "rate.messages.per_day"),
    *("rate.recipients.per_day", "rate.same_recipient.per_hour", "rate.same_recipient.per_day", "rate.bytes.per_day"),
)
"""Keys of `outbound` of which the smaller value is the stricter."""
_COMPARED = frozenset(f"outbound.{key}" for key in (*_ORDERS, *_AMOUNTS))


def widened(old: ConfigFile, new: ConfigFile) -> list[str]:
    """Each decision that the new file takes more permissively, in a sentence; a profile that is new is told whole.

    Folders, people, messages and files are those that either file speaks of, and a few usual ones. A change that these
    do not decide, and that is not known to restrict alone, is told as one for a person to judge.
    """
    probes = probes_of(old, new)
    sentences: list[str] = []
    for profile in new.profiles:
        for mailbox in new.mailboxes:
            after, before = _compiled(new, profile, mailbox.name), _compiled(old, profile, mailbox.name)
            place = f"{profile} in {mailbox.name}"
            if after is not None and before is None:
                sentences.append(f"{place}: is granted anew")
            elif after is not None and before is not None:
                sentences += [f"{place}: {change}" for change in _changes(before, after, probes)]
                said, says = (policies_of(one, profile, mailbox.name) for one in (old, new))
                sentences += [f"{place}: {change}" for change in changed_keys(said, says, _COMPARED)]
    return [*sentences, *(changed_settings(old, new) if new.profiles else ())]


def _compiled(file: ConfigFile, profile: str, mailbox: str) -> Policy | None:
    try:
        return compile_policy(file, profile, mailbox)
    except NoGrant:
        return None


def _changes(old: Policy, new: Policy, probes: Probes) -> Iterator[str]:
    yield from _folders(old, new, probes)
    yield from _messages(old, new, probes)
    yield from _content(old.content, new.content)
    yield from _files(old, new, probes)
    yield from _actions(old, new, probes)
    yield from _outbound(old, new, probes)
    for limit in fields(Limits):
        yield from _more(f"limits.{limit.name}", getattr(old.limits, limit.name), getattr(new.limits, limit.name))


def _folders(old: Policy, new: Policy, probes: Probes) -> Iterator[str]:
    for path, use in probes.folders:
        before, after = old.folders.access(path, use), new.folders.access(path, use)
        name = path if use in (None, "inbox") else f"special:{use}"
        yield from _more(f"folder {name}", before, after, lambda level: level.name.lower())
    yield from _more("folders.counts", old.folders.counts, new.folders.counts)
    yield from _more("folders.taint_labels", not old.folders.taint_labels, not new.folders.taint_labels, _negated)


def _messages(old: Policy, new: Policy, probes: Probes) -> Iterator[str]:
    """The first message of each kind of change; thousands of messages would say no more."""
    told = set[str]()
    for message in probes.messages:
        evidence = evidence_of(message)
        before, after = old.messages.verdict(evidence), new.messages.verdict(evidence)
        change = f"messages: {before.name.lower()} became {after.name.lower()}"
        if after > before and change not in told:
            told.add(change)
            example = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            yield f"{change}, such as {', '.join(f'{key} {value}' for key, value in example.items())}"
    if old.messages.withhold_subject and not new.messages.withhold_subject:
        yield "messages.withhold_subject: true became false"


def _content(old: ContentRules, new: ContentRules) -> Iterator[str]:
    for one in fields(ContentRules):
        if one.name in ("detectors", "patterns"):
            continue
        before, after = getattr(old, one.name), getattr(new, one.name)
        if before != after and stricter(one.name, before, after) != after:
            yield f"content: {one.name} was {_told(before)}, and is {_told(after)}"
    for name in sorted({*old.detectors, *new.detectors}):
        levels = (old.detectors.get(name, Finding.OFF), new.detectors.get(name, Finding.OFF))
        yield from _more(f"content.detectors.{name}", *levels, lambda level: level.name.lower())


def _files(old: Policy, new: Policy, probes: Probes) -> Iterator[str]:
    for facts in probes.files:
        what = f"file {facts.name} of type {facts.type or 'unknown'}, {facts.size} octets, number {facts.ordinal + 1}"
        levels = (old.attachments.level(facts), new.attachments.level(facts))
        yield from _more(what, *levels, lambda level: level.name.lower())


def _actions(old: Policy, new: Policy, probes: Probes) -> Iterator[str]:
    before, after = old.actions, new.actions
    for flag in sorted((after.flags | after.relay_flags) - (before.flags & before.relay_flags)):
        if (flag in after.flags) > (flag in before.flags) or (flag in after.relay_flags) > (flag in before.relay_flags):
            yield f"actions.flags: {flag} may be set"
    for label in probes.labels:
        yield from _more(f"label {label}", before.may_label(label), after.may_label(label))
    for path, use in probes.folders:
        yield from _more(f"move to {path}", before.may_move_to(path, use), after.may_move_to(path, use))
        if use is None:
            yield from _more(f"create {path}", before.may_create(path), after.may_create(path))
    for key in ("trash", "erase", "max_messages_per_day"):
        yield from _more(f"actions.{key}", getattr(before, key), getattr(after, key))
    yield from _more(
        "actions.erase_after", -before.erase_after, -after.erase_after, lambda value: spell_duration(-value)
    )


def _outbound(old: Policy, new: Policy, probes: Probes) -> Iterator[str]:
    for key, order in _ORDERS.items():
        before, after = (min(order.index(value) for value in _values(one, key)) for one in (old, new))
        yield from _more(f"outbound.{key}", before, after, lambda at, order=order: _told(order[at]))  # type: ignore[misc]
    for key in _AMOUNTS:
        yield from _more(f"outbound.{key}", *(min(_values(one, key)) for one in (old, new)))
    for address in probes.addresses:
        yield from _more(f"send to {address}", _may_write_to(old, address), _may_write_to(new, address))


def _values(policy: Policy, key: str) -> list[Any]:
    """What each policy says of a key; of a restriction only what the file gives."""
    return [value for at, one in enumerate(policy.outbound) for value in _said(one, key, granting=at == 0)]


def _said(outbound: OutboundPolicy, key: str, *, granting: bool) -> list[Any]:
    section: Any = outbound
    *tables, last = key.split(".")
    for step in tables:
        if not granting and not section.said(step):
            return []
        section = getattr(section, step)
    return [getattr(section, last)] if granting or section.said(last) else []


def _may_write_to(policy: Policy, address: str) -> bool:
    """Whether the lists of recipients let mail go there; what else decides is left out."""
    strict = strictly(address)
    if strict is None:
        return False
    allowed = [compile_addresses(one, policy.people, tags=False) for one in _values(policy, "recipients.allow")]
    denied = [compile_addresses(one, policy.people, tags=True) for one in _values(policy, "recipients.deny")]
    return all(one.holds(strict) for one in allowed) and not any(one.holds(strict) for one in denied)


def _more(what: str, before: Any, after: Any, spell: Callable[[Any], str] | None = None) -> Iterator[str]:
    if after > before:
        spelled = [(spell or _told)(value) for value in (before, after)]
        yield f"{what}: {spelled[0]} became {spelled[1]}"


def _negated(value: bool) -> str:
    return _told(not value)


def _told(value: object) -> str:
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value))) or "nothing"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    name = getattr(value, "name", None)
    return name.lower() if isinstance(name, str) else str(value)
