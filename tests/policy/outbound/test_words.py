"""What a message may say: its length and form, what detectors and patterns find in it, and what it links to."""

from __future__ import annotations

import base64

import pytest

from postroom.base.levels import Outcome
from postroom.policy.outbound.plan import Operation
from tests.policy.outbound.sending import CAROL, judged, opened, plan

CODE = "Your code is 123456."


@pytest.mark.parametrize(
    ("changes", "text", "outcome"),
    [
        ("max_chars: 5", "12345", Outcome.SEND),
        ("max_chars: 5", "123456", Outcome.DENY),
        ("quote_max_lines: 2", "> a\n > b\nmine\n", Outcome.SEND),
        ("quote_max_lines: 2", "> a\n>> b\nmine\n\t> c", Outcome.DENY),
        ("quote_max_lines: 0", "a > b, and | c", Outcome.SEND),
        ("detectors: {otp: deny}", CODE, Outcome.DENY),
        ("detectors: {otp: hold}", CODE, Outcome.HOLD),
        ("detectors: {otp: deny}", "Your code is short.", Outcome.SEND),
        ("detectors: {otp: deny}", base64.b64encode(CODE.encode() * 2).decode(), Outcome.DENY),
        ("detectors: {otp: deny}", "Your cod\u200be is 123456.", Outcome.DENY),
        ("patterns: [{name: word, re2: 'project\\s+x\\b', action: deny}]", "about Project  X.", Outcome.DENY),
        ("patterns: [{name: word, re2: 'project\\s+x\\b', action: hold}]", "about project y", Outcome.SEND),
        ("patterns: [{name: word, re2: X, case: true, action: hold}]", "x", Outcome.SEND),
        ("patterns: [{name: word, re2: x, action: 'off'}]", "x", Outcome.SEND),
        ("patterns: [{name: word, re2: x, action: hold}]", "\ud800", Outcome.SEND),
    ],
)
def test_the_text(changes: str, text: str, outcome: Outcome) -> None:
    assert judged(plan(CAROL, text=text), opened(f"content: {{{changes}}}")).outcome is outcome


def test_what_is_flagged_is_noted_and_sent() -> None:
    found = judged(plan(CAROL, text=f"To DE{'1' * 20}"), opened("content: {detectors: {iban: flag}}"))
    assert found.outcome is Outcome.SEND
    assert [(one.rule, one.outcome) for one in found.reasons if one.policy] == [
        ("outbound.content.detectors.iban", Outcome.SEND)
    ]
    assert found.decisive == ()


@pytest.mark.parametrize(
    "more",
    [
        {"subject": CODE},
        {"html": "<p>Your co&#100;e is 123456.</p>"},
        {"cc": [f'"{CODE}" <dan@corp.example>']},
        {"file_texts": (CODE,)},
    ],
)
def test_detectors_look_through_everything_that_is_said(more: dict[str, object]) -> None:
    found = judged(plan(CAROL, **more), opened("content: {detectors: {otp: deny}}"))
    assert found.outcome is Outcome.DENY


def test_html_needs_leave() -> None:
    assert judged(plan(CAROL, html="<p>x</p>"), opened("content: {html: deny}")).outcome is Outcome.DENY
    assert judged(plan(CAROL, html="<p>x</p>"), opened("content: {html: allow}")).outcome is Outcome.SEND


def test_a_text_too_long_to_be_looked_through_may_hold_anything() -> None:
    (rules,) = opened("content: {detectors: {otp: hold}, patterns: [{name: word, re2: zebra, action: deny}]}")[-1:]
    text = "x" * (rules.scan_chars + 1)
    found = judged(plan(CAROL, text=text), (rules,))
    assert {one.rule: one.outcome for one in found.reasons} == {
        "outbound.content.detectors.otp": Outcome.HOLD,
        "outbound.content.patterns.word": Outcome.DENY,
    }


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("See https://corp.example/x and http://wiki.corp.example.", True),
        ("See https://CORP.example:8443/x", True),
        ("See https://corp.example.evil.example/", False),
        ("See https://evilcorp.example/", False),
        ("See https://corp.example@evil.example/", False),
        ("See www.evil.example", False),
        ("See evil.example/path", False),
        ("No link, but carol@corp.example and 3.14", True),
    ],
)
def test_links_lead_to_hosts_that_are_named(text: str, fits: bool) -> None:
    rule = opened("content: {links: {allow_domains: [corp.example], others: hold}}")
    assert judged(plan(CAROL, text=text), rule).outcome is (Outcome.SEND if fits else Outcome.HOLD)


def test_links_in_html_count() -> None:
    rule = opened("content: {links: {allow_domains: [corp.example], others: deny}}")
    page = '<a href="https://evil.example/?q=1&amp;x=2">https://corp.example</a>'
    assert judged(plan(CAROL, html=page), rule).outcome is Outcome.DENY


def test_a_draft_is_looked_through_too() -> None:
    rule = opened("content: {detectors: {otp: deny}}")
    assert judged(plan(CAROL, text=CODE, operation=Operation.SAVE), rule).outcome is Outcome.DENY
    assert judged(plan(CAROL, operation=Operation.SAVE), rule).outcome is Outcome.DRAFT
