"""What decisions about a bound caller rest on beside a message: its own records, and the mail that it may see."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from postroom.policy.evidence import Source


@dataclass(frozen=True, slots=True)
class Records:
    """Loaded for one call. Addresses are in lower case."""

    sent_ids: frozenset[str] = frozenset()
    """Message-IDs of what this identity sent."""
    recipients: frozenset[str] = frozenset()
    """Whom it wrote to."""
    senders: Counter[str] = field(default_factory=Counter)
    """How many messages that it may see each address wrote."""

    def in_reply_to_own(self, ids: tuple[str, ...]) -> bool:
        return not self.sent_ids.isdisjoint(ids)

    def known_correspondent(self, address: str, source: Source) -> bool | None:
        """A message of which this is asked is itself among those that are seen, so one more is needed."""
        if source == "visible":
            return self.senders[address.lower()] > 1
        return address.lower() in self.recipients if source == "own" else None
