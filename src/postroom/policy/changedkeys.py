"""What changed in keys that no example decides: told unless it can only restrict, so that nothing widens in silence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from postroom.config.policies.policy import PolicyConfig
from postroom.config.policies.values import spell_duration
from postroom.config.schema import ConfigFile, MailboxConfig

Said = Mapping[str, Sequence[Any]]
"""What each policy that has a say gives for a key."""

_SECTIONS = ("folders.", "messages.", "content.", "attachments.", "actions.", "limits.", "outbound.recipients.")
"""Whose keys are decided by examples, but for those below."""
_FILES = ("types.allow", "types.deny", "extensions.allow", "extensions.deny")
_UNDECIDED = frozenset(
    (
        *("folders.duplicates", "messages.explain_to_agent", "content.raw_overrides_content", "content.patterns"),
        *(f"attachments.{key}" for key in (*_FILES, "archives", "encrypted", "macros", "unscanned")),
    )
)
_RESTRICTING = ("patterns", "hold_when", "no_reply_to", "types.deny", "extensions.deny")
"""Lists each entry of which takes something away."""
_GRANTING = ("after_untrusted_read.except_to", "links.allow_domains", "types.allow", "extensions.allow")
"""Lists each entry of which lets something through."""
_LONGER = ("after_untrusted_read.window", "loop.window")
"""Spans of which the longer one is the stricter."""
_LEVELS = ("deny", "hold", "flag", "list", "inspect", "off", "allow")
"""The strictest first."""
_OF_MAILBOX = ("internal_domains", "internal_without_dmarc", "trusted_authserv_ids", "trusted_hops", "identities")
"""Settings of a mailbox that say who counts as whom."""


def changed_keys(old: Sequence[PolicyConfig], new: Sequence[PolicyConfig], decided: Collection[str]) -> Iterator[str]:
    """Sentences on keys of the policies that have a say in a place, the grant first; `decided` are others' matter."""
    before, after = _said(old), _said(new)
    for key in sorted(before):
        if key == "messages.rules":
            yield from _rules(_entries(before[key]), _entries(after.get(key, ())))
        elif key not in decided and (key in _UNDECIDED or not key.startswith(_SECTIONS)):
            yield from _of_key(key, before[key], after.get(key, ()))


def changed_settings(old: ConfigFile, new: ConfigFile) -> Iterator[str]:
    """Sentences on what the files say of who counts as whom."""
    known = {mailbox.name: mailbox for mailbox in old.mailboxes}
    for mailbox in new.mailboxes:
        if mailbox.name in known:
            yield from _of_mailbox(known[mailbox.name], mailbox)
    for name in sorted(old.lists):
        if set(old.lists[name]) != set(new.lists.get(name, ())):
            yield f"lists.{name} is not what it was, and policies may name it"


def _of_mailbox(old: MailboxConfig, new: MailboxConfig) -> Iterator[str]:
    for key in _OF_MAILBOX:
        if getattr(old, key) != getattr(new, key):
            yield f"{new.name}.{key} is not what it was, and policies may rest on it"


def _said(policies: Sequence[PolicyConfig]) -> dict[str, list[Any]]:
    said: dict[str, list[Any]] = {}
    for at, policy in enumerate(policies):
        for key, value in _leaves(policy.model_dump(by_alias=True, exclude_unset=at > 0)):
            said.setdefault(key, []).append(value)
    return said


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and path not in ("outbound.quiet_hours", "messages.rules"):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    else:
        yield path, value


def _of_key(key: str, before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
    if key.endswith(_RESTRICTING):
        yield from _gone(key, _entries(before), _entries(after))
        return
    for value in before:
        if value is not None and not any(_is_as_strict(key, value, other) for other in after):
            told = ", ".join(map(_told, after)) or "left out"
            yield f"{key} was {_told(value)}, and is {told}: what that lets through is for you to judge"


def _is_as_strict(key: str, before: Any, after: Any) -> bool:
    if before == after:
        return True
    if key.endswith("extensions.allow") and not (before and after):
        return not before  # an empty one lets all of them through
    if key.endswith(_GRANTING):
        return set(after) <= set(before)
    if key.endswith(_LONGER):
        return bool(after >= before)
    if before in _LEVELS and after in _LEVELS:
        return _LEVELS.index(after) < _LEVELS.index(before)
    return after is False and before is True and key == "messages.explain_to_agent"


def _rules(before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
    """A rule that hides or withholds stays as it was, and none that allows is new."""
    hiding = [[rule for rule in rules if rule.get("action") != "allow"] for rules in (before, after)]
    yield from _gone("messages.rules", *hiding)
    for rule in after:
        if rule.get("action") == "allow" and rule not in before:
            yield f"messages.rules: {_name(rule)} allows what fits it"


def _gone(key: str, before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
    names = {_name(entry) for entry in after}
    for entry in before:
        if entry not in after:
            yield f"{key}: {_name(entry)} is {'not what it was' if _name(entry) in names else 'gone'}"


def _entries(lists: Sequence[Any]) -> list[Any]:
    return [entry for one in lists for entry in one]


def _name(entry: Any) -> str:
    if isinstance(entry, Mapping):
        named = entry.get("id") or entry.get("name")
        return str(named) if named else ", ".join(f"{key} {_told(value)}" for key, value in entry.items() if value)
    return _told(entry)


def _told(value: object) -> str:
    if isinstance(value, timedelta):
        return spell_duration(value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_told(one)}" for key, one in value.items() if one is not None)
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(map(_told, value)) or "nothing"
    return str(value)
