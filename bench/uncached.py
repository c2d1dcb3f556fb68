"""The gateway with caches that keep nothing: `python -m bench.uncached serve --config FILE`."""

from __future__ import annotations

from postroom.cli import main
from postroom.mailbox import cache
from postroom.operations import knownrows

_BOUNDS = ((cache, "MOST_ROWS", 0), (cache, "_LARGEST_MESSAGE", -1), (knownrows, "MOST_ROWS", 0))


def forget_everything() -> None:
    """Set bounds under which no row and no message is kept."""
    for module, name, bound in _BOUNDS:
        if not hasattr(module, name):
            raise AttributeError(f"{module.__name__} has no {name} any more; tell the bench what it is now")
        setattr(module, name, bound)


if __name__ == "__main__":
    forget_everything()
    main()
