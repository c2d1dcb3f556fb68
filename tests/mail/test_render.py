"""HTML is put into words that read like the page."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.render import MAX_HTML, words_of_html


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<div>One</div><div>Two</div>", "One\nTwo"),
        ("<div>a</div><div><br></div><div>b</div>", "a\n\nb"),
        ("<div>a<br></div><div>b</div>", "a\nb"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("<ul><li>one</li><li><p>two</p></li></ul>", "- one\n- two"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a  b\nc"),
        ("  a \n <b> b</b>  c ", "a b c"),
        ("40&nbsp;&euro; &lt;p&gt;", "40\xa0€ <p>"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<title>T</title><style>p{}</style><script>leak()</script><!-- c --><template>t</template>x", "x"),
        ("<table><tr><td><td>a<td><td>b</table>", "a  b"),
        ("", ""),
        ("\x01\x05a", "a"),
    ],
)
def test_html_in_words(html: str, words: str) -> None:
    assert words_of_html(html) == words


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<b>", "<td>", "<li>", "<br>", "<pre>", "a", " ", "\n", "&amp;", "<!--", "-->"])
    )
)
def test_any_tags_give_words_without_marks(tags: list[str]) -> None:
    words = words_of_html("".join(tags))
    assert not set(words) & set("\x00\x01\x02\x03\x04\x05\x06\r")
    assert "\n\n\n" not in words


@pytest.mark.parametrize("tag", ["<div>", "<b>", "<table><tr><td>", "<pre>", "<li>", "<font>"])
def test_nesting_costs_linear_time(tag: str) -> None:
    start = time.process_time()
    assert words_of_html(tag * 100_000 + "end").endswith("end")
    assert time.process_time() - start < 2


def test_only_a_bounded_beginning_is_read() -> None:
    assert len(words_of_html("a" * (MAX_HTML + 10))) == MAX_HTML
