"""What `postroom check` says: every mailbox's two sides, in lines for a person to act on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from postroom.config import Config
from postroom.mailbox.checkup import Checkup, Side, Trouble, check

_NOTHING = "The configuration has no mailbox, so there is nothing to try. Add one under mailboxes."


def run(config: Config, *, verbose: bool = False) -> tuple[list[str], bool]:
    """Try every mailbox of the configuration: the lines to print, and whether all is well."""
    checkups = asyncio.run(check(config.mailboxes, config.limits))
    well = bool(checkups) and all(checkup.well for checkup in checkups)
    return list(told(checkups, verbose=verbose)), well


def told(checkups: Sequence[Checkup], *, verbose: bool = False) -> Iterator[str]:
    """The lines of a report: a paragraph for each mailbox, and a last line about all of them."""
    for checkup in checkups:
        yield f"Mailbox {checkup.mailbox}"
        for side in checkup.sides:
            yield from _side(side, verbose)
        yield ""
    yield _summary(checkups)


def _side(side: Side, verbose: bool) -> Iterator[str]:
    name = f"  {side.side.upper()} {side.address}"
    if not side.troubles:
        yield f"{name}: well"
    for trouble in side.troubles:
        yield f"{name}: {trouble.what}."
        yield from _advice(trouble)
    for warning in side.warnings:
        yield f"{name}: warning: {warning.what}."
        yield from _advice(warning)
    if verbose and side.offers:
        yield f"    Offers {_names(side, offered=True)}; lacks {_names(side, offered=False)}."


def _names(side: Side, *, offered: bool) -> str:
    return ", ".join(name for name, has in side.offers.items() if has is offered) or "nothing of interest"


def _advice(trouble: Trouble) -> Iterator[str]:
    if trouble.said:
        yield f'    The server says: "{trouble.said}"'
    for line in trouble.remedy.splitlines():
        yield f"    {line}"


def _summary(checkups: Sequence[Checkup]) -> str:
    if not checkups:
        return _NOTHING
    ill = [checkup.mailbox for checkup in checkups if not checkup.well]
    if not ill:
        return "All is well." if len(checkups) == 1 else f"All {len(checkups)} mailboxes are well."
    return f"Not well, of {len(checkups)}: {', '.join(ill)}."
