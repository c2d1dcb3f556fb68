"""Himalaya's query language: what its own parser takes means the same here but for traps; the rest is explained."""

from __future__ import annotations

import json
import time
import unicodedata
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import GatewayError
from postroom.mail.query.himalaya import read_himalaya
from postroom.mail.query.himalayareader import Either, Every, Negation, Node, Term, read_filter
from postroom.mail.query.tree import All, And, Body, Flag, Header, Not, Or, Query, SentBefore, SentSince

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parent / "himalaya-vectors.jsonl").read_text(encoding="utf-8").splitlines()
]
"""What the parsers of Himalaya 1.0 to 2.1 did with each text."""
REFUSED = {"refuse", "may refuse"}
NO_QUERY = "h237"
"""An empty text: no query, as in Himalaya 2."""
ELSEWHERE = {
    "h159": ("filter", 11),  # the vector counts octets of UTF-8 there
    "h186": ("filter", 15),  # `border by` is a word and no `order by`
}
"""Mistakes that are found elsewhere than Himalaya finds them."""


def vectors(*, valid: bool) -> list[Any]:
    found = [one for one in VECTORS if (one["valid"] and one["gateway"] not in REFUSED) is valid]
    return [pytest.param(one, id=one["id"]) for one in found]


SYSTEM = {
    Flag("\\Seen"): "seen",
    Flag("\\Answered"): "answered",
    Flag("\\Flagged"): "flagged",
    Flag("\\Deleted"): "deleted",
    Flag("\\Draft"): "draft",
}


def as_vector(node: Node) -> list[Any]:
    """The binary tree of the vectors: of several terms the first two are one."""
    if isinstance(node, Negation):
        return ["not", as_vector(node.term)]
    if isinstance(node, Term):
        return [node.word, node.value.isoformat() if isinstance(node.value, date) else node.value]
    word = "and" if isinstance(node, Every) else "or"
    tree = as_vector(node.terms[0])
    for term in node.terms[1:]:
        tree = [word, tree, as_vector(term)]
    return tree


def meant(vector: list[Any]) -> Query:
    """What a tree of the vectors asks for."""
    word, *rest = vector
    if word == "not":
        return Not(meant(rest[0]))
    if word in ("and", "or"):
        return flat(And if word == "and" else Or, meant(rest[0]), meant(rest[1]))
    if word in ("date", "before", "after"):
        return meant_days(word, date.fromisoformat(rest[0]))
    if word == "flag":
        return next((flag for flag, name in SYSTEM.items() if name == rest[0]), Flag(rest[0]))
    text = unicodedata.normalize("NFC", rest[0])
    return Body(text) if word == "body" else Header(word, text)


def meant_days(word: str, day: date) -> Query:
    following = day + timedelta(days=1)
    before, after = SentBefore(day), SentSince(following)
    return {"date": And((SentSince(day), SentBefore(following))), "before": before, "after": after}[word]


def flat(kind: type[And | Or], *terms: Query) -> Query:
    return kind(tuple(one for term in terms for one in (term.terms if isinstance(term, kind) else (term,))))


def flattened(query: Query) -> Query:
    match query:
        case And(terms) | Or(terms):
            return flat(type(query), *map(flattened, terms))
        case Not(term):
            return Not(flattened(term))
        case _:
            return query


@pytest.mark.parametrize("vector", vectors(valid=True))
def test_what_himalaya_takes_is_read_as_the_same_tree_and_order(vector: dict[str, Any]) -> None:
    found = read_himalaya(vector["query"])
    assert found.has_filter is (vector["ast"] is not None)
    assert [[key, "desc" if descending else "asc"] for key, descending in found.sort] == vector["sort"]
    assert flattened(found.query) == (meant(vector["ast"]) if vector["ast"] else All())


TREES = [one for one in VECTORS if one["valid"] and one["gateway"] not in REFUSED and one["ast"] and not one["sort"]]


@pytest.mark.parametrize("vector", [pytest.param(one, id=one["id"]) for one in TREES if "rder by" not in one["query"]])
def test_the_tree_is_that_of_himalaya_branch_by_branch(vector: dict[str, Any]) -> None:
    found = as_vector(read_filter(vector["query"].strip()))
    assert system_flags_named(found) == vector["ast"]


def system_flags_named(vector: list[Any]) -> list[Any]:
    """The tree keeps a flag as it is written."""
    if vector[0] != "flag":
        return [system_flags_named(one) if isinstance(one, list) else one for one in vector]
    return ["flag", SYSTEM.get(read_himalaya(f"flag {vector[1]}").query, vector[1])]  # type: ignore[call-overload]


