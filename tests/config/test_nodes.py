"""YAML text to plain values with lines, and every fault of form at once."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.config.nodes import compose, line_at, plain


def read(text: str) -> object:
    node, faults = compose(text)
    assert node is not None
    assert faults == []
    return plain(node)


def faults(text: str) -> list[tuple[int, str, str]]:
    return [(fault.line, fault.where, fault.problem) for fault in compose(text)[1]]


def test_every_scalar_stays_the_string_that_was_written() -> None:
    text = "port: 0993\nyes: no\npassword: 1e5\ndate: 2026-01-01\nquoted: 'null'\nname: ${X}"
    assert read(text) == {
        "port": "0993",
        "yes": "no",
        "password": "1e5",
        "date": "2026-01-01",
        "quoted": "null",
        "name": "${X}",
    }


def test_a_plain_null_and_nothing_at_all_are_none() -> None:
    assert read("a: null\nb: ~\nc:\nd: ''\ne: NULL") == {"a": None, "b": None, "c": None, "d": "", "e": None}


def test_a_line_is_that_of_the_key_or_of_the_list_item() -> None:
    node, _ = compose("server:\n  listen: x\nmailboxes:\n  - name: a\n\n  - name: b\n    imap:\n      host: h\n")
    assert node is not None
    assert line_at(node, ("server", "listen")) == 2
    assert line_at(node, ("mailboxes", 1)) == 6
    assert line_at(node, ("mailboxes", 1, "imap", "host")) == 8
    assert line_at(node, ("mailboxes", 1, "imap", "username")) == 7
    assert line_at(node, ("mailboxes", 7)) == 3
    assert line_at(node, ()) == 1


def test_all_faults_of_form_are_told_with_their_lines() -> None:
    text = "a: &x 1\nb: *x\nc: !!str 2\na: 3\n[k]: 4\nd: &y {e: !z []}\n"
    assert faults(text) == [
        (1, "a", "anchors (&name) are not used here"),
        (2, "b", "aliases (*name) are not used here"),
        (3, "c", "tags (!name) are not used here"),
        (4, "a", "given twice, first in line 1"),
        (5, "", "a key must be a plain word"),
        (6, "d", "anchors (&name) are not used here"),
        (6, "d.e", "tags (!name) are not used here"),
    ]


def test_a_duplicate_deep_inside_is_told_with_its_whole_path() -> None:
    assert faults("m:\n - n: 1\n - n: 1\n   i:\n    p: 1\n    p: 2") == [
        (6, "m[1].i.p", "given twice, first in line 5")
    ]


def test_an_unknown_alias_is_a_fault_like_any_other() -> None:
    assert faults("a: *nowhere\nb: *there") == [
        (1, "a", "aliases (*name) are not used here"),
        (2, "b", "aliases (*name) are not used here"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: b: c", 1, "not valid YAML: mapping values are not allowed in this context"),
        ("a: 1\nb: [1, 2\nc: 3", 3, "not valid YAML: did not find expected ',' or ']'"),
        ("a: 1\n\tb: 2", 2, "not valid YAML: found a tab character that violates indentation"),
        ("a: \x00", 0, "not valid YAML: it holds a character that is not text"),
        ("", 0, "the file is empty"),
        ("# only a comment", 0, "the file is empty"),
        ("a: 1\n---\nb: 2", 2, "a second YAML document begins here"),
    ],
)
def test_what_is_no_single_yaml_document_is_told(text: str, line: int, problem: str) -> None:
    assert faults(text) == [(line, "", problem)]


def test_nesting_ends_at_32_levels() -> None:
    assert read("[" * 33 + "]" * 33) is not None
    assert faults("[" * 34 + "]" * 34) == [(1, "", "nested deeper than 32 levels")]


@pytest.mark.parametrize(
    "text",
    ["[" * 1_000_000, "{" * 1_000_000, "- " * 500_000, "? " * 500_000, "a: &a [*a]\n" * 80_000, "'" + "x" * 1_000_000],
    ids=["lists", "tables", "dashes", "keys", "anchors", "string"],
)
def test_a_megabyte_of_hostile_yaml_costs_little(text: str) -> None:
    began = time.process_time()
    compose(text)
    assert time.process_time() - began < 5


@given(st.text(alphabet=st.sampled_from("ab:-[]{},&*!'\"|>%@#?~ \t\n\x00\x85é0"), max_size=60) | st.text(max_size=60))
def test_any_text_is_a_document_or_has_a_fault(text: str) -> None:
    node, found = compose(text)
    assert (node is not None) or found
    if node is not None:
        plain(node)
