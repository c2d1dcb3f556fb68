"""Globs: what they match, and whether two of them can match the same."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.glob import LONGEST, path_glob, text_glob


@pytest.mark.parametrize(
    ("glob", "matched", "unmatched"),
    [
        ("Support/**", ["Support/A", "Support/A/B", "Support/"], ["Support", "support/A", "X/Support/A"]),
        ("Support/*", ["Support/A", "Support/"], ["Support/A/B"]),
        ("A?", ["AB", "Aé"], ["A", "A/", "ABC"]),
        ("**", ["", "A", "A/B", "A\nB"], []),
        ("*", ["A", ""], ["A/B"]),
        ("a.b[c]+(d)|e\\", ["a.b[c]+(d)|e\\"], ["axb[c]+(d)|e\\"]),
    ],
)
def test_what_a_glob_over_paths_matches(glob: str, matched: list[str], unmatched: list[str]) -> None:
    compiled = path_glob(glob)
    assert [text for text in matched + unmatched if compiled.matches(text)] == matched


def test_a_slash_is_a_character_like_others_in_a_text() -> None:
    assert text_glob("*b?c").matches("a/b/c")
    assert not path_glob("*b?c").matches("a/b/c")


def test_many_wildcards_cost_no_more_than_the_text_is_long() -> None:
    compiled = text_glob("*a" * 100)
    started = time.perf_counter()
    assert not compiled.matches("a" * 99 + "b" * 100_000)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("length", [0, LONGEST + 1])
def test_a_glob_has_a_length(length: int) -> None:
    with pytest.raises(ValueError, match="a pattern has 1 to"):
        path_glob("a" * length)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("A/*", "A/B", True),
        ("A/*", "A/B/C", False),
        ("A/**", "A/B/C", True),
        ("*/B", "A/*", True),
        ("?", "/", False),
        ("**", "/", True),
        ("*a", "*b", False),
        ("a*", "*b", True),
        ("a**", "a", True),
    ],
)
def test_whether_two_globs_can_match_the_same(one: str, other: str, meet: bool) -> None:
    assert path_glob(one).intersects(path_glob(other)) is meet
    assert path_glob(other).intersects(path_glob(one)) is meet


globs = st.text(alphabet="ab/?*", min_size=1, max_size=6)


@given(globs, globs, st.text(alphabet="ab/", max_size=5))
def test_what_matches_both_globs_proves_that_they_meet(one: str, other: str, text: str) -> None:
    first, second = path_glob(one), path_glob(other)
    if first.matches(text) and second.matches(text):
        assert first.intersects(second)
