"""The injection cases, and the cases of the corpus about hidden text and links, against the page reader."""

import html
import json
import re
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from postroom.mail.page import Page, read_page
from tests.cases.case import CORPUS

CASES = [json.loads(line) for line in (Path(__file__).parent / "injection-cases.jsonl").read_text("utf-8").splitlines()]
OURS = {
    *(
        "hidden_css",
        "hidden_stylesheet",
        "non_rendered",
        "attribute_text",
        "mxss",
        "remote_css",
        "remote_media",
        "form",
    ),
    *("refresh", "tracking", "control_benign", "visible_injection", "bad_scheme", "base_href", "homograph", "userinfo"),
    *("mailto", "link_wrapper", "link_mismatch"),
}
"""Kinds that the page itself decides on; the others are for what is done with its text afterwards."""
OF_THE_CORPUS = (
    *("hid-attributes", "hid-comments", "hid-display-none", "hid-off-screen", "hid-same-colour-variants"),
    *("hid-white-on-white", "lnk-active-elements", "lnk-homograph", "lnk-mismatch", "lnk-script-schemes"),
    "lnk-tracking-pixel",
)
SHORTENED_LATER = {"F05": {"acct=9", "https://evil.test/login"}, "F10": {"https://"}, "J05": {"deep/path"}}
"""Addresses of links, which a page tells in full."""


def with_hosts(page: Page) -> str:
    return re.sub("\x0e(\\d+)\x0f", lambda found: f" <{page.links[int(found[1])].host}>", page.text)


@pytest.mark.parametrize(
    "case", [one for one in CASES if one["kind"] in OURS and "html" in one], ids=lambda one: one["id"]
)
def test_an_injection_case_comes_out_clean(case: dict[str, Any]) -> None:
    page = read_page(case["html"])
    text = with_hosts(page)
    shown = "\n".join((text, html.unescape(page.safe_html), *(link.text for link in page.links)))
    forbidden = set(case["must_not_appear_in_sanitized"]) - SHORTENED_LATER.get(case["id"], set())
    assert [word for word in forbidden if word in shown] == []
    assert [word for word in case["must_appear"] if word not in text] == []


def page_of(case: str) -> tuple[Page, dict[str, Any]]:
    folder = CORPUS / case
    message = message_from_bytes((folder / "input.eml").read_bytes())
    payload = message.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return read_page(payload.decode("utf-8")), json.loads((folder / "expect.json").read_text("ascii"))["expect"]


@pytest.mark.parametrize("case", OF_THE_CORPUS)
def test_a_case_of_the_corpus_is_read_as_it_should(case: str) -> None:
    page, expect = page_of(case)
    reader, safe = expect.get("reader", {}), expect.get("safe_html", {})
    assert all(word in page.text for word in reader.get("contains", []))
    assert not any(word in page.text for word in reader.get("not_contains", []))
    assert all(word in page.safe_html for word in safe.get("contains", []))
    assert not any(word in page.safe_html for word in safe.get("not_contains", []))
    assert not any(word in page.safe_html.lower() for word in safe.get("not_contains_ci", []))
    assert expect.get("attribute_text_fenced", "\0") not in page.text + page.safe_html
    assert not expect.get("signals_any") or page.signals & set(expect["signals_any"])
    for link, wanted in zip(page.links, expect.get("links", []), strict=False):
        assert link.href == wanted.get("href", link.href)
        assert link.host == wanted.get("host_ascii", link.host)
        assert link.mismatch == wanted.get("mismatch", link.mismatch)
