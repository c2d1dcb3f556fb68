"""Which changes a caller may make."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from postroom.base.glob import Glob, text_glob
from postroom.base.levels import Access
from postroom.config.policies.actions import ActionPolicy
from postroom.policy.folderrules import Folders, FolderSet, compile_folders

ALL_FLAGS = frozenset(("seen", "flagged", "answered"))
"""All that any policy may open."""
_LABEL = re.compile(r"[A-Za-z0-9._/-]{1,48}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Actions:
    """What all policies together let be changed, in folders that are writable."""

    flags: frozenset[str]
    """Of `seen`, `flagged`, `answered`: those a token of the mailbox toolset may set and take away."""
    relay_flags: frozenset[str]
    """Those of a relay token, which may set all three where the grant says nothing of flags."""
    labels: tuple[tuple[Glob, ...], ...]
    move_to: tuple[FolderSet, ...]
    create_under: tuple[FolderSet, ...]
    trash: bool
    """Messages may be moved to Trash."""
    erase: bool
    """Messages may be erased from Trash, `erase_after` they were put there."""
    erase_after: timedelta
    max_messages_per_day: int
    folders: Folders

    def may_label(self, label: str) -> bool:
        """Whether this label may be set and taken away."""
        return _LABEL.fullmatch(label) is not None and all(
            any(glob.matches(label) for glob in globs) for globs in self.labels
        )

    def may_move_to(self, path: str, special_use: str | None) -> bool:
        """Whether messages may be moved into this folder, by its canonical path and special use."""
        named = all(folders.holds(path, special_use) for folders in self.move_to)
        return named and self.folders.access(path, special_use) is Access.WRITABLE

    def may_create(self, path: str) -> bool:
        """Whether a folder of this canonical path may be created.

        It must be one that the caller could see, so that an answer tells nothing of folders that it cannot.
        """
        named = all(folders.holds(path, None) for folders in self.create_under)
        return named and self.folders.access(path, None) >= Access.VISIBLE


def compile_actions(grant: ActionPolicy, restrictions: Iterable[ActionPolicy], folders: Folders) -> Actions:
    """The actions of a grant, restricted."""
    policies = (grant, *restrictions)

    def said(key: str) -> list[ActionPolicy]:
        return [policy for at, policy in enumerate(policies) if at == 0 or policy.said(key)]

    flags = [frozenset[str](policy.flags) for policy in policies if policy.said("flags")]
    relay = ALL_FLAGS.intersection(*flags)
    return Actions(
        flags=relay if grant.said("flags") else frozenset(),
        relay_flags=relay,
        labels=tuple(tuple(text_glob(one) for one in policy.labels) for policy in said("labels")),
        move_to=tuple(compile_folders(policy.move_to) for policy in said("move_to")),
        create_under=tuple(compile_folders(policy.create_under) for policy in said("create_under")),
        trash=all(policy.trash for policy in said("trash")),
        erase=all(policy.erase for policy in said("erase")),
        erase_after=max(policy.erase_after for policy in said("erase_after")),
        max_messages_per_day=min(policy.max_messages_per_day for policy in said("max_messages_per_day")),
        folders=folders,
    )
