"""Where an address really leads."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.url import find_urls, host_in_label, is_mismatch, is_suspicious_scheme, read_url


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("https://example.org", "https://example.org/"),
        (" HTTPS://Example.ORG/A?b#c ", "https://example.org/A?b#c"),
        ("ht\ntps://exa\tmple.org/a\r\nb", "https://example.org/ab"),
        ("https:\\\\example.org\\a", "https://example.org/a"),
        ("https:example.org", "https://example.org/"),
        ("https:///example.org", "https://example.org/"),
        ("//example.org/a", "https://example.org/a"),
        ("https://example.org:443/", "https://example.org/"),
        ("https://example.org:8443/", "https://example.org:8443/"),
        ("https://bank.example@evil.example/", "https://evil.example/"),
        ("https://a:b@c@evil.example\\@bank.example", "https://evil.example/@bank.example"),
        ("https://evil.example#@bank.example", "https://evil.example/#@bank.example"),
        ("https://exa%6Dple.org/", "https://example.org/"),
        ("https://ｅｘａｍｐｌｅ。ｏｒｇ/", "https://example.org/"),
        ("https://exa\u200bmple.org/", "https://example.org/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://0x7f.1/", "https://127.0.0.1/"),
        ("https://2130706433/", "https://127.0.0.1/"),
        ("https://[::1]/", "https://[::1]/"),
        ("https://example.org./", "https://example.org/"),
        ('https://example.org/a b"<c>', "https://example.org/a%20b%22%3Cc%3E"),
        ("mailto:joe@example.org?bcc=x@example.net&body=y", "mailto:joe@example.org"),
        ("MAILTO:joe@Example.org,eve@example.net", "mailto:joe@example.org"),
        ("mailto:joe%40example.org", "mailto:joe@example.org"),
        *[
            (bad, None)
            for bad in ("/a", "a.html", "?x", "#x", "", "javascript:x", "data:text/html,x", "file:///x", "tel:1")
        ],
        *[
            (bad, None)
            for bad in ("https://", "https:///", "https://a b/", "https://a<b/", "https://1.2.3.4.5/", "mailto:x")
        ],
        *[
            (bad, None)
            for bad in ("https://[x]/", "https://.example/", "https://a..b/", "mailto:a@b@c", "cid:x", "https://%zz/")
        ],
        ("https://" + "a" * 9000, None),
    ],
)
def test_an_address_is_cleaned_as_a_browser_does(text: str, href: str | None) -> None:
    target = read_url(text)
    assert (target.href if target else None) == href


@pytest.mark.parametrize(
    "wrapped",
    [
        "https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fevil.example%2Fx%3Fy%3D1&data=05",
        "https://www.google.com/url?q=https://evil.example/x%3Fy%3D1&sa=D",
        "https://urldefense.com/v3/__https://evil.example/x?y=1__;!!abc!def$",
        "https://urldefense.com/v3/__https:/*evil.example/x*y=1__;Lz8!!abc!def$",
        "https://urldefense.com/v3/__https:**Aevil.example/x*y=1__;Ly8_!!abc!def$",
        "https://urldefense.proofpoint.com/v2/url?u=https-3A__evil.example_x-3Fy-3D1&d=z",
        "https://urldefense.proofpoint.com/v1/url?u=https%3A%2F%2Fevil.example%2Fx%3Fy%3D1&k=z",
        "https://linkprotect.cudasvc.com/url?a=https%3a%2f%2fevil.example%2fx%3fy%3d1&c=E",
        "https://secure-web.cisco.com/1abc/https%3A%2F%2Fevil.example%2Fx%3Fy%3D1",
        "https://eu-west-1.protection.sophos.com/?d=evil.example&u=aHR0cHM6Ly9ldmlsLmV4YW1wbGUveD95PTE=&i=z",
        "https://url.avanan.click/v2/___https://evil.example/x?y=1___.abc",
        "https://l.facebook.com/l.php?u=https%3A%2F%2Fevil.example%2Fx%3Fy%3D1&h=z",
        "https://www.google.com/url?q=https%3A%2F%2Fwww.google.com%2Furl%3Fq%3Dhttps%253A%252F%252Fevil.example%252Fx%253Fy%253D1",
    ],
)
def test_known_wrappers_are_undone(wrapped: str) -> None:
    target = read_url(wrapped)
    assert target
    assert target.href == "https://evil.example/x?y=1"


def test_a_wrapper_around_nothing_good_stays() -> None:
    for inner in ("javascript:x", "/x", ""):
        target = read_url(f"https://www.google.com/url?q={inner}")
        assert target
        assert target.host == "www.google.com"


@pytest.mark.parametrize(
    ("host", "homograph"),
    [
        *[("аpple.example", True), ("сору.example", True), ("gооgle.example", True), ("ɡoogle.example", True)],
        *[("bücher.example", False), ("пример.example", False), ("例え.example", False), ("日本x.example", False)],
        *[("сору.рф", False), ("example.org", False), ("xn--zz--.example", True), ("ελλάδα.example", False)],
    ],
)
def test_homographs(host: str, homograph: bool) -> None:
    target = read_url(f"https://{host}/")
    assert target
    assert (target.homograph, target.suspicious) == (homograph, homograph)


def test_suspicious_schemes() -> None:
    assert all(map(is_suspicious_scheme, ["JaVa\tscript:x", " data:x", "vbscript:x", "file:///x", "blob:x"]))
    assert not any(map(is_suspicious_scheme, ["https:x", "tel:1", "cid:x", "/x", "x", "a/b:c"]))


@pytest.mark.parametrize(
    ("label", "host"),
    [
        *[
            ("https://bank.example/x", "bank.example"),
            ("bank.example", "bank.example"),
            ("WWW.Bank.Example", "www.bank.example"),
        ],
        *[
            ("joe@bank.example", "bank.example"),
            ("Go to https://bank.example/ now", "bank.example"),
            ("bank.example/x", "bank.example"),
        ],
        *[
            ("(bank.example).", "bank.example"),
            ("→ bank.example →", "bank.example"),
            ("http://a@bank.example", "bank.example"),
        ],
        *[
            ("click here", None),
            ("report.pdf", None),
            ("v1.2.3", None),
            ("U.S.", None),
            ("", None),
            ("Hello. World", None),
        ],
        *[("аpple.example", "xn--pple-43d.example"), ("bank．example", "bank.example")],
    ],
)
def test_hosts_in_labels(label: str, host: str | None) -> None:
    assert host_in_label(label) == host


@pytest.mark.parametrize(
    ("label", "mismatch"),
    [
        *[("example.org", False), ("www.example.org", False), ("EXAMPLE.ORG", False), ("shop.example.org", False)],
        *[("https://example.org/else", False), ("click", False), ("example.com", True), ("notexample.org", True)],
        *[("example.org.evil.example", True), ("x@example.com", True)],
        *[("Mr.Smith", False), ("Node.js", False), ("v1.2", False), ("Example.Com", True), ("EXAMPLE.COM", True)],
    ],
)
def test_mismatch(label: str, mismatch: bool) -> None:
    target = read_url("https://www.example.org/x")
    assert target
    assert is_mismatch(label, target) is mismatch


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see https://example.org/a, or www.example.net.", ["https://example.org/a", "www.example.net"]),
        ("(https://example.org/a_(b)) x", ["https://example.org/a_(b)"]),
        (
            "<https://example.org/> example.org/x mailto:a@example.org",
            ["https://example.org/", "example.org/x", "mailto:a@example.org"],
        ),
        ("example.org and 1.2/3 and a@example.org/x or file.txt", []),
        ("ftp://example.org/x HTTP://EXAMPLE.ORG", ["ftp://example.org/x", "HTTP://EXAMPLE.ORG"]),
        ("", []),
    ],
)
def test_urls_in_text(text: str, urls: list[str]) -> None:
    found = list(find_urls(text))
    assert [url for _, _, url in found] == urls
    assert all(text[start:end] == url for start, end, url in found)


@pytest.mark.parametrize(
    "unit", ["a.", "www.", "https:", "http://", ")", "a.b/", "-", "a.b/)", "mailto:", "1.", "((((", "a+"]
)
def test_finding_takes_linear_time(unit: str) -> None:
    start = time.process_time()
    list(find_urls(unit * 200_000))
    assert time.process_time() - start < 2


@given(st.text() | st.text(alphabet="htps:/\\.@#?%[]xn-0123é\t ").map("https://{}".format))
def test_any_address_has_a_clean_target_or_none(text: str) -> None:
    target = read_url(text)
    host_in_label(text)
    if target:
        again = read_url(target.href)
        assert target.host.isascii()
        assert again
        assert again.host == target.host
        assert not set(target.href) & set(' \t\r\n<>"\\')
