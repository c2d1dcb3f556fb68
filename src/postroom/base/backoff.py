"""How long to leave something alone that failed: longer with each failure, and not all at the same moment."""

from __future__ import annotations

FIRST_REST = 1.0
LONGEST_REST = 900.0


def rest_after(failures: int, chance: float) -> float:
    """Seconds to wait after so many failures in a row; `chance` in 0..1 spreads them by a quarter either way."""
    if failures < 1:
        return 0.0
    return float(min(LONGEST_REST, FIRST_REST * 2 ** min(failures - 1, 20)) * (0.75 + 0.5 * chance))
