"""A mailbox that is watched for endpoints, and what its watcher works with."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.base.logs import Log
from postroom.config import MailboxConfig
from postroom.events.endpoint import Endpoint, endpoints
from postroom.mailbox.board import Spot
from postroom.mailbox.directory import Directory
from postroom.mailbox.folders import folder_name
from postroom.mailbox.notices import Notice
from postroom.mailbox.numbers import Glimpse
from postroom.store.database import Database
from postroom.store.deliveries import Due


@dataclass(frozen=True, slots=True)
class Means:
    """One set for all watchers of a process."""

    directory: Callable[[], Directory]
    """By the policies that are in force at the moment."""
    database: Database
    clock: Clock
    log: Log
    chance: Callable[[], float] = field(default=random.random)


@dataclass(frozen=True, slots=True)
class Watched:
    """Folders of one mailbox, and whom to tell of them."""

    mailbox: str
    folders: tuple[str, ...]
    endpoints: tuple[Endpoint, ...]

    @property
    def spots(self) -> list[Spot]:
        return [(self.mailbox, folder) for folder in self.folders]

    def who_want(self, *kinds: str) -> list[Endpoint]:
        """The endpoints that are to be told of events of one of these types."""
        return [endpoint for endpoint in self.endpoints if any(map(endpoint.wants, kinds))]


HIDES = (Code.NOT_FOUND, Code.POLICY_DENIED)
"""What an endpoint meets that may not know of a folder, or not of what is in it."""


def watched(mailboxes: Sequence[MailboxConfig]) -> list[Watched]:
    """Those that have somebody to tell, in the configuration's order."""
    found = []
    for mailbox in mailboxes:
        folders = tuple(dict.fromkeys(map(folder_name, mailbox.watched)))
        if folders:
            found.append(Watched(mailbox.name, folders, tuple(endpoints([mailbox]))))
    return found


def glimpse_of(endpoint: Endpoint, directory: Directory) -> Glimpse | None:
    """What an endpoint may see of its mailbox now; None if that is nothing."""
    try:
        return directory.glimpse(endpoint.caller, endpoint.mailbox)
    except GatewayError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        return None


def due(
    endpoint: Endpoint,
    notice: Notice,
    means: Means,
    folder: str | None = None,
    numbers: tuple[int, int] | tuple[None, None] = (None, None),
) -> Due:
    """What an endpoint is to be told; `numbers` are the message's UIDVALIDITY and UID, if it is about one."""
    body = notice.json(means.clock.now())
    return Due(endpoint.mailbox, endpoint.name, notice.type, body, folder, *numbers)