@pytest.mark.parametrize("vector", vectors(valid=False))
def test_what_himalaya_refuses_is_refused_at_the_same_character(vector: dict[str, Any]) -> None:
    if vector["id"] == NO_QUERY:
        assert not read_himalaya(vector["query"]).has_filter
        return
    if vector["gateway"] == "may accept":
        read_himalaya(vector["query"])
        return
    told = refusal(vector["query"])
    if not vector["valid"]:
        at = ELSEWHERE.get(vector["id"]) or (vector["error_at"]["part"], vector["error_at"]["offset"])
        assert (told.details["part"], told.details["offset"]) == at


def refusal(text: str) -> GatewayError:
    with pytest.raises(GatewayError) as told:
        read_himalaya(text)
    assert told.value.code == "validation_error"
    assert told.value.details["argument"] == "query"
    return told.value


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("( from a )", "from a"),
        ("FROM a AND Not TO b", "from a and not to b"),
        ('date "2024-01-02"', "date 2024-01-02"),
        ('subject "order by date" ORDER BY Date DESC', 'subject "order by date" order by date desc'),
        ("flag \\\\Seen", "flag seen"),
        ("flag REPLIED", "flag answered"),
        ("flag trashed", "flag deleted"),
        ("\u3000from a\torder by\u00a0date", "from a order by date"),
        (" \n", ""),
    ],
)
def test_what_can_mean_but_one_thing_is_taken(query: str, same: str) -> None:
    assert read_himalaya(query) == read_himalaya(same)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("UNSEEN FROM ana", "write not flag seen"),
        ("unseen", "write not flag seen"),
        ("SEEN", "write flag seen"),
        ("SINCE 1-Jan-2026", "not before 2026-01-31 for that day and later"),
        ("FROM ana SINCE 1-Jan-2026", "not before 2026-01-31 for that day and later"),
        ("from ana since 2026-01-01", "not before 2026-01-31 for that day and later"),
        ("ALL", "leave the query out"),
        ("KEYWORD $Work", "write flag and the keyword"),
        ("from:ana", "write from and its value with a space"),
        ("Subject = x", 'subject "x"'),
        ("is:unread", "write flag seen, or not flag seen"),
        ("has:attachment", "no condition for attachments"),
        ("cc ana", "no such condition; the conditions are date, before, after"),
        ("size 5", "no such condition"),
        ("text x", "write subject x or body x"),
        ("invoice", 'for words in the subject write subject "invoice"'),
        ('"open invoice"', 'write subject "open invoice"'),
        ("subjet x", "did you mean subject?"),
        ("subject open invoice", 'in quotes, subject "open invoice"'),
        ("from John Doe and flag seen", 'in quotes, from "John Doe"'),
        ("subject 'b c'", 'in quotes, subject "b c"'),
        ("subject “b c”", 'in quotes, subject "b c"'),
        ('subject a"b c"', 'in quotes, subject "two words"'),
        ("subject new android", 'in quotes, subject "new android"'),
        ("from a from b", 'put "and" or "or" between conditions'),
        ("from a, from b", 'put "and" or "or" between conditions'),
        ("from a | to b", "write or between conditions"),
        ("!from a", "write not before a condition"),
        ("not(from a)", "put a space after not"),
        ("(from a)and(to b)", "put a space after and"),
        ("from a and", "a condition is missing at the end"),
        ("()", "a condition is missing before this )"),
        ("(from a", "a ( lacks its )"),
        ("from a)", "this ) closes nothing"),
        ("from\ta", "only an ordinary space"),
        ("from (a)", "one with parentheses in quotes"),
        ("subject a\\b", "outside quotes write \\\\ for a backslash"),
        ('subject "a\\b"', 'inside quotes write \\\\ for a backslash and \\" for a quote'),
        ('subject "a b', "a quoted value lacks its end"),
        ('subject ""', "an empty value would fit every message"),
        ('subject "a\nb"', "one line of text"),
        ("subject \ud800", "one line of text"),
        ("subject a\0b", "one line of text"),
        ('flag "seen"', "this is no flag"),
        ("flag a(", 'put "and" or "or"'),
        ("date today", "there are no relative days"),
        ("date 1-Jan-2026", "write 2026-01-01"),
        ("date 31-Feb-2026", "there is no such day"),
        ("date 12/31/2026", "the day comes first, then the month"),
        ("date 2026-02-29", "there is no such day"),
        ("date 1/2/26", "this is the year 1; write the year first"),
        ("date +2026-01-02", "write a day as 2026-01-31"),
        ("date \\ 2026-01-02", "write a day as 2026-01-31"),
        ("after 9999-12-31", "no day comes after this one"),
        ("from a order  by date", "order by with a space before and after it"),
        ("from aorder by date", "order by with a space before and after it"),
        ("order bydate", "write order by date: one space within order by"),
        ("sort by date", "write order by date"),
        ("order by date, from", "separate the keys with a space"),
        ("order by date descending", "write asc or desc"),
        ("order by date asc desc", "one direction belongs to one key"),
        ("order by size", "the keys are date, from, to and subject"),
        ("(" * 65 + "from a" + ")" * 65, "more than 64 levels"),
        ("not " * 65 + "from a", "more than 64 levels"),
        ("not " * 64 + "date 2026-01-01", "more than 64 levels"),
        ("(from a or from b and " * 40 + "from c" + ")" * 40, "more than 64 levels"),
        (" or ".join(["from a"] * 101), "more than 100 conditions"),
        ("from " + "é" * 2_100, "at most 4,096 octets"),
    ],
)
def test_a_mistake_is_told_with_how_it_is_mended(query: str, hint: str) -> None:
    assert hint in refusal(query).message


