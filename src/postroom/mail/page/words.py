"""For writing a page down as Markdown that a model reads: nothing in it that says nothing."""

from __future__ import annotations

import re

LINK_OPEN, LINK_CLOSE = "\x0e", "\x0f"
"""Around the number of a link, after its label; no other text holds these."""

_CELL, _KEPT_SPACE, _KEPT_TAB, _BLANK = "\x01", "\x02", "\x03", "\x04"
_KEPT = {" ": _KEPT_SPACE, "\t": _KEPT_TAB}
_RUN = re.compile(r" {2,}")
_CELLS = re.compile(r" *\x01 *")
_EDGES = " \xa0"
MAX_QUOTES = 8
MAX_LISTS = 8
"""Levels that are told apart: a line must not cost more than the text that made it."""
INLINE, LINE, PARAGRAPH = 0, 1, 2


class Words:
    """Text and breaks in document order, made lines."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._prefix = ""
        self._gap = INLINE
        self._marker = ""
        self._quotes = self._quoted = 0
        self._row = 0
        self._lists: list[int | None] = []

    def text(self, words: str) -> None:
        """Words of a line, with white space as the page shows it."""
        if words.isspace():
            if self._line and not self._gap:
                self._line.append(" ")
            return
        if self._gap or not self._line:
            self._begin()
        self._line.append(words)

    def kept(self, text: str) -> None:
        """Words whose lines and blanks count, as in `pre`."""
        for number, line in enumerate(text.split("\n")):
            if number:
                self.line_end()
            if line:
                if self._gap or not self._line:
                    self._begin()
                self._line.append(line.replace(" ", _KEPT_SPACE).replace("\t", _KEPT_TAB))

    def line_end(self) -> None:
        """A `<br>`: the second in a row leaves an empty line."""
        if self._row:
            self.text(" ")
        else:
            self._gap = (
                LINE if self._line and self._gap == INLINE else PARAGRAPH if self._lines or self._line else INLINE
            )

    def block(self, gap: int) -> None:
        """The edge of a block: what follows stands on a new line, or after an empty one; in a list, never after one."""
        self._break(min(gap, LINE) if self._lists else gap)

    def _break(self, gap: int) -> None:
        if self._row:
            self.text(" ")
        elif gap > self._gap:
            self._gap = gap

    def mark(self, marker: str) -> None:
        """What the next line begins with: a bullet, a heading's `#`."""
        self._marker += marker

    def unmark(self) -> None:
        """The item that was to be marked said nothing."""
        self._marker = ""

    def link(self, number: int) -> None:
        """The link whose label has just been written."""
        blank = ""
        while self._line and self._line[-1].isspace():
            blank = self._line.pop()
        if self._line:
            last = self._line.pop()
            label = last.rstrip(" ")
            self._line += [label, f"{LINK_OPEN}{number}{LINK_CLOSE}", last[len(label) :] or blank]

    def rule(self) -> None:
        """A horizontal rule."""
        self.block(LINE)
        self.text("---")
        self.block(LINE)

    def quote(self, by: int) -> None:
        """A blockquote begins (1) or ends (-1)."""
        self.block(PARAGRAPH)
        self._quotes += by

    def list_begins(self, first: int | None) -> None:
        """A list, with the number of its first item where items are numbered."""
        self.block(PARAGRAPH)
        self._lists.append(first)

    def list_ends(self) -> None:
        self._lists.pop()
        self.block(PARAGRAPH)

    def item(self) -> None:
        """A list item."""
        self.block(LINE)
        number = self._lists[-1] if self._lists else None
        indent = "  " * (min(len(self._lists), MAX_LISTS) - 1)
        self.mark(indent + ("- " if number is None else f"{number}. "))
        if number is not None:
            self._lists[-1] = number + 1

    def row(self, by: int) -> None:
        """A table row whose cells stand on one line begins (1) or ends (-1)."""
        if by > 0:
            self.block(LINE)
        self._row += by
        if by < 0:
            self.block(LINE)

    def cell(self, *, blank: bool = False) -> None:
        """The end of a cell of such a row; a `blank` one keeps its place."""
        if blank:
            self.text(_BLANK)
        if self._line and not self._gap:
            self._line.append(_CELL)

    def written(self) -> str:
        """Everything, without empty lines at either end."""
        self._flush()
        return "\n".join(self._lines).strip("\n").replace(_KEPT_SPACE, " ").replace(_KEPT_TAB, "\t")

    def _begin(self) -> None:
        self._flush()
        quotes = min(self._quotes, MAX_QUOTES)
        if self._gap == PARAGRAPH and self._lines and self._lines[-1]:
            self._lines.append(("> " * min(quotes, self._quoted)).rstrip())
        self._prefix, self._marker, self._gap, self._quoted = "> " * quotes + self._marker, "", INLINE, quotes

    def _flush(self) -> None:
        line = "".join(self._line)
        if _CELL in line:
            line = _row_of([cell for cell in _CELLS.split(line) if cell.strip(_EDGES)])
        line = _RUN.sub(" ", line).strip(_EDGES)
        if line:
            self._lines.append(self._prefix + line)
        self._line = []


def _row_of(cells: list[str]) -> str:
    """Cells on one line, unless all of them are empty."""
    if all(cell.strip(_EDGES) == _BLANK for cell in cells):
        return ""
    return " | ".join(cells).replace(_BLANK, "")
