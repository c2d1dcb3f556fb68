"""All policies of one configuration, compiled when they are first asked for; a new configuration is a new snapshot."""

from __future__ import annotations

from postroom.base.caller import Binding
from postroom.config import Config
from postroom.policy.effective import NoGrant, Policy, compile_policy
from postroom.policy.messagerules import Report


class Policies:
    """One for the process, and another after the configuration was read again."""

    def __init__(self, config: Config, report: Report = lambda _: None) -> None:
        self._config = config
        self._report = report
        self._compiled: dict[tuple[str, str, tuple[str, ...]], Policy | None] = {}

    def of(self, binding: Binding, mailbox: str) -> Policy | None:
        """What a bound caller may do in a mailbox; None if its profile grants nothing there, or is there no more."""
        key = (binding.profile, mailbox, binding.restrict)
        if key not in self._compiled:
            self._compiled[key] = self._compile(*key)
        return self._compiled[key]

    def _compile(self, profile: str, mailbox: str, restrict: tuple[str, ...]) -> Policy | None:
        try:
            return compile_policy(self._config, profile, mailbox, restrict, self._report)
        except NoGrant:
            return None
