"""For telling table rows that are data from those that only place things on the page."""

from __future__ import annotations

from collections.abc import Iterator

from turbohtml import Document, Element

MAX_CELL = 200
"""Characters of a cell that stands beside others on one line; more is a column of text."""
_SPAN_DIGITS = 3
_CELLS = frozenset({"td", "th"})
_LAYOUT = frozenset({"presentation", "none"})
_NO_CELL_HOLDS = "tr:has(table, ul, ol, h1, h2, h3, h4, h5, h6, blockquote, hr)"


def tabular_rows(page: Document) -> tuple[frozenset[Element], frozenset[Element]]:
    """The rows of a page that have two cells or more with short texts, outside tables that are said to be layout;
    and the empty cells in them that leave a place, since other rows have something in their column.
    """
    rows = page.select("tr")
    if not rows:
        return frozenset(), frozenset()
    placing = set(page.select(_NO_CELL_HOLDS))
    found = [row for row in rows if row not in placing and not _is_layout(row) and _is_tabular(row)]
    filled = {(_table(row), column) for row in found for column, cell in _columns(row) if _text(cell)}
    blanks = (
        cell for row in found for column, cell in _columns(row) if not _text(cell) and (_table(row), column) in filled
    )
    return frozenset(found), frozenset(blanks)


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.children if isinstance(cell, Element) and cell.tag in _CELLS]


def _columns(row: Element) -> Iterator[tuple[int, Element]]:
    """Each cell with the number of the column it begins in."""
    column = 0
    for cell in _cells(row):
        yield column, cell
        span = cell.attr("colspan") or ""
        column += int(span) if span.isascii() and span.isdecimal() and len(span) <= _SPAN_DIGITS else 1


def _text(cell: Element) -> str:
    return cell.text.strip()


def _is_tabular(row: Element) -> bool:
    texts = [_text(cell) for cell in _cells(row)]
    return sum(map(bool, texts)) > 1 and all(len(text) <= MAX_CELL for text in texts)


def _table(row: Element) -> Element | None:
    table = row.parent
    if isinstance(table, Element) and table.tag != "table":
        table = table.parent
    return table if isinstance(table, Element) else None


def _is_layout(row: Element) -> bool:
    table = _table(row)
    return table is not None and (table.attr("role") or "").strip().lower() in _LAYOUT
