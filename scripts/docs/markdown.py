"""The few forms of Markdown that the documents are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GENERATED = "<!-- Made from the code by `python -m scripts.docs`; change the code, not this file. -->"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; columns without a single entry are left out."""
    rows = list(rows)
    kept = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    lines = [[heads[place] for place in kept], ["---"] * len(kept)]
    lines += [[row[place].replace("|", "\\|") for place in kept] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def code(text: object) -> str:
    return f"`{text}`"


def document(blocks: Iterable[str]) -> str:
    """Blocks with an empty line between them."""
    return "\n\n".join(block.strip("\n") for block in blocks if block) + "\n"
