"""The relay's changes: three flags, in folders that may be written."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask, Uid, listed
from postroom.operations.operation import CHANGES, Call, operation

_Flags = Annotated[list[Literal["seen", "flagged", "answered"]], BeforeValidator(listed)]


class UpdateFlags(Ask):
    folder: str
    uid: Uid
    flags: Annotated[_Flags, Field(min_length=1, max_length=3)]
    """Which of the three."""
    action: Literal["add", "remove"]
    """Whether to set or to clear them."""


class Updated(Answer):
    """What was asked for is so now."""

    uid: str
    updated: bool
    """Always true: what cannot be changed is an error."""


@operation(title="Update flags", effect=CHANGES, access=Access(None))
async def update_message_flags(call: Call, ask: UpdateFlags) -> Updated:
    """Add or remove seen, flagged, answered on one message; its folder must be writable."""
    view = call.mailbox(None)
    flags = list(dict.fromkeys(ask.flags))
    await call.spend_changes(view, 1)
    await view.flag(ask.folder, ask.uid, flags, add=ask.action == "add")
    return Updated(uid=ask.uid, updated=True)
