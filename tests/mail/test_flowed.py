"""Softly wrapped text becomes the paragraphs its writer typed."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.flowed import unflow

WORDS = st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("one \ntwo\nthree", "one two\nthree"),
        ("> a \n> b\n>> c", "> a b\n>> c"),
        ("> a \n>> b", "> a \n>> b"),
        ("goes on \n-- \nDana", "goes on \n-- \nDana"),
        (" From the start", "From the start"),
        (" > no quote", "> no quote"),
        (" \nx", "\nx"),
        ("", ""),
        ("a\n\nb\n", "a\n\nb\n"),
        ("ends here. \n\nTitle", "ends here. \n\nTitle"),
        ("> > a \n> > b\n> c", ">> a b\n> c"),
    ],
)
def test_flowed_lines_are_joined(text: str, whole: str) -> None:
    assert unflow(text, delsp=False) == whole


def test_delsp_takes_the_blank_away() -> None:
    assert unflow("日本 \n語です", delsp=True) == "日本語です"


@given(st.lists(WORDS, min_size=1, max_size=5), st.booleans(), st.integers(0, 3))
def test_paragraphs_that_were_wrapped_are_whole_again(paragraphs: list[list[str]], delsp: bool, depth: int) -> None:
    quote = ">" * depth + " " if depth else ""
    wrapped = [
        (" " * (1 + delsp) + "\n").join(textwrap.wrap(" ".join(words), 20)).replace("\n", f"\n{quote}")
        for words in paragraphs
    ]
    assert unflow("\n".join(quote + text for text in wrapped), delsp=delsp) == "\n".join(
        quote + " ".join(words) for words in paragraphs
    )
