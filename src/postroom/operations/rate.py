"""How often each token may call: a bucket that refills steadily, so that a burst is fine and a flood is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from postroom.base.clock import Clock

_MOST_TOKENS = 10_000
_GRAIN = 1e-6
"""What sums of fractions may lack of a whole call: who waits as told must not be turned away."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """`per_minute` calls, `burst` of them at once if they were saved up; 0 means no limit."""

    per_minute: int
    burst: int


class Rate:
    """What each key has left of its allowance."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def spend(self, key: str, allowance: Allowance) -> int:
        """Take one call. Returns 0, or the whole seconds after which the next is free."""
        if not allowance.per_minute:
            return 0
        now = self._clock.monotonic()
        left, since = self._left.get(key, (float(allowance.burst), now))
        left = min(allowance.burst, left + (now - since) * allowance.per_minute / 60)
        if left < 1 - _GRAIN:
            self._left[key] = (left, now)
            return math.ceil((1 - left) * 60 / allowance.per_minute)
        if len(self._left) >= _MOST_TOKENS:
            self._left.clear()
        self._left[key] = (max(0.0, left - 1), now)
        return 0
