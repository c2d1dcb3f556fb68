"""What a change of policies opens is told, and what it closes is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.policy.widening import widened
from tests.policy.declaring import declared


def change(old: str, new: str) -> list[str]:
    """The sentences on a profile whose policy was one and became the other."""
    files = [declared(f"policies: {{a: {one}}}\nprofiles: {{p: {{policy: a}}}}") for one in (old, new)]
    return [sentence.removeprefix("p in work: ") for sentence in widened(*files)]


@pytest.mark.parametrize(
    ("section", "strict", "wide", "sentence"),
    [
        (
            "folders",
            "{rules: [{match: 'A/*', access: visible}]}",
            "{rules: [{match: 'A/*', access: readable}]}",
            "folder A/x: visible became readable",
        ),
        (
            "folders",
            "{rules: [{match: '**', access: visible}, {match: 'special:junk', access: hidden}]}",
            "{rules: [{match: '**', access: visible}]}",
            "folder special:junk: hidden became visible",
        ),
        ("content", "{body: text}", "{body: text+html}", "content: body was text, and is text_and_html"),
        (
            "content",
            "{detectors: {otp: redact}}",
            "{detectors: {otp: flag}}",
            "content.detectors.otp: redact became flag",
        ),
        (
            "content",
            "{links: {}}",
            "{links: {allow_domains: [x.test]}}",
            "content: full_link_domains was nothing, and is x.test",
        ),
        (
            "content",
            "{patterns: [{name: x, re2: x, action: flag}]}",
            "{}",
            "content.patterns: x is gone",
        ),
        (
            "attachments",
            "{mode: metadata}",
            "{mode: text, types: {allow: [image/png]}}",
            "file a of type image/png, 1000 octets, number 1: metadata became text",
        ),
        ("actions", "{flags: []}", "{flags: [seen]}", "actions.flags: seen may be set"),
        ("actions", "{}", "{labels: ['agent/*']}", "label agent/x: false became true"),
        (
            "actions",
            "{erase_after: 2d}",
            "{erase_after: 1d}",
            "actions.erase_after: 2d became 1d",
        ),
        ("outbound", "{mode: draft}", "{mode: hold}", "outbound.mode: draft became hold"),
        ("outbound", "{}", "{recipients: {allow: ['*@x.test']}}", "send to x@x.test: false became true"),
        ("outbound", "{}", "{rate: {messages: {per_day: 101}}}", "outbound.rate.messages.per_day: 100 became 101"),
        ("limits", "{}", "{concurrent: 5}", "limits.concurrent: 4 became 5"),
    ],
)
def test_a_decision_that_became_more_permissive_is_told(section: str, strict: str, wide: str, sentence: str) -> None:
    assert sentence in change(f"{{{section}: {strict}}}", f"{{{section}: {wide}}}")
    assert change(f"{{{section}: {wide}}}", f"{{{section}: {strict}}}") == []


def test_a_rule_that_became_another_is_told_with_what_it_lets_through_and_always() -> None:
    strict, wide = (
        f"{{messages: {{rules: [{{id: r, match: {{older_than: {age}}}, action: hide}}]}}}}" for age in ("30d", "60d")
    )
    example = "from ['someone@elsewhere.example'], subject Hello, age P30D, text Hello"
    changed = "messages.rules: r is not what it was"
    assert change(strict, wide) == [f"messages: hide became allow, such as {example}", changed]
    assert change(wide, strict) == [changed]


OPEN = "mode: send, recipients: {allow: [anyone]}, reply_only: off"
BANK = "{id: bank, match: {sender_domain: bank.example}, action: hide}"


@pytest.mark.parametrize(
    ("strict", "wide", "sentence"),
    [
        (f"messages: {{rules: [{BANK}]}}", "messages: {rules: []}", "messages.rules: bank is gone"),
        (
            f"messages: {{rules: [{BANK}]}}",
            f"messages: {{rules: [{BANK.replace('hide', 'withhold')}]}}",
            "messages: hide became withhold, such as from ['x@bank.example'], subject Hello, text Hello",
        ),
        (
            f"messages: {{rules: [{BANK}]}}",
            f"messages: {{rules: [{BANK.replace('},', '}, except: {subject: {re2: a}},')}]}}",
            "messages.rules: bank is not what it was",
        ),
        (
            "messages: {default: withhold}",
            "messages: {default: withhold, rules: [{id: x, match: {older_than: 9d}, action: allow}]}",
            "messages.rules: x allows what fits it",
        ),
        (
            "content: {patterns: [{name: x, re2: 'x+', action: redact}]}",
            "content: {patterns: [{name: x, re2: 'xx', action: redact}]}",
            "content.patterns: x is not what it was",
        ),
        (
            "messages: {}",
            "messages: {explain_to_agent: true}",
            "messages.explain_to_agent was false, and is true: what that lets through is for you to judge",
        ),
        (
            f"outbound: {{{OPEN}, hold_when: [{{external: true}}]}}",
            f"outbound: {{{OPEN}}}",
            "outbound.hold_when: external true is gone",
        ),
        (
            f"outbound: {{{OPEN}}}",
            f"outbound: {{{OPEN}, after_untrusted_read: {{window: 1m}}}}",
            "outbound.after_untrusted_read.window was 1d, and is 1m: what that lets through is for you to judge",
        ),
        (
            f"outbound: {{{OPEN}, after_untrusted_read: {{except_to: []}}}}",
            f"outbound: {{{OPEN}}}",
            "outbound.after_untrusted_read.except_to was nothing, and is thread, internal: "
            "what that lets through is for you to judge",
        ),
        (
            f"outbound: {{{OPEN}}}",
            f"outbound: {{{OPEN}, content: {{detectors: {{otp: off}}}}}}",
            "outbound.content.detectors.otp was deny, and is off: what that lets through is for you to judge",
        ),
        (
            f"outbound: {{{OPEN}}}",
            f"outbound: {{{OPEN}, content: {{links: {{allow_domains: [evil.example]}}}}}}",
            "outbound.content.links.allow_domains was nothing, and is evil.example: "
            "what that lets through is for you to judge",
        ),
        (
            f"outbound: {{{OPEN}, attachments: {{extensions: {{deny: [exe]}}}}}}",
            f"outbound: {{{OPEN}, attachments: {{extensions: {{deny: []}}}}}}",
            "outbound.attachments.extensions.deny: exe is gone",
        ),
        (
            f"outbound: {{{OPEN}}}",
            f"outbound: {{{OPEN}, attachments: {{macros: allow}}}}",
            "outbound.attachments.macros was deny, and is allow: what that lets through is for you to judge",
        ),
        (
            f"outbound: {{{OPEN}}}",
            f"outbound: {{{OPEN}, loop: {{no_reply_to: []}}}}",
            "outbound.loop.no_reply_to: auto is gone",
        ),
    ],
)
def test_what_no_example_decides_is_told_as_changed(strict: str, wide: str, sentence: str) -> None:
    assert sentence in change(f"{{{strict}}}", f"{{{wide}}}")


def test_quiet_hours_that_end_are_told() -> None:
    hours = "{timezone: Europe/Berlin, windows: ['18:00-06:00']}"
    sentences = change(f"{{outbound: {{{OPEN}, quiet_hours: {hours}}}}}", f"{{outbound: {{{OPEN}}}}}")
    assert [one for one in sentences if one.startswith("outbound.quiet_hours was ")] == sentences != []


def test_who_counts_as_whom_is_told_when_it_changes() -> None:
    text = "policies: {a: {}}\nprofiles: {p: {policy: a}}\nlists: {vips: [%s]}"
    sentences = widened(declared(text % "a@x.test"), declared(text % "b@x.test"))
    assert "lists.vips is not what it was, and policies may name it" in sentences


def test_a_profile_that_is_new_is_told_whole() -> None:
    old = declared("policies: {a: {}}\nprofiles: {}")
    new = declared("policies: {a: {}}\nprofiles: {p: {policy: a}}")
    assert widened(old, new) == ["p in work: is granted anew"]
    assert widened(new, old) == []


SECTIONS = (
    "folders: {default: hidden, rules: [{match: INBOX, access: visible}]}",
    "messages: {default: pass, rules: [{id: r, match: {from: '*@x.test'}, action: withhold}]}",
    "content: {body: none, links: {mode: remove}, detectors: {otp: hide, phone: redact}}",
    "attachments: {mode: none}",
    "actions: {flags: [], trash: false}",
    "outbound: {mode: deny, recipients: {deny: ['*@x.test'], max: 1}}",
    "limits: {scan_chars: 10}",
)
GRANT = (
    "{folders: {default: writable}, content: {links: {mode: full}}, attachments: {mode: download, unscanned: allow},"
    " actions: {flags: [seen], trash: true, move_to: ['**']}, outbound: {mode: send, recipients: {allow: [anyone]}}}"
)


@given(st.sets(st.sampled_from(SECTIONS), min_size=1))
def test_no_restriction_widens_anything(sections: set[str]) -> None:
    text = f"policies: {{a: {GRANT}, r: {{{', '.join(sorted(sections))}}}}}\nprofiles: "
    before, after = declared(text + "{p: {policy: a}}"), declared(text + "{p: {policy: a, restrict: [r]}}")
    assert widened(before, after) == []