def test_the_last_day_that_there_is_can_be_asked_for() -> None:
    assert read_himalaya("date 9999-12-31").query == SentSince(date(9999, 12, 31))


def test_nesting_and_length_up_to_the_limits_are_taken() -> None:
    assert read_himalaya("(" * 64 + "from a" + ")" * 64).query == Header("from", "a")
    assert read_himalaya(" or ".join(["from a"] * 100)).query == Or((Header("from", "a"),) * 100)
    assert read_himalaya("from " + "x" * 4_091).query == Header("from", "x" * 4_091)


VALUES = st.text(st.sampled_from('ab "\\()é\tnotorder by'), min_size=1, max_size=6)
TERMS = st.one_of(
    st.builds(Term, st.sampled_from(["from", "to", "subject", "body"]), VALUES),
    st.builds(Term, st.sampled_from(["date", "before", "after"]), st.dates(date(1000, 1, 1), date(9998, 1, 1))),
    st.builds(Term, st.just("flag"), st.sampled_from(["seen", "$Work", "later", "not"])),
)
NODES = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.builds(Negation, inner),
        st.builds(Every, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Either, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=12,
)


def printed(node: Node) -> str:
    match node:
        case Term(word, str() as value) if word != "flag":
            return f'{word} "' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case Term(word, value):
            return f"{word} {value}"
        case Negation(term):
            return f"not {grouped(term)}"
        case Every(terms):
            return " and ".join(map(grouped, terms))
        case Either(terms):
            return " or ".join(map(grouped, terms))


def grouped(node: Node) -> str:
    return f"({printed(node)})" if isinstance(node, Every | Either) else printed(node)


def bare(value: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\ ()" else letter for letter in value)


@given(NODES)
def test_a_tree_that_is_printed_is_read_back(node: Node) -> None:
    assert read_filter(printed(node)) == node
    found = read_himalaya(f"{printed(node)} order by from desc")
    assert flattened(found.query) == meant(as_vector(node))
    assert found.sort == (("from", True),)


@given(VALUES.filter(lambda value: not value.startswith('"') and value.strip()))
def test_a_value_without_quotes_is_read_back_from_its_escapes(value: str) -> None:
    assert read_filter(f"(subject {bare(value)})") == Term("subject", value)


PIECES = st.sampled_from(
    ["from", "subject", "flag", "date", "2026-01-02", "1/2/24", "a", '"x y"', '"', "\\", "\\(", "(", ")", "not", "and",
     "or", "order by", "order", "by", "desc", "é", "\t", "\r\n", "\0", "FROM", ":", "\ud800", "|"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map(" ".join), st.lists(PIECES).map("".join)))
def test_whatever_is_written_is_read_or_explained(text: str) -> None:
    told: GatewayError | None = None
    try:
        read_himalaya(text)
    except GatewayError as error:
        told = error
    if told:
        assert told.code == "validation_error"
        assert 0 <= told.details["offset"] <= len(text)
        assert told.details["hint"] in told.message


PIECES_OF_HARM = ["(", "not ", ' "', ' "\\', "\\", "from a and ", "order by ", " order by", '"a" ', "é", "'"]


@pytest.mark.parametrize("piece", PIECES_OF_HARM)
def test_a_text_of_one_piece_again_and_again_is_settled_at_once(piece: str) -> None:
    begun = time.process_time()
    for length in (4_096, 1_000_000):
        with pytest.raises(GatewayError):
            read_himalaya((piece * length)[: length // 2])
    assert time.process_time() - begun < 0.5
