"""Which folders exist for a caller, and what it may do with them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from postroom.base.glob import Glob, path_glob
from postroom.base.levels import Access
from postroom.config.policies.folders import FolderPolicy
from postroom.config.policies.values import is_special

_INBOX = "INBOX"
_COPIES = frozenset(("all", "flagged", "important"))
"""Special uses of folders that show the mail of other folders once more."""


@dataclass(frozen=True, slots=True)
class FolderSet:
    """Compiled folder patterns; made by `compile_folders`."""

    globs: tuple[Glob, ...]
    uses: frozenset[str]

    def holds(self, path: str, special_use: str | None) -> bool:
        """Whether a folder is meant, by its canonical path or by its special use."""
        return special_use in self.uses or any(glob.matches(path) for glob in self.globs)


@dataclass(frozen=True, slots=True)
class _Rule:
    match: FolderSet
    exempt: FolderSet
    access: Access

    def is_about(self, path: str, special_use: str | None) -> bool:
        return self.match.holds(path, special_use) and not self.exempt.holds(path, special_use)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What one policy says of folders; `default` None has no opinion."""

    default: Access | None
    rules: tuple[_Rule, ...]
    refuses_copies: bool

    def access(self, path: str, special_use: str | None) -> Access:
        if self.refuses_copies and special_use in _COPIES:
            return Access.HIDDEN
        matched = [rule.access for rule in self.rules if rule.is_about(path, special_use)]
        if matched:
            return min(matched)
        return Access.WRITABLE if self.default is None else self.default

    def conceals(self, path: str, special_use: str | None) -> bool:
        return any(rule.access is Access.HIDDEN and rule.is_about(path, special_use) for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Folders:
    """What all policies together say of folders: each decides, and the least counts."""

    policies: tuple[_Rules, ...]
    counts: bool
    """Folders tell how many visible messages they hold."""
    taint_labels: bool
    """A message with the label of a folder that a rule hides is hidden everywhere."""

    def access(self, path: str, special_use: str | None) -> Access:
        """Of a folder by its canonical path and its special use, as `mailbox.folders` names it."""
        return min((policy.access(path, special_use) for policy in self.policies), default=Access.HIDDEN)

    def concealed(self, path: str, special_use: str | None) -> bool:
        """A rule hides it by name or use, not just the default: then its label hides a message elsewhere."""
        return any(policy.conceals(path, special_use) for policy in self.policies)


def canonical(name: str, delimiter: str | None) -> str:
    """The path of a folder by its decoded name: NFC, `/` between levels, `/` and `%` within one percent-encoded.

    INBOX is written so whatever its case, also above other folders (RFC 9051 5.1).
    """
    name = unicodedata.normalize("NFC", name)
    levels = name.split(delimiter) if delimiter else [name]
    first = _INBOX if levels[0].upper() == _INBOX else levels[0]
    return "/".join(level.replace("%", "%25").replace("/", "%2F") for level in (first, *levels[1:]))


def compile_folders(patterns: Iterable[str]) -> FolderSet:
    """The folders that patterns mean."""
    texts = list(patterns)
    uses = {text.removeprefix("special:") for text in texts if is_special(text)}
    return FolderSet(
        tuple(path_glob(canonical_pattern(text)) for text in texts if not is_special(text)), frozenset(uses)
    )


def canonical_pattern(text: str) -> str:
    """A pattern with INBOX as paths have it."""
    first, slash, rest = text.partition("/")
    return (_INBOX if first.upper() == _INBOX else first) + slash + rest


def compile_folder_rules(grant: FolderPolicy, restrictions: Iterable[FolderPolicy]) -> Folders:
    """The folders of a grant, restricted."""
    restricting = tuple(restrictions)
    return Folders(
        policies=(_rules(grant, granting=True), *(_rules(one, granting=False) for one in restricting)),
        counts=grant.counts and all(one.counts for one in restricting if one.said("counts")),
        taint_labels=grant.taint_labels or any(one.taint_labels for one in restricting if one.said("taint_labels")),
    )


def _rules(policy: FolderPolicy, *, granting: bool) -> _Rules:
    has_opinion = granting or (policy.said("default") and policy.default != "pass")
    default = None if policy.default == "pass" else Access[policy.default.upper()]
    return _Rules(
        default=default if has_opinion else None,
        rules=tuple(
            _Rule(compile_folders(rule.match), compile_folders(rule.except_), Access[rule.access.upper()])
            for rule in policy.rules
        ),
        refuses_copies=policy.duplicates == "refuse" and (granting or policy.said("duplicates")),
    )
