"""How often each token may call: a bucket that refills steadily, so that a burst is fine and a flood is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from postroom.base.clock import Clock
from postroom.store import callrates
from postroom.store.database import Database

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

    def __init__(self, clock: Clock, shared: Database | None = None) -> None:
        """`shared` is a store that other gateways count in too; without it, what is spent is known here alone."""
        self._clock = clock
        self._shared = shared
        self._left: dict[str, tuple[float, float]] = {}

    async def take(self, key: str, allowance: Allowance) -> int:
        """Take one call. Returns 0, or the whole seconds after which the next is free. Raises StoreError."""
        if self._shared is None or not allowance.per_minute:
            return self.spend(key, allowance)
        now = self._clock.now()
        return await callrates.take(self._shared, key, allowance.per_minute, allowance.burst, now)

    def spend(self, key: str, allowance: Allowance) -> int:
        """The same, of what is known here alone."""
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
