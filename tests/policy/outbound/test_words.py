"""What a message may say: its length and form, what detectors and patterns find in it, and what it links to."""

from __future__ import annotations

import base64

import pytest

from postroom.base.levels import Outcome
from postroom.policy.detectors import found
from postroom.policy.outbound.ownsecrets import OwnSecrets
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


@pytest.mark.parametrize(
    "page",
    [
        "<p>proj<b>ect</b> zebra</p>",
        "proj<!---->ect zeb<wbr>ra",
        "pro<div style='display:inline'>ject</div> zeb<p style='display:inline'>ra",
        "project&nbsp;zebra",
        "<p>project</p><p>zebra</p>",
        'project <i style="display:none">x</i>zebra',
        "project <span style='display:none'>big</span> zebra",
        '<img alt="project zebra">',
        "<!-- project zebra -->",
        "ｐｒｏｊｅｃｔ　ｚｅｂｒａ",
    ],
)
def test_a_pattern_reads_a_page_in_every_way_in_which_it_may_be_read(page: str) -> None:
    rule = opened("content: {patterns: [{name: word, re2: 'project\\s+zebra', action: deny}]}")
    assert judged(plan(CAROL, html=page), rule).outcome is Outcome.DENY
    assert judged(plan(CAROL, html="<p>project</p><p>yak</p>"), rule).outcome is Outcome.SEND


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("card", "<p>4111 11<b>11 11</b>11 1111</p>"),
        ("card", "<table><tr><td>4111</td><td>1111</td><td>1111</td><td>1111</td></tr></table>"),
        ("otp", "verification co<b></b>de is 48<span>29</span>13"),
        ("password", "pass<b></b>word: hunter2Xy9"),
    ],
)
def test_detectors_read_a_page_without_its_tags(name: str, page: str) -> None:
    rule = opened(f"content: {{detectors: {{{name}: deny}}}}")
    assert judged(plan(CAROL, html=page), rule, detect=found).outcome is Outcome.DENY
    assert judged(plan(CAROL, html="<p>Hello <b>you</b></p>"), rule, detect=found).outcome is Outcome.SEND


def test_an_own_secret_stands_in_a_page_also_with_tags_between() -> None:
    secrets = OwnSecrets(("gU2Wo6zq9",), b"key")
    assert judged(plan(CAROL, html="gU2<b></b>Wo6zq9"), opened(""), secrets=secrets).outcome is Outcome.DENY
    assert judged(plan(CAROL, html="gU2<b></b>Wo6zq8"), opened(""), secrets=secrets).outcome is Outcome.SEND


@pytest.mark.parametrize("spelled", ["ｐｒｏｊｅｃｔ ｚｅｂｒａ", "𝐩𝐫𝐨𝐣𝐞𝐜𝐭 𝐳𝐞𝐛𝐫𝐚", "project\u2003zebra"])
@pytest.mark.parametrize("where", ["text", "subject"])
def test_a_pattern_reads_letters_in_other_forms_as_the_letters(spelled: str, where: str) -> None:
    rule = opened("content: {patterns: [{name: word, re2: 'project\\s+zebra', action: deny}]}")
    assert judged(plan(CAROL, **{where: spelled}), rule).outcome is Outcome.DENY


@pytest.mark.parametrize(
    "text",
    [
        "evil。example/x?d=1",
        "evil．example/x",
        "１.2.3.4/x",
        "[x](evil.example)",
        "[x]: evil.example",
        "[x](evil．example)",
        "\\\\evil.example\\x",
        "http:evil.example/x",
        "ｈｔｔｐｓ://evil.example/",
    ],
)
def test_a_link_is_one_however_it_is_written(text: str) -> None:
    rule = opened("content: {links: {allow_domains: [corp.example], others: deny}}")
    assert judged(plan(CAROL, text=f"See {text}"), rule).outcome is Outcome.DENY
    own = text.replace("evil", "corp")
    assert own == text or judged(plan(CAROL, text=f"See {own}"), rule).outcome is Outcome.SEND


@pytest.mark.parametrize(
    ("page", "outcome"),
    [
        ('<a href="http:evil.example">x</a>', Outcome.DENY),
        ('<a href="//evil.example">x</a>', Outcome.DENY),
        ('<a href="ht&Tab;tps:\\evil.example">x</a>', Outcome.DENY),
        ('<a href="javascript:alert(1)">x</a>', Outcome.DENY),
        ('<a href="http:corp.example">x</a>', Outcome.SEND),
        ('<a href="#top">x</a><img src="cid:logo"><img src="data:image/png;base64,AA//BB">', Outcome.SEND),
        ("<p>https://corp.example</p><p>Regards</p>", Outcome.SEND),
    ],
)
def test_an_attribute_leads_where_a_browser_would_go(page: str, outcome: Outcome) -> None:
    rule = opened("content: {links: {allow_domains: [corp.example], others: deny}}")
    assert judged(plan(CAROL, html=page), rule).outcome is outcome


@pytest.mark.parametrize("content", ["detectors: {otp: deny}", "patterns: [{name: word, re2: zebra, action: deny}]"])
def test_files_of_which_not_all_was_read_may_say_anything(content: str) -> None:
    rule = opened(f"content: {{{content}}}")
    assert judged(plan(CAROL, files_unread=True), rule).outcome is Outcome.DENY
    assert judged(plan(CAROL, files_unread=True), opened("")).outcome is Outcome.SEND


def test_a_page_that_is_a_file_is_read_as_a_page() -> None:
    rule = opened("content: {detectors: {otp: deny}}")
    assert judged(plan(CAROL, file_pages=("<p>Your co<b>de is 12</b>3456.</p>",)), rule).outcome is Outcome.DENY
