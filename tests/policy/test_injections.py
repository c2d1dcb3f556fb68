"""Messages that try to steer, to smuggle, or to carry what is nobody's business: as a bound token reads them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from postroom.base.levels import Finding
from postroom.mail.model import Address, Field, Head
from postroom.mail.parse import assemble, parse_head, split, split_message
from postroom.policy.content import Projected, Setting, project
from postroom.policy.contentrules import BOUND, BodyRule, ContentRules
from postroom.policy.heads import show_filename, show_head, show_name

HERE = Path(__file__).parent
RULES = replace(BOUND, detectors={**BOUND.detectors, "iban": Finding.REDACT})


def cases() -> Iterator[dict[str, Any]]:
    for path in (HERE.parent / "mail/page/injection-cases.jsonl", HERE / "injection-siblings.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)


CASES = list(cases())
TEXTS = [case for case in CASES if "text" in case]


def named(case: dict[str, Any]) -> str:
    return f"{case['id']}-{case['kind']}"


def whole(escaped: str) -> str:
    """The corpus spells letters beyond the first plane as two surrogates."""
    return escaped.encode("utf-16", "surrogatepass").decode("utf-16")


def projected(case: dict[str, Any], rules: ContentRules) -> Projected:
    kind = "plain" if "text" in case else "html"
    body = whole(case.get("text") or case["html"])
    head = f"From: Dana <dana@example.org>\r\nContent-Type: text/{kind}; charset=utf-8\r\n"
    raw = f"{head}Content-Transfer-Encoding: 8bit\r\n\r\n{body}".encode()
    return project(assemble(split_message(raw)), parse_head(split(raw)[0]), Setting(), rules)


def strings(value: object) -> Iterator[str]:
    """Every string of a value, but signals."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list, frozenset)):
        for one in value:
            yield from strings(one)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            if name != "signals":
                yield from strings(getattr(value, name))


@pytest.mark.parametrize("body", [BodyRule.TEXT, BodyRule.TEXT_AND_HTML])
@pytest.mark.parametrize("case", CASES, ids=named)
def test_what_must_not_be_shown_is_in_no_string_and_what_must_be_is_in_the_text(
    case: dict[str, Any], body: BodyRule
) -> None:
    reading = projected(case, replace(RULES, body=body)).reading
    shown = [html.unescape(one) for one in strings(replace(reading, authentication=type(reading.authentication)()))]
    for hidden in map(whole, case["must_not_appear_in_sanitized"]):
        assert not [one for one in shown if hidden in one]
    for visible in map(whole, case["must_appear"]):
        assert visible in reading.reader
        assert visible in reading.reader_quoted


@pytest.mark.parametrize("case", TEXTS, ids=named)
def test_it_is_not_shown_in_a_subject_or_a_name_either(case: dict[str, Any]) -> None:
    text = " ".join(whole(case["text"]).splitlines())
    field = Field("List-Id", text.encode("utf-8", "replace"))
    head = Head((field,), text, (Address(text, "dana@example.org"),), (), (), (), None, None, None, ())
    shown = show_head(head, RULES)
    subject, name, listed = shown.subject or "", shown.from_[0].name or "", shown.fields[0].value.decode()
    file_name, folder = show_filename(text, RULES) or "", show_name(text, RULES, 200)
    for hidden in map(whole, case["must_not_appear_in_sanitized"]):
        for one in (subject, name, listed, file_name, folder):
            assert hidden not in one
    for visible in map(whole, case["must_appear"]):
        for one, most in ((subject, 500), (name, 200), (folder, 200)):
            assert "\n" in visible or visible in one or len(text) > most
