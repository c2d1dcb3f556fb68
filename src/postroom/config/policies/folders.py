"""The section of a policy on folders: which exist for a caller, and which it may read and write."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from postroom.config.policies.values import AccessLevel, FolderPattern, OneOrMore
from postroom.config.section import Section


class FolderRule(Section):
    """A rule on folders: of all that match, the most restrictive counts, in whatever order they stand."""

    match: OneOrMore[FolderPattern]
    """Paths with `?`, `*` (within a level) and `**`, or `special:` and a special use."""
    except_: OneOrMore[FolderPattern] = Field(default=(), alias="except")
    """Folders that the rule is not about."""
    access: AccessLevel
    """`hidden`: it does not exist. `visible`: it is listed. `readable`, and `writable` for what `actions` allows."""


class FolderPolicy(Section):
    """Which folders exist, and which may be read and written."""

    default: Literal["hidden", "visible", "readable", "writable", "pass"] = "hidden"
    """For folders that no rule matches; `pass`, in a restriction only, has no opinion."""
    rules: tuple[FolderRule, ...] = ()
    """What is known of folders."""
    counts: bool = False
    """Folders tell how many messages may be seen in them."""
    taint_labels: bool = True
    """A message with the label of a folder that a rule hides is hidden everywhere."""
    duplicates: Literal["refuse", "accepted"] = "refuse"
    """`accepted` opens `special:all`, `special:flagged` and `special:important`, which show mail of other folders."""
