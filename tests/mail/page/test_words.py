"""The page as Markdown: the structure that a reader sees, and not a character more."""

import pytest

from postroom.mail.page import read_page


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", ""),
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<div>One</div><div>Two</div>", "One\nTwo"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("<div>a</div><div><br></div><div>b</div>", "a\n\nb"),
        ("<div>a<br></div><div>b</div>", "a\nb"),
        ("  a \n <b> b</b>  <i>c</i>d ", "a b cd"),
        ("<h1>Big</h1>x<h3> <b>Less</b> </h3>y", "# Big\n\nx\n\n### Less\n\ny"),
        ("<h2></h2><p>x</p>", "x"),
        ("<ul><li>one</li><li><p>two</p></li><li></li></ul>end", "- one\n- two\n\nend"),
        ("<ol><li>a<li>b</ol><ol start=7><li>c</ol>", "1. a\n2. b\n\n7. c"),
        ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
        ("x<blockquote>q<blockquote>r</blockquote></blockquote>y", "x\n\n> q\n>\n> > r\n\ny"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("a<hr>b", "a\n---\nb"),
        ("<pre>a\n  b\n\n\tc</pre>", "a\n  b\n\n\tc"),
        ("<div style='white-space:pre-wrap'>a\n  b</div>", "a\n  b"),
        ("<table><tr><th>Item<th>Price<tr><td>Tea<td>3</table>", "Item | Price\nTea | 3"),
        ("<table role=presentation><tr><td>a<td>b</table>", "a\nb"),
        ("<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>", "a\nb | c\nd"),
        ("<table><tr><td><p>Tea</p><td>3<br>pots</table>", "Tea | 3 pots"),
        ("<table><tr><td>a<td>&nbsp;<td>b</table>", "a | b"),
        (
            "<table><tr><th>Item<th>Left<th>Price<tr><td>Bolt<td>2<td><tr><td><td>3<td>4<tr><td>Nut<td>&nbsp;<td>5"
            "<tr><td colspan=2>Sum<td>9</table>",
            "Item | Left | Price\nBolt | 2 |\n| 3 | 4\nNut | | 5\nSum | 9",
        ),
        ("<table><tr><td><td>a<td><td>b<td></td><tr><td><td>c<td><td>d<td></table>", "a | b\nc | d"),
        (
            "<table><tr><td>a<td>b<td>c<td>d<tr style='font-size:0'><td>hidden<td>too<td><td></table>",
            "a | b | c | d",
        ),
        (f"<table><tr><td>{'long ' * 50}<td>b</table>", ("long " * 50).strip() + "\nb"),
        ("<span style='display:block'>a</span><span style='display:block'>b</span>", "a\nb"),
        ("<div style='display:inline'>a</div> <div style='display:inline'>b</div>", "a b"),
        ("a<blockquote style='margin: 0 0 0 40px; border: none; padding: 0px'>b</blockquote>", "a\n\nb"),
        ("<p>4<span>8</span><b>2</b></p>", "482"),
        ("<p>a<img src=x alt=y>b</p>", "ab"),
        ("<p>&lt;b&gt; &amp; &euro;</p>", "<b> & €"),
        ("<p>a&#14;1&#15;b\x0e2\x0f\x00&#27;[0m</p>", "a1b2[0m"),
        ("<p>&nbsp;</p><p>x</p>", "x"),
        (
            "<div>Yes.</div><div class=gmail_quote><div class=gmail_attr>On 3 March A wrote:<br></div>"
            "<blockquote class=gmail_quote>Well?</blockquote></div>",
            "Yes.\nOn 3 March A wrote:\n\n> Well?",
        ),
        ("<a href='https://example.org/x'>here</a>, there", "here\x0e0\x0f, there"),
        ("<a href='https://example.org/x'> here </a>there", "here\x0e0\x0f there"),
        ("<a href='https://example.org/x'><p>one</p><p>two</p></a>three", "one\n\ntwo\x0e0\x0f\n\nthree"),
        ("<a href='https://example.org/x'><img src=y></a>there", "there"),
        ("<a href=/x>here</a> <a name=y>there</a>", "here there"),
    ],
)
def test_a_page_in_words(page: str, words: str) -> None:
    assert read_page(page).text == words


def test_lines_do_not_grow_with_the_depth_of_quotes() -> None:
    text = read_page("<blockquote>x" * 1000).text
    assert max(map(len, text.split("\n"))) < 20
