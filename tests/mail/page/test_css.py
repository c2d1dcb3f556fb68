"""The short cut through CSS gives what the full parser gives."""

from collections.abc import Iterable

import pytest
import tinycss2
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.page import css, sheet
from postroom.mail.page.colours import colour, contrast, legacy_colour
from postroom.mail.page.lengths import pixels
from postroom.mail.page.media import applies
from postroom.mail.page.properties import RELEVANT
from postroom.mail.page.selectors import separate, specificity

PIECES = [
    "color",
    "display",
    ":",
    ";",
    " ",
    "\n",
    "none",
    "1px",
    "#fff",
    "!important",
    "! important",
    "/",
    "(",
    ")",
    ",",
    "%",
]
PIECES += ["'a b'", '"x"', "url(a/b)", "rgb(1,2,3)", "COLOR", "Red", "--x", "var(--X)", "-", "x", "*", "+", ".5"]
STRUCTURE = [
    *PIECES,
    "{",
    "}",
    ".a",
    "#b",
    "@media screen",
    "@media print",
    "@font-face",
    "/* c */",
    "p",
    ">",
    "[a=b]",
    "\t",
]


def spelled(found: Iterable[css.Declaration]) -> list[tuple[str, str, bool]]:
    """Blanks and strings are spelled in two ways, which no property tells apart."""
    return [
        (
            name,
            "".join(value.lower().replace("'a b'", '""').replace('"x"', '""').replace("url(u)", "url(a/b)").split()),
            important,
        )
        for name, value, important in found
    ]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_plain_declarations_are_read_alike(text: str) -> None:
    full = tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True)
    wanted = [parsed for node in full if (parsed := css.parsed_declaration(node, RELEVANT))]
    known = {name for name, value, _ in wanted if value}
    quick = [one for one in css.declarations(text, RELEVANT) if one[0] in known]
    assert spelled(one for one in quick if one[1]) == spelled(one for one in wanted if one[1])


@given(st.lists(st.sampled_from(STRUCTURE), max_size=14).map("".join))
def test_plain_sheets_are_cut_as_they_are_parsed(text: str) -> None:
    context = sheet._Context()
    plain = sheet._plain(text)
    cut = None if plain is None else sheet._cut(plain, context)
    if cut is not None:
        full = list(sheet._parsed(text, context))
        assert [spelled(rule.declarations) for rule in cut] == [spelled(rule.declarations) for rule in full]
        assert ["".join(rule.selector.split()) for rule in cut] == ["".join(rule.selector.split()) for rule in full]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        *[("10px", 10.0), ("1.5em", 15.0), ("2rem", 32.0), ("72pt", 96.0), ("50%", 512.0), ("-3px", -3.0), ("0", 0.0)],
        *[("1e2px", 100.0), ("calc(1px + 2px*3)", 7.0), ("min(1px,2px)", 1.0), ("clamp(1px, 5px, 3px)", 3.0)],
        *[("calc((1px + 2px) / 3)", 1.0), ("calc(1e999px - 1e999px)", 0.0), ("auto", None), ("1furlong", None)],
        *[("calc(", None), ("calc(1px/0)", None), ("calc(1px", None), ("foo(1px)", None), ("", None), ("px", None)],
    ],
)
def test_lengths(value: str, size: float | None) -> None:
    assert pixels(value, em=10.0) == (None if size is None else pytest.approx(size))


@given(st.text(alphabet="0123456789.px em%calcminmax(+-*/,) ", max_size=40))
def test_any_length_is_a_number_or_none(value: str) -> None:
    size = pixels(value)
    assert size is None or size == size


@pytest.mark.parametrize(
    ("query", "truth"),
    [
        *[("", True), ("screen", True), ("all", True), ("print", False), ("SCREEN", True), ("not print", True)],
        *[("only screen", True), ("screen and (max-width:600px)", False), ("(min-width: 600px)", True), ("tv", False)],
        *[
            ("print, screen", True),
            ("(max-width:1024px)", True),
            ("(width<600px)", False),
            ("(600px<=width<=1200px)", True),
        ],
        *[
            ("(orientation:landscape)", True),
            ("(prefers-color-scheme:dark)", False),
            ("(x:y)", None),
            ("not (x:y)", None),
        ],
        *[("(color)", True), ("not (color)", False), ("(monochrome)", False), ("(min-resolution:2dppx)", False)],
        *[("(-webkit-min-device-pixel-ratio:0)", True), ("(min-width:1px) or (x:y)", True), ("screen screen", None)],
        *[
            ("((min-width:1px) and (color))", True),
            ("(((", None),
            ("banana", None),
            ("(min-width:1px) and (x:y)", None),
        ],
    ],
)
def test_media_queries(query: str, truth: bool | None) -> None:
    assert applies(query) is truth


def test_specificity_counts_ids_classes_and_types() -> None:
    assert specificity("ul#nav li.a[href]:first-child::before") == (1, 3, 3)
    assert specificity(":is(#a,.b):where(#c) *") == (1, 1, 0)
    assert separate("a, b:is(c,d), [e=','] f") == ["a", "b:is(c,d)", "[e=','] f"]


def test_colours() -> None:
    assert colour("#fff") == colour("white") == colour("hsl(0 0% 100%)") == (1, 1, 1, 1)
    assert colour("banana") is None
    assert contrast((0, 0, 0, 1), (1, 1, 1, 1)) == pytest.approx(21)
    assert [legacy_colour(name) for name in ("red", "ffffff", "#abc", "chucknorris", "")] == [
        *("red", "#ffffff", "#abc", "#c00000", None)
    ]
