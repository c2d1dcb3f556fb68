"""The section of a policy on actions: which changes may be made in folders that are writable."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from postroom.config.policies.values import Duration, FolderPattern, LabelGlob
from postroom.config.section import Section
from postroom.config.values import NotNegative


class ActionPolicy(Section):
    """Which changes may be made, in folders that are writable."""

    flags: tuple[Literal["seen", "flagged", "answered"], ...] = ()
    """Flags that may be set and taken away; a relay token may set all three where this is left out."""
    labels: tuple[LabelGlob, ...] = ()
    """Labels that may be set and taken away."""
    move_to: tuple[FolderPattern, ...] = ()
    """Folders that messages may be moved to."""
    create_under: tuple[FolderPattern, ...] = ()
    """Paths of folders that may be created."""
    trash: bool = False
    """Messages may be moved to Trash."""
    erase: bool = False
    """Messages that this profile moved to Trash may be erased there."""
    erase_after: Duration = timedelta(hours=24)
    """How long they must have been in Trash."""
    max_messages_per_day: NotNegative = 200
    """Messages that may be changed in a day."""
