"""What decisions about a bound caller rest on beside a message: its own records, and the mail that it may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from postroom.mail.model import Fetched
from postroom.policy.evidence import Source
from postroom.policy.people import named_in


@dataclass(frozen=True, slots=True)
class Records:
    """Loaded for one call. Addresses are keys (`StrictAddress.key`)."""

    sent_ids: frozenset[str] = frozenset()
    """Message-IDs of what this identity sent."""
    written_to: frozenset[str] = frozenset()
    """Whom it wrote to."""
    senders: Counter[str] = field(default_factory=Counter)
    """How many messages that it may see each address wrote."""

    def in_reply_to_own(self, ids: tuple[str, ...]) -> bool:
        return not self.sent_ids.isdisjoint(ids)

    def known_correspondent(self, address: str, source: Source) -> bool | None:
        """A message of which this is asked is itself among those that are seen, so one more is needed."""
        if source == "visible":
            return self.senders[address] > 1
        return address in self.written_to if source == "own" else None


def senders_of(rows: Iterable[Fetched]) -> Counter[str]:
    """How many of these messages each address wrote."""
    return Counter(
        key
        for row in rows
        for key in {
            one.key
            for written in row.head.fields
            if written.name.lower() == "from"
            for one in named_in(written.value).addresses
        }
    )
