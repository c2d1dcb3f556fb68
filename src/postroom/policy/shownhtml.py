"""Safe HTML under rules: the page that is read, with the same things redacted in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from postroom.mail.page import Page, Piece
from postroom.mail.page.pieces import Edit, Kind, edited, labels_of, text_of, with_text, written
from postroom.mail.unseen import tidy_piece
from postroom.mail.url import read_url
from postroom.policy.contentrules import ContentRules
from postroom.policy.redaction import SCAN_CHARS, Redaction, marker
from postroom.policy.shownlinks import LinkPass, Numbering, addresses, is_in_reference, told_targets
from postroom.policy.strings import harmless


class ShownHtml:
    """Makes the safe HTML of the pages of one message."""

    def __init__(self, rules: ContentRules, redaction: Redaction, links: LinkPass, subject: str) -> None:
        self._rules = rules
        self._redaction = redaction
        self._links = links
        self._subject = subject

    def pieces(self, page: Page) -> list[Piece]:
        """The page in pieces whose words are redacted."""
        pieces = [self._filtered(piece, page) for piece in page.pieces]
        pieces = edited(pieces, self._addresses(pieces, page))
        pieces = self._harmless(pieces)
        for stage in self._redaction.stages:
            finds = self._redaction.finds(text_of(pieces)[:SCAN_CHARS], stage, self._subject)
            pieces = edited(pieces, [Edit(one.start, one.end, marker(one.name)) for one in finds])
        return pieces

    def redacted_together(self, pages: list[list[Piece]]) -> list[list[Piece]]:
        """Pages that are read one after another, with nothing left that stands across their borders."""
        for stage in self._redaction.stages if len(pages) > 1 else ():
            edits = self._redaction.edits([text_of(pieces) for pieces in pages], stage, self._subject)
            pages = [edited(pieces, own) for pieces, own in zip(pages, edits, strict=True)]
        return pages

    def written(self, pieces: Sequence[Piece], numbering: Numbering) -> tuple[str, bool]:
        """Pieces as HTML that nh3 has nothing to take from, and whether it is cut; empty where there is none."""
        words = text_of(pieces)
        numbering.note(words)
        pieces = self._told_addresses(pieces, words)
        return written([self._numbered(piece, numbering) for piece in pieces], self._rules.max_chars)

    def _told_addresses(self, pieces: Sequence[Piece], words: str) -> list[Piece]:
        """Pieces in which links lead nowhere unless the words beside them still say where."""
        told = told_targets(words)
        return [
            piece._replace(address="") if piece.address and not self._is_told(piece.address, told, words) else piece
            for piece in pieces
        ]

    def _is_told(self, address: str, told: frozenset[str], words: str) -> bool:
        return harmless(address, self._rules) in told or (address.startswith("mailto:") and address[7:] in words)

    def _filtered(self, piece: Piece, page: Page) -> Piece:
        if piece.kind is Kind.TEXT:
            text = tidy_piece(piece.value, joiners=self._rules.keep_joiners)
            return piece._replace(value=self._links.without_references(text))
        if piece.kind is Kind.LINK:
            link = page.links[piece.number] if piece.number < len(page.links) else None
            target = link and read_url(link.href, unwrap=False)
            told = self._links.of_page(page, piece.number, target) if link and target else ""
            return Piece(Kind.TEXT, told and f" {told}")
        if piece.address:
            target = read_url(piece.address, unwrap=False)
            is_shown = target is not None and self._links.is_shown(target)
            return piece if is_shown else piece._replace(address="")
        return piece

    def _harmless(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Markup made harmless, also where it stands in pieces."""
        pieces = [
            piece._replace(value=harmless(piece.value, self._rules)) if piece.kind is Kind.TEXT else piece
            for piece in pieces
        ]
        text = text_of(pieces)
        told = harmless(text, self._rules)
        return with_text(pieces, told) if len(told) == len(text) else pieces

    def _addresses(self, pieces: Sequence[Piece], page: Page) -> list[Edit]:
        """A reference for each address in a text; in the label of a link its host alone."""
        labels = labels_of(pieces)
        begins = [start for start, _ in labels]
        edits: list[Edit] = []
        text = text_of(pieces)
        bare = [one for one in addresses(text, self._rules) if not is_in_reference(text, one.start)]
        for number, (start, end, target) in enumerate(bare):
            label = bisect_right(begins, start) - 1
            is_label = label >= 0 and start < labels[label][1] and target is not None
            words = target.host if is_label and target else self._links.of_page(page, -1 - number, target)
            edits.append(Edit(start, end, words))
        return edits

    def _numbered(self, piece: Piece, numbering: Numbering) -> Piece:
        return piece._replace(value=numbering.numbered(piece.value)) if piece.kind is Kind.TEXT else piece
