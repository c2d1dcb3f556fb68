"""Whether what an endpoint is about to be told of may still be told: its policy may be another one by now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import TypeAlias

from postroom.base.errors import Code, GatewayError
from postroom.events.endpoint import Endpoint
from postroom.mail.model import Named
from postroom.mailbox.directory import Directory
from postroom.store.courierqueue import Claimed

_SECONDS = 10.0
"""With the attempt that follows this is less than a claim lasts."""
_OF_MESSAGES = ("message.received", "message.flags")
"""Of a message that was deleted nothing can be asked any more."""
_NO_MORE = (Code.NOT_FOUND, Code.POLICY_DENIED, Code.CONFLICT)


class Sight(Enum):
    """What an endpoint would find if it looked for the message now."""

    SHOWN = auto()
    HIDDEN = auto()
    """Or gone: nobody who looks can tell."""
    UNKNOWN = auto()
    """The mailbox cannot be reached."""


StillShown: TypeAlias = Callable[[Endpoint, Named], Awaitable[Sight]]


def message_of(endpoint: Endpoint, claimed: Claimed) -> Named | None:
    """The message to look for before this is told; None where nothing need be."""
    folder, uid, uid_validity = claimed.folder, claimed.uid, claimed.uid_validity
    if not endpoint.is_bound or claimed.type not in _OF_MESSAGES or folder is None:
        return None
    return None if uid is None or uid_validity is None else Named(folder, uid, uid_validity)


def looking_through(directory: Callable[[], Directory]) -> StillShown:
    """Look with the endpoint's own eyes, in the directory of the policies that are in force."""

    async def still_shown(endpoint: Endpoint, message: Named) -> Sight:
        try:
            async with asyncio.timeout(_SECONDS):
                shown = await directory().glimpse(endpoint.caller, endpoint.mailbox).shows(message)
        except TimeoutError:
            return Sight.UNKNOWN
        except GatewayError as error:
            return Sight.HIDDEN if error.code in _NO_MORE else Sight.UNKNOWN
        return Sight.SHOWN if shown else Sight.HIDDEN

    return still_shown
