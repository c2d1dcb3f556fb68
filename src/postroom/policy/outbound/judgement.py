"""What a policy says of an outgoing message: how it ends, and why, in words for whoever wanted to send it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from postroom.base.levels import Outcome


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a message may come no further than `outcome`. With `SEND` it is a note for the audit and stops nothing."""

    rule: str
    """The key of the policy, such as `outbound.recipients.allow`."""
    outcome: Outcome
    sentence: str
    """For the caller: what is wrong and what to do. It names no address that the caller did not supply."""
    addresses: tuple[str, ...] = ()
    """`local@domain` of recipients that it is about, as far as the caller supplied them."""
    policy: int = 0
    """Which policy says so: 0 is the grant, 1 the ceiling, and what restricts follows in its order."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The least of all that every policy says."""

    outcome: Outcome
    reasons: tuple[Reason, ...]
    """Each once, the most restrictive first."""

    @property
    def decisive(self) -> tuple[Reason, ...]:
        """Those without which the outcome would be another; none for a message that may be sent."""
        return tuple(one for one in self.reasons if one.outcome is self.outcome and one.outcome is not Outcome.SEND)


def judgement_of(reasons: Iterable[Reason], most: Outcome) -> Judgement:
    """The minimum of all reasons, and of `most`."""
    found = sorted(dict.fromkeys(reasons), key=lambda one: one.outcome)
    return Judgement(min([most, *(one.outcome for one in found)]), tuple(found))
