"""For a page's safe HTML before it is written: its texts and tags in order, so that texts can still be changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from postroom.mail.page.safe import SafeHtml

_VOID = frozenset({"br", "hr"})


class Kind(Enum):
    """What a piece is."""

    TEXT = "text"
    BEGIN = "begin"
    END = "end"
    VOID = "void"
    """A line end or a rule."""
    LINK = "link"
    """The place behind a link's label; `number` says which."""


class Piece(NamedTuple):
    """A text, or a tag of what has or lacks a counterpart in safe HTML."""

    kind: Kind
    value: str = ""
    """The words, or the element's name."""
    attributes: str = ""
    address: str = ""
    number: int = 0
    block: bool = False
    """Its words stand apart from those beside it."""


class Pieces:
    """Takes what `SafeHtml` takes, and keeps it."""

    is_cut = False

    def __init__(self) -> None:
        self.seen: list[Piece] = []
        self._blocks: list[Piece] = []

    def text(self, words: str) -> None:
        self.seen.append(Piece(Kind.TEXT, words))

    def begin(self, tag: str, attributes: str = "", address: str = "", *, block: bool = False) -> str:
        if tag in _VOID:
            self.seen.append(Piece(Kind.VOID, tag, block=True))
            return ""
        self._blocks.append(Piece(Kind.END, tag, block=block))
        self.seen.append(Piece(Kind.BEGIN, tag, attributes, address, block=block))
        return tag

    def end(self, tag: str) -> None:
        self.seen.append(self._blocks.pop())

    def link(self, number: int) -> None:
        self.seen.append(Piece(Kind.LINK, number=number))

    def written(self) -> str:
        return ""


class Edit(NamedTuple):
    """A half-open range of the text of pieces, and what is to stand there instead."""

    start: int
    end: int
    words: str


def text_of(pieces: Sequence[Piece]) -> str:
    """The words of pieces; those that stand apart are on lines of their own."""
    return "".join(text for _, text in _laid_out(pieces))


def with_text(pieces: Sequence[Piece], text: str) -> list[Piece]:
    """Pieces with another text of the same length."""
    kept: list[Piece] = []
    position = 0
    for piece, own in _laid_out(pieces):
        is_text = piece.kind is Kind.TEXT and own
        kept.append(piece._replace(value=text[position : position + len(own)]) if is_text else piece)
        position += len(own)
    return kept


def labels_of(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Where in the text the labels of links stand, in order; of one inside another only the outer."""
    labels: list[tuple[int, int]] = []
    position = depth = start = 0
    for piece, text in _laid_out(pieces):
        if piece.value == "a" and piece.kind is Kind.BEGIN:
            start, depth = (start if depth else position), depth + 1
        elif piece.value == "a" and piece.kind is Kind.END:
            depth -= 1
            labels += [] if depth else [(start, position)]
        position += len(text)
    return labels


def edited(pieces: Sequence[Piece], edits: Sequence[Edit]) -> list[Piece]:
    """Pieces with these edits of their text, which are in order and apart from each other.

    Tags inside what is replaced go with it, as far as that leaves every other element closed: how many there were is
    not to be told.
    """
    kept: list[Piece] = []
    inside: list[Piece] = []
    position = at = 0
    for piece, text in _laid_out(pieces):
        while at < len(edits) and edits[at].end <= position:
            kept += _unmatched(inside)
            inside, at = [], at + 1
        is_inside = at < len(edits) and edits[at].start < position
        start, position = position, position + len(text)
        if piece.kind is not Kind.TEXT:
            (inside if is_inside else kept).append(piece)
            continue
        words, at_end = _of_text(piece.value if text else "", start, edits, at)
        if not text and not is_inside:
            words = piece.value
        if at_end != at:  # what began in another text ends here: its tags stand before the rest
            kept += _unmatched(inside)
            inside, at = [], at_end
        kept += [piece._replace(value=words)] if words else []
    return kept + _unmatched(inside)


def _of_text(words: str, start: int, edits: Sequence[Edit], at: int) -> tuple[str, int]:
    """One text after the edits that touch it, and the first edit that is not over with it."""
    written: list[str] = []
    position, end = start, start + len(words)
    while at < len(edits) and edits[at].start < end:
        edit = edits[at]
        if edit.start >= start:
            written += [words[position - start : edit.start - start], edit.words]
        position = min(edit.end, end)
        if edit.end > end:
            return "".join(written), at
        at += 1
    return "".join([*written, words[position - start :]]), at


def _laid_out(pieces: Iterable[Piece]) -> Iterable[tuple[Piece, str]]:
    """Each piece, and what it adds to the text: blanks at the edges of lines add nothing."""
    is_line_start = True
    for piece in pieces:
        text = ""
        if piece.kind is Kind.TEXT:
            text = piece.value if not is_line_start or not piece.value.isspace() else ""
        elif piece.block and not is_line_start:
            text = "\n"
        is_line_start = text.endswith("\n") if text else is_line_start
        yield piece, text


def _unmatched(inside: Sequence[Piece]) -> list[Piece]:
    """Of tags in a range, those whose counterpart is outside."""
    ends: list[Piece] = []
    begins: list[Piece] = []
    for piece in inside:
        if piece.kind is Kind.BEGIN:
            begins.append(piece)
        elif piece.kind is Kind.END:
            if begins:
                begins.pop()
            else:
                ends.append(piece)
    while ends and begins and ends[-1].value == begins[0].value:
        ends.pop()
        begins.pop(0)
    return ends + begins


def written(pieces: Iterable[Piece], most: int | None = None) -> tuple[str, bool]:
    """Pieces as safe HTML, with at most so many characters of words; and whether there was more."""
    safe = SafeHtml(str)
    open_tags: list[str] = []
    left = most
    is_cut = False
    for piece in pieces:
        if piece.kind is Kind.TEXT:
            words = piece.value if left is None else piece.value[:left]
            left = None if left is None else left - len(words)
            is_cut = is_cut or len(words) < len(piece.value)
            safe.text(words)
        elif piece.kind is Kind.END:
            safe.end(open_tags.pop())
        elif piece.kind is not Kind.LINK and not is_cut:
            tag = safe.begin(piece.value, piece.attributes, piece.address)
            open_tags += [tag] if piece.kind is Kind.BEGIN else []
        elif piece.kind is Kind.BEGIN:
            open_tags.append("")
    return safe.written(), is_cut or safe.is_cut
