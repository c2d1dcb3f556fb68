"""A configured webhook as one who may see its mailbox: what it is told of is what its view shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from postroom.base.caller import Binding, Caller, Scope
from postroom.config import MailboxConfig
from postroom.config.webhooks import WebhookConfig


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Of one mailbox; named uniquely within it."""

    mailbox: str
    settings: WebhookConfig

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def is_bound(self) -> bool:
        """Whether a policy decides what it may see."""
        return not self.settings.unbound

    def wants(self, event: str) -> bool:
        """Whether it is to be told of events of this type."""
        return event in self.settings.events

    @property
    def caller(self) -> Caller:
        """Whose view decides what exists for it; its ids are those of that identity."""
        binding = None
        if self.settings.user is not None and self.settings.profile is not None:
            binding = Binding(self.settings.user, self.settings.profile)
        token = f"webhook/{self.mailbox}/{self.name}"
        return Caller(token, frozenset({Scope.READ}), frozenset({self.mailbox}), binding=binding)


def endpoints(mailboxes: Sequence[MailboxConfig]) -> list[Endpoint]:
    """All of them, in the configuration's order."""
    return [Endpoint(mailbox.name, hook) for mailbox in mailboxes for hook in mailbox.webhooks]
