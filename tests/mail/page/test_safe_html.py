"""Safe HTML: a short list of elements, nothing that acts, and nothing left for the last gate to take."""

import nh3
import pytest

from postroom.mail.page import read_page


@pytest.mark.parametrize(
    ("page", "safe"),
    [
        ("<p class=x style='color:red' onclick=y id=z>a</p>", "<p>a</p>"),
        ("<center>a</center><font>b</font>", "<div>a</div>b"),
        ("<table><tr><td colspan=2 width=9>a</table>", '<table><tbody><tr><td colspan="2">a</td></tr></tbody></table>'),
        ("<td colspan='2\" onclick=x'>a", "a"),
        ("a<br>b<hr>", "a<br>b<hr>"),
        ("a &lt;b&gt; &amp; c&nbsp;d", "a &lt;b&gt; &amp; c&nbsp;d"),
        ("<a href='https://example.org/?a=1&amp;b=\"'>x</a>", '<a href="https://example.org/?a=1&amp;b=%22">x</a>'),
        ("<a href='javascript:x'>x</a>", "x"),
        ("<script>x</script><form action=y><input><button>go</button></form>", "<div>go</div>"),
        ("<p>a<p>b", "<p>a</p><p>b</p>"),
        ("<p><button><p>a", "<p></p><p>a</p><p></p>"),
        ("<img src=x onerror=y>", ""),
    ],
)
def test_a_page_as_safe_html(page: str, safe: str) -> None:
    assert read_page(page).safe_html == safe


def test_each_text_goes_through_the_neutraliser() -> None:
    assert read_page("<p>a<b>b</b></p>", str.upper).safe_html == "<p>A<b>B</b></p>"
    assert read_page("<p>x</p>", lambda _: "<script>").safe_html == "<p>&lt;script&gt;</p>"


def test_depth_is_cut_before_the_last_gate() -> None:
    safe = read_page("<div>" * 5000 + "end").safe_html
    assert safe.count("<div>") == 256
    assert "end" in safe


def test_a_giant_is_cut_at_a_whole_entity() -> None:
    page = read_page("&amp;" * 400_000)
    assert "truncated" in page.signals
    assert page.safe_html.endswith("&amp;")
    assert nh3.clean(page.safe_html) == page.safe_html
