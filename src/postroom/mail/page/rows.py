"""For telling table rows that are data from those that only place things on the page."""

from __future__ import annotations

from turbohtml import Document, Element

MAX_CELL = 200
"""Characters of a cell that stands beside others on one line; more is a column of text."""
_CELLS = frozenset({"td", "th"})
_LAYOUT = frozenset({"presentation", "none"})
_NO_CELL_HOLDS = "tr:has(table, ul, ol, h1, h2, h3, h4, h5, h6, blockquote, hr)"


def tabular_rows(page: Document) -> frozenset[Element]:
    """The rows of a page that have two cells or more with short texts, outside tables that are said to be layout."""
    rows = page.select("tr")
    if not rows:
        return frozenset()
    placing = set(page.select(_NO_CELL_HOLDS))
    return frozenset(row for row in rows if row not in placing and not _is_layout(row) and _is_tabular(row))


def _is_tabular(row: Element) -> bool:
    texts = [cell.text.strip() for cell in row.children if isinstance(cell, Element) and cell.tag in _CELLS]
    return sum(map(bool, texts)) > 1 and all(len(text) <= MAX_CELL for text in texts)


def _is_layout(row: Element) -> bool:
    table = row.parent
    if isinstance(table, Element) and table.tag != "table":
        table = table.parent
    return isinstance(table, Element) and (table.attr("role") or "").strip().lower() in _LAYOUT
