"""The gateway with no bound on calls of bound tokens in a minute: `python -m bench.unhurried serve --config FILE`."""

from __future__ import annotations

from postroom.cli import main
from postroom.operations import perform
from postroom.operations.rate import Allowance


def hurry_nobody() -> None:
    """A policy lets a token make a hundred calls a second at most, and a bench makes a thousand."""
    if not hasattr(perform, "Allowance"):
        raise AttributeError(f"{perform.__name__} has no Allowance any more; tell the bench what it is now")
    perform.Allowance = lambda per_minute, burst: Allowance(0, 0)  # type: ignore[assignment,misc]


if __name__ == "__main__":
    hurry_nobody()
    main()
