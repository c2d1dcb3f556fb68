"""For what a text must fit: patterns of the operator, compiled, with a bound on the text they look through."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from postroom.base.expression import Expression, compile_expression
from postroom.base.glob import text_glob
from postroom.base.kleene import Truth, any_of
from postroom.config.policies.matching import TextPattern


@dataclass(frozen=True, slots=True)
class TextTest:
    """Patterns of which any will do; made by `compile_texts`."""

    tests: tuple[Callable[[str], bool], ...]
    scan_chars: int

    def fits(self, text: str | None) -> Truth:
        """Unknown for a text that is not at hand, is too long to be looked through, or is no text at all."""
        if text is None or len(text) > self.scan_chars or not _is_text(text):
            return None
        return any_of(test(text) for test in self.tests)


@dataclass(frozen=True, slots=True)
class ScannedExpression:
    """An expression that tells where it finds something, unless the text is too long: then it tells None."""

    expression: Expression
    scan_chars: int

    def spans(self, text: str) -> list[tuple[int, int]] | None:
        if len(text) > self.scan_chars or not _is_text(text):
            return None
        return self.expression.spans(text)


def compile_texts(patterns: Iterable[TextPattern], scan_chars: int) -> TextTest:
    """The patterns of a rule, of which any will do."""
    return TextTest(tuple(_compiled(pattern) for pattern in patterns), scan_chars)


def folded(text: str) -> str:
    """A text as texts are compared: compatibility forms made one, and without case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _compiled(pattern: TextPattern) -> Callable[[str], bool]:
    if pattern.re2 is not None:
        return compile_expression(pattern.re2, case=pattern.case).found_in
    if pattern.glob is not None:
        glob = text_glob(folded(pattern.glob))
        return lambda text: glob.matches(folded(text))
    if pattern.equals is not None:
        whole = folded(pattern.equals)
        return lambda text: folded(text) == whole
    piece = folded(pattern.contains or "")
    return lambda text: piece in folded(text)


def _is_text(text: str) -> bool:
    """Lone surrogates are no characters: nothing can be said of what holds one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
