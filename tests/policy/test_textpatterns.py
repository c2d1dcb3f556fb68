"""Text patterns: what each form fits, and when nothing can be said."""

from __future__ import annotations

import pytest

from postroom.base.expression import compile_expression
from postroom.config.policies.matching import TextPattern
from postroom.policy.textpatterns import ScannedExpression, compile_texts


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("[private]", "Re: [PRIVATE] lunch", True),
        ("straße", "STRASSE", True),
        ("ﬁn", "Finance", True),
        ("project", "projec t", False),
        ({"equals": "Hello"}, "hELLO", True),
        ({"equals": "Hello"}, "Hello!", False),
        ({"glob": "inv*20??"}, "INVOICE 4/2026", True),
        ({"glob": "inv*"}, "my invoice", False),
        ({"re2": r"project\s+x\b"}, "the PROJECT  X.", True),
        ({"re2": "Project", "case": "true"}, "project", False),
        ({"re2": "a.b"}, "a\nb", False),
        ({"re2": "^b$"}, "a\nb", False),
    ],
)
def test_what_a_pattern_fits(pattern: object, text: str, fits: bool) -> None:
    compiled = compile_texts([TextPattern.model_validate(pattern)], 1_000)
    assert compiled.fits(text) is fits


def test_of_several_patterns_any_will_do() -> None:
    compiled = compile_texts([TextPattern(contains="a"), TextPattern(contains="b")], 1_000)
    assert [compiled.fits(text) for text in ("xa", "xb", "x")] == [True, True, False]


@pytest.mark.parametrize("text", [None, "a" * 11, "a\ud800"])
def test_nothing_is_known_of_a_text_that_is_missing_too_long_or_no_text(text: str | None) -> None:
    assert compile_texts([TextPattern(contains="a")], 10).fits(text) is None


def test_an_expression_tells_where_it_finds_something_in_characters() -> None:
    scanned = ScannedExpression(compile_expression("x+|y*"), 10)
    assert scanned.spans("éxx y") == [(1, 3), (4, 5)]
    assert scanned.spans("x" * 11) is None
