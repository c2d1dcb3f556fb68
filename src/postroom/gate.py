"""The application of a running gateway, and the configuration that it serves by from one moment to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from postroom.base.clock import Clock
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.config import Config
from postroom.mailbox.directory import Directory
from postroom.operations.books import Books
from postroom.operations.perform import Corridor
from postroom.policy.snapshot import Policies
from postroom.reloading import Reloading
from postroom.store.database import Database
from postroom.surfaces.application import Application
from postroom.surfaces.authenticate import Authenticator
from postroom.surfaces.documents import Documents
from postroom.surfaces.guard import Guard
from postroom.telling import Telling


@dataclass(frozen=True, slots=True)
class Inside:
    """What is behind the application, whichever configuration is in force."""

    directory: Directory
    database: Database
    books: Books
    telling: Telling
    clock: Clock
    log: Log
    meters: Meters


class Gate:
    """The application, and the configuration that it serves by."""

    def __init__(self, config: Config, read_again: Callable[[], Config], inside: Inside) -> None:
        server, limits, log = config.server, config.limits, inside.log
        self._inside = inside
        self._corridor = Corridor(
            inside.directory,
            inside.clock,
            log,
            limits,
            inside.books,
            public_url=server.public_url,
            meters=inside.meters,
        )
        self.reloading = Reloading(config, read_again, self._take, inside.books.trail, log)
        self.application = Application(
            Guard(server.public_url, server.allowed_hosts, server.allowed_origins),
            self._authenticator(config),
            self._corridor,
            Documents(server.public_url, lambda: self.reloading.is_stale),
            limits,
            log,
            inside.meters,
        )

    def _take(self, config: Config) -> None:
        directory = self._inside.directory.under(Policies(config))
        self._inside.telling.directory = directory
        self.application.serve(self._authenticator(config), self._corridor.over(directory))

    def _authenticator(self, config: Config) -> Authenticator:
        names = [mailbox.name for mailbox in config.mailboxes]
        inside = self._inside
        return Authenticator(config.tokens, names, inside.database, inside.clock, inside.books.trail)
