"""A policy, and the profiles that use it: what is granted, and what restricts it further."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from postroom.config.policies.actions import ActionPolicy
from postroom.config.policies.attachments import AttachmentPolicy
from postroom.config.policies.content import ContentPolicy
from postroom.config.policies.folders import FolderPolicy
from postroom.config.policies.limits import LimitPolicy
from postroom.config.policies.messages import MessagePolicy
from postroom.config.policies.outbound import OutboundPolicy
from postroom.config.section import Section
from postroom.config.values import Name


class PolicyConfig(Section):
    """What may be seen, changed and sent.

    In a policy that a profile grants, a key that is left out has its default. In one that restricts, it says nothing.
    """

    folders: FolderPolicy = FolderPolicy()
    """Which folders exist, and which may be read and written."""
    messages: MessagePolicy = MessagePolicy()
    """Which messages exist."""
    content: ContentPolicy = ContentPolicy()
    """What of a message may be read."""
    attachments: AttachmentPolicy = AttachmentPolicy()
    """Which files may leave."""
    actions: ActionPolicy = ActionPolicy()
    """Which changes may be made."""
    outbound: OutboundPolicy = OutboundPolicy()
    """What may be sent, and to whom."""
    limits: LimitPolicy = LimitPolicy()
    """Bounds on work and rates."""


class ProfileConfig(Section):
    """Which policy a token is bound to: one for all mailboxes, or one for each."""

    policy: Name | None = None
    """The policy for every mailbox that `policies` does not name."""
    policies: Mapping[str, Name] = Field(default_factory=dict)
    """A policy for each mailbox by name."""
    restrict: tuple[Name, ...] = ()
    """Policies that restrict it further."""

    def grant(self, mailbox: str) -> str | None:
        """The name of the policy that grants for a mailbox, or None if nothing is granted."""
        return self.policies.get(mailbox, self.policy)
