"""How much of a message's files may be had: what is known of each, and what the policies make of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from postroom.base.glob import Glob, text_glob
from postroom.base.kleene import Truth
from postroom.base.levels import Files, Finding
from postroom.config.policies.attachments import AttachmentPolicy
from postroom.policy.contentrules import ContentRules
from postroom.policy.messagekeys import endings_of

UNKNOWN_TYPE = "application/octet-stream"
"""The type of a file of which nothing is known; it passes only where it is named."""


@dataclass(frozen=True, slots=True)
class PartFacts:
    """What is known of a file. None is unknown, and counts against it."""

    name: str | None
    """As it is shown."""
    type: str | None
    """By its octets, where the declared type and the name agree with it; else None."""
    size: int | None
    """Decoded octets."""
    ordinal: int = 0
    """Its place among the files of the message, from 0."""
    is_archive: bool = False
    members: tuple[PartFacts, ...] | None = None
    """Of an archive that was looked into whole."""
    encrypted: Truth = False
    macros: Truth = False
    scannable: bool = False
    """Its text can be had, so that detectors can look through it."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """What one policy says of files; None has no opinion."""

    mode: Files | None = None
    types: tuple[Glob, ...] | None = None
    """Types that pass; () for all that are known."""
    refused_types: tuple[Glob, ...] = ()
    extensions: frozenset[str] | None = None
    """Endings that pass; None for all."""
    refused_extensions: frozenset[str] = frozenset()
    max_bytes: int | None = None
    max_count: int | None = None
    archives: str = "inspect"
    refuses_archives: bool = False
    refuses_encrypted: bool = False
    refuses_macros: bool = False
    refuses_unscanned: bool = False

    def level(self, facts: PartFacts) -> Files:
        if self.max_count is not None and facts.ordinal >= self.max_count:
            return Files.NONE
        mode = Files.DOWNLOAD if self.mode is None else self.mode
        return min(mode, self._kind(facts))

    def _kind(self, facts: PartFacts) -> Files:
        if not self._passes(facts):
            return Files.METADATA
        if self.refuses_archives and facts.is_archive:
            return self._archive(facts)
        return Files.METADATA if self.refuses_unscanned and not facts.scannable else Files.DOWNLOAD

    def _passes(self, facts: PartFacts) -> bool:
        too_large = self.max_bytes is not None and (facts.size is None or facts.size > self.max_bytes)
        hidden = (self.refuses_encrypted and facts.encrypted is not False) or (
            self.refuses_macros and facts.macros is not False
        )
        return not too_large and not hidden and self._type_passes(facts) and self._name_passes(facts)

    def _type_passes(self, facts: PartFacts) -> bool:
        kind = (facts.type or UNKNOWN_TYPE).lower()
        if any(glob.matches(kind) for glob in self.refused_types):
            return False
        if self.types is None:
            return True
        if kind == UNKNOWN_TYPE:
            return any(glob.text == UNKNOWN_TYPE for glob in self.types)
        return not self.types or any(glob.matches(kind) for glob in self.types)

    def _name_passes(self, facts: PartFacts) -> bool:
        endings = endings_of(facts.name)
        if not endings.isdisjoint(self.refused_extensions):
            return False
        return self.extensions is None or (bool(endings) and endings <= self.extensions)

    def _archive(self, facts: PartFacts) -> Files:
        if self.archives == "list":
            return Files.TEXT
        if self.archives == "deny" or facts.members is None:
            return Files.METADATA
        return Files.DOWNLOAD if all(map(self._member_passes, facts.members)) else Files.METADATA

    def _member_passes(self, facts: PartFacts) -> bool:
        """A file within an archive: it passes by itself, and its text could be had."""
        return self._passes(facts) and not facts.is_archive and (facts.scannable or not self.refuses_unscanned)


@dataclass(frozen=True, slots=True)
class Attachments:
    """What all policies together say of files: each decides, and the least counts."""

    policies: tuple[_Rules, ...]

    def level(self, facts: PartFacts) -> Files:
        """How much of this file may be had."""
        return min((policy.level(facts) for policy in self.policies), default=Files.NONE)

    @property
    def mode(self) -> Files:
        """The most that may be had of any file."""
        modes = [policy.mode for policy in self.policies if policy.mode is not None]
        return min(modes, default=Files.NONE)


def compile_attachments(
    grant: AttachmentPolicy, restrictions: Iterable[AttachmentPolicy], content: ContentRules
) -> Attachments:
    """The files of a grant, restricted. `content` tells whether detectors take something out of texts."""
    redacts = any(finding <= Finding.REDACT for finding in content.detectors.values())
    redacts = redacts or any(pattern.action <= Finding.REDACT for pattern in content.patterns)
    policies = [_rules(grant, redacts=redacts, granting=True)]
    policies += [_rules(one, redacts=redacts, granting=False) for one in restrictions]
    return Attachments(tuple(policies))


def _rules(policy: AttachmentPolicy, *, redacts: bool, granting: bool) -> _Rules:
    def said(key: str) -> bool:
        return granting or policy.said(key)

    types, extensions = policy.types, policy.extensions
    names_types = granting or types.said("allow")
    names_extensions = (granting or extensions.said("allow")) and extensions.allow
    refused = extensions.deny if granting or extensions.said("deny") else ()
    return _Rules(
        mode=Files[policy.mode.upper()] if said("mode") else None,
        types=tuple(text_glob(one) for one in types.allow) if names_types else None,
        refused_types=tuple(text_glob(one) for one in types.deny),
        extensions=frozenset(extensions.allow) if names_extensions else None,
        refused_extensions=frozenset(refused),
        max_bytes=policy.max_bytes if said("max_bytes") else None,
        max_count=policy.max_count if said("max_count") else None,
        archives=policy.archives,
        refuses_archives=said("archives"),
        refuses_encrypted=policy.encrypted == "deny" and said("encrypted"),
        refuses_macros=policy.macros == "deny" and said("macros"),
        refuses_unscanned=redacts and policy.unscanned == "deny" and said("unscanned"),
    )
