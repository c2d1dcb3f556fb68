"""Links of a page, and the signals about what it links to and loads."""

import pytest

from postroom.mail.model import Link
from postroom.mail.page import read_page


def test_links_are_numbered_as_they_appear() -> None:
    page = read_page(
        "<a href='https://a.example/'>A</a> <a href=x>no</a> <a href='mailto:b@b.example?bcc=c@c.example'>B</a>"
    )
    assert page.text == "A\x0e0\x0f no B\x0e1\x0f"
    assert page.links == (
        Link("A", "https://a.example/", "a.example", False),
        Link("B", "mailto:b@b.example", "b.example", False),
    )
    assert page.safe_html == '<a href="https://a.example/">A</a> no <a href="mailto:b@b.example">B</a>'


def test_a_link_seen_as_an_image_is_listed_without_words() -> None:
    page = read_page("<a href='https://a.example/'><img src=cid:x alt=y></a>")
    assert (page.text, page.links) == ("", (Link("", "https://a.example/", "a.example", False),))


def test_a_link_nobody_sees_is_none() -> None:
    page = read_page("<a href='https://a.example/'></a><a href='https://b.example/' style='font-size:0'>x</a>")
    assert page.links == ()


def test_a_link_in_a_link_belongs_to_the_label_of_both() -> None:
    page = read_page("<a href=https://a.example/>x<table><tr><td><a href=https://b.example/>y</a></table></a>")
    assert [(link.text, link.host) for link in page.links] == [("y", "b.example"), ("xy", "a.example")]


@pytest.mark.parametrize(
    ("page", "signals"),
    [
        ("<a href=https://example.org/>x</a>", set()),
        ("<a href=https://evil.example/>https://bank.example/</a>", {"link_mismatch"}),
        ("<a href=https://evil.example/>bank.example</a>", {"link_mismatch"}),
        ("<a href=mailto:a@evil.example>a@bank.example</a>", {"link_mismatch"}),
        ("<a href=https://192.0.2.1/>x</a>", {"suspicious_link"}),
        ("<a href=https://me:pw@example.org/>x</a>", {"suspicious_link"}),
        ("<a href=javascript:x()>x</a>", {"suspicious_link"}),
        ("<a href='data:text/html,x'>x</a>", {"suspicious_link"}),
        ("<a href=tel:+15550100>x</a>", set()),
        ("<a href=#top>x</a>", set()),
        ("<a href='https://www.сору.example/'>x</a>", {"homograph_link", "suspicious_link"}),
        ("<img src=https://example.org/x.gif width=1 height=1>", {"tracking_pixel", "remote_content"}),
        ("<img src=//example.org/x.gif style='width:1px'>", {"tracking_pixel", "remote_content"}),
        ("<style>.p{height:0}</style><img class=p src=http://example.org/x>", {"tracking_pixel", "remote_content"}),
        ("<img src=https://example.org/x.gif style='display:none'>", {"tracking_pixel", "remote_content"}),
        ("<div hidden><img src=https://example.org/x.gif></div>", {"tracking_pixel", "remote_content"}),
        ("<img src=https://example.org/x.gif width=600>", {"remote_content"}),
        ("<img src=cid:x width=1>", set()),
        ("<img srcset='https://example.org/a 1x'>", {"remote_content"}),
        ("<video poster=https://example.org/a></video>", {"remote_content"}),
        ("<table background=https://example.org/a></table>", {"remote_content"}),
        ("<p style='background:url(https://example.org/a)'>", {"remote_content"}),
        ("<p style=\"background:u\\rl('https://example.org/a')\">", {"remote_content"}),
        ("<style>p{background:url( 'https://example.org/a')}</style>", {"remote_content"}),
        ("<style>@import 'https://example.org/a'</style>", {"remote_content"}),
        ("<link rel=stylesheet href=https://example.org/a>", {"remote_content"}),
        ("<svg><image href=https://example.org/a></svg>", {"remote_content"}),
        ("<p style='background:url(cid:a)'>", set()),
        ("<a href=https://example.org/ style='color:url(x)'>x</a>", set()),
    ],
)
def test_signals(page: str, signals: set[str]) -> None:
    assert read_page(page).signals == signals
