"""Whatever comes, the answer comes too, in time that grows with the page and no faster."""

import time

import nh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.page import MAX_HTML, read_page

SIZE = 1_000_000
SHEET = 250_000
HOSTILE = {
    "deep": "<div>" * 100_000 + "end",
    "deep tables": "<table><tr><td>" * 20_000 + "end",
    "deep quotes": "<blockquote>x" * 50_000,
    "attributes": "<p " + " ".join(f"a{number}=1" for number in range(60_000)) + ">end",
    "angles": "<" * MAX_HTML,
    "ampersands": "&amp;" * 300_000,
    "rules by elements": "<style>"
    + "".join(f".c{number}{{display:none}}" for number in range(50_000))
    + "</style>"
    + "<p class=c1>x" * 50_000,
    "many sheets": "<style>p{color:red}</style>" * 15_000 + "<p>x" * 50_000,
    "one rule over and over": "<style>" + ".a{color:red}" * 15_000 + "</style>" + "<p class=a>x" * 50_000,
    "braces": f"<style>{'{' * SHEET}</style>end",
    "brackets": f"<style>{'(' * SHEET}</style>end",
    "addresses": f"<style>{'url(' * (SHEET // 4)}</style>end",
    "quotes": f"<style>{chr(39) * SHEET}</style>end",
    "comments": f"<style>{'/*' * (SHEET // 2)}</style>end",
    "media": f"<style>{'@media(a){' * (SHEET // 10)}</style>end",
    "deep media": f"<style>{('@media ' + '(' * 450 + ')' * 450 + '{a{color:red}}') * 1000}</style>end",
    "has": f"<style>{(':has(p)' * 280 + '{color:red}') * 500}</style><p>end",
    "backgrounds": f"<p style='background:{' '.join(f'a{number}' for number in range(120_000))}'>end",
    "gradients": f"<p style='background:linear-gradient({','.join(f'a{number}' for number in range(120_000))})'>end",
    "calls in a style": f"<p style='color:{'a(' * (SHEET // 2)}'>end",
    "slashes in a font": f"<p style='font:{'a/' * (SIZE // 2)}'>end",
    "transforms": f"<p style='transform:{'scale(1) ' * (SIZE // 9)}'>end",
    "variables": "<p style='--a0:x;"
    + "".join(f"--a{n}:var(--a{n - 1})var(--a{n - 1});" for n in range(1, 60))
    + "'>end",
    "styles in styles": "<div style='opacity:.99999;--a:1'>" * 30_000 + "end",
    "label": f"<a href=https://example.org/>{'a.' * (SIZE // 2)}</a>",
    "address": f"<a href='https://{'a.' * (SIZE // 2)}'>end</a>",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_page_is_read_in_time(kind: str) -> None:
    start = time.process_time()
    read_page(HOSTILE[kind])
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "html",
    [
        HOSTILE["rules by elements"],
        f"<style>/*{'(' * 300000}</style>x<style>{chr(92) * 300000}</style>",
        f"<p style='color:{'(' * 300000}'>x",
        f"<style>{'p{color:red}' * 50000}</style>x",
    ],
)
def test_of_a_page_with_more_styles_than_can_be_weighed_nothing_is_shown(html: str) -> None:
    page = read_page(html)
    assert (page.text, page.links, page.safe_html) == ("", (), "")
    assert page.signals == {"too_complex"}


def test_a_page_that_is_too_long_is_cut() -> None:
    page = read_page("<p>" + "x" * MAX_HTML + "</p>tail")
    assert "truncated" in page.signals
    assert "tail" not in page.text


TAGS = [
    "div",
    "p",
    "span",
    "b",
    "a",
    "table",
    "tr",
    "td",
    "ul",
    "li",
    "h1",
    "blockquote",
    "pre",
    "font",
    "button",
    "form",
    "svg",
    "math",
    "select",
    "style",
    "center",
]
PROPERTIES = [
    "display",
    "visibility",
    "opacity",
    "font-size",
    "font",
    "color",
    "background",
    "background-image",
    "overflow",
    "max-height",
    "left",
    "position",
    "margin",
    "transform",
    "clip",
    "clip-path",
    "line-height",
    "--a",
    "zoom",
    "filter",
    "white-space",
    "text-indent",
]
VALUES = [
    "none",
    "block",
    "hidden",
    "visible",
    "0",
    "1px",
    "-9999px",
    "12px",
    ".5",
    "white",
    "#000",
    "#fff8",
    "url(x)",
    "linear-gradient(red,blue)",
    "scale(0)",
    "inherit",
    "rect(0,0,0,0)",
    "inset(50%)",
    "var(--a)",
    "calc(1px+2em)",
    "!important",
    "rgb(1,2,3)",
    "absolute",
    "0/0",
]
style = st.lists(st.tuples(st.sampled_from(PROPERTIES), st.sampled_from(VALUES)), max_size=3).map(
    lambda pairs: ";".join(map(":".join, pairs))
)
opening = st.builds(lambda tag, css: f'<{tag} style="{css}">', st.sampled_from(TAGS), style)
closing = st.sampled_from(TAGS).map("</{}>".format)
sheet = st.builds(lambda tag, css: f"<style>{tag}{{{css}}}</style>", st.sampled_from([*TAGS, ".x", "*", "td>p"]), style)
words = st.sampled_from(["word", " ", "\n", "&amp;", "&lt;script&gt;", "\x0e", "<br>", "<img src=//x>", "<!--", "-->"])
trees = st.lists(opening | closing | sheet | words, max_size=30).map("".join)


@given(trees | st.text() | st.text(alphabet="<>/=\"'{}:;()ab &#-!"))
def test_any_page_is_read_and_safe(html: str) -> None:
    page = read_page(html)
    allowed = {"a": {"href"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}
    assert nh3.clean(page.safe_html, attributes=allowed, link_rel=None) == page.safe_html
    assert not set(page.text.replace("\x0e", "", len(page.links)).replace("\x0f", "", len(page.links))) & set(
        "\x00\x01\x02\x03\x0e\x0f\r\x1b"
    )


PLAIN = st.lists(st.sampled_from(["<div>", "<p>", "<b>", "<li>", "<td>", "</div>", "</p>", "</b>", "x ", "<br>"]))


@given(PLAIN, PLAIN)
def test_a_visible_word_is_always_there(before: list[str], after: list[str]) -> None:
    page = read_page(f"{''.join(before)}zebra{''.join(after)}")
    assert "zebra" in page.text
    assert "zebra" in page.safe_html


HIDING = st.sampled_from(
    ["display:none", "opacity:0", "max-height:0;overflow:hidden", "left:-9999px", "transform:scale(0)"]
)
INNER = st.lists(
    st.sampled_from(["<p>", "<b>", "<i style='display:block;visibility:visible;color:red'>", "x ", "<br>"])
)


@given(PLAIN, HIDING, INNER)
def test_a_word_in_a_hidden_element_never_is(before: list[str], css: str, inner: list[str]) -> None:
    page = read_page(f"{''.join(before)}<div style='{css}'>{''.join(inner)}zebra</div>")
    assert "zebra" not in page.text + page.safe_html
    assert "hidden_text" in page.signals
