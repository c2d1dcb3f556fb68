"""The configuration read again while the gateway runs: who may do what changes at once, the rest with a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from postroom.base.logs import Log
from postroom.config import Config, ConfigError
from postroom.operations.trail import Trail
from postroom.policy.widening import widened
from postroom.precautions import warn
from postroom.store.audit import Event

CHANGEABLE = ("lists", "policies", "ceiling", "profiles", "tests", "tokens")
"""The keys of the file that are obeyed from the next call on."""
_MOST_FAULTS = 20


class Reloading:
    """Of one gateway; `take` puts a configuration in force, in one step and for the calls that begin after it."""

    def __init__(
        self, config: Config, read: Callable[[], Config], take: Callable[[Config], None], trail: Trail, log: Log
    ) -> None:
        self.is_stale = False
        """The file has faults, or had when it was read last: what it said before is still in force."""
        self._config = config
        self._read = read
        self._take = take
        self._trail = trail
        self._log = log

    async def again(self) -> None:
        """Read the file, and take it, or keep what is in force if it has faults."""
        try:
            read = await asyncio.to_thread(self._read)
        except ConfigError as error:
            self.is_stale = True
            name = Path(error.file.name)
            for fault in error.faults[:_MOST_FAULTS]:
                self._log.error("config.reload_failed", reason=fault.render(name), count=len(error.faults))
            return
        changes = {key: getattr(read, key) for key in CHANGEABLE}
        config = self._config.model_copy(update={**changes, "sha256": read.sha256})
        more = await asyncio.to_thread(widened, self._config, config)
        waiting = _differing(config, read)
        self._take(config)
        self._config, self.is_stale = config, False
        self._tell(len(more), waiting)

    def _tell(self, more: int, waiting: list[str]) -> None:
        """To the audit and the log: which file, how many decisions became more permissive, and what waits."""
        sha256 = self._config.sha256
        facts = {"sha256": sha256, "widened": more, **({"waiting": waiting} if waiting else {})}
        self._trail.later(Event("event", "config.load", self._trail.now, facts=facts))
        for key in waiting:
            self._log.warning("config.needs_restart", reason=key)
        warn(self._config, self._log)
        self._log.info("config.loaded", hash=sha256, count=more)


def _differing(config: Config, read: Config) -> list[str]:
    """The keys of the file that say something else than what is in force."""
    return [key for key in type(read).model_fields if getattr(config, key) != getattr(read, key)]
