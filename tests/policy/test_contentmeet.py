"""Content rules of a grant and what restricts it: defaults, and the stricter of each."""

from __future__ import annotations

import pytest

from postroom.base.levels import Finding
from postroom.config.policies.content import SHOWN_HEADERS
from postroom.policy.contentmeet import common_domains
from postroom.policy.contentrules import BodyRule, ContentRules, HistoryRule, LinkRule, Spotlight
from tests.policy.declaring import granted

OPEN = (
    "{content: {body: text+html, max_chars: 90000, headers: [from, x-kind], raw: true, raw_overrides_content: true,"
    " hidden_text: mark, links: {mode: full, unwrap: false}, images: alt, unicode: keep-joiners, markup: keep,"
    " spotlight: datamark, detectors: {otp: 'off', iban: 'off'}}}"
)


def content(*policies: str) -> ContentRules:
    return granted(*policies).content


def test_a_grant_that_says_nothing_has_the_secure_defaults() -> None:
    rules = content("{}")
    assert (rules.body, rules.max_chars, rules.raw) == (BodyRule.TEXT, 20_000, False)
    assert rules.headers == frozenset(SHOWN_HEADERS)
    assert (rules.links, rules.unwrap, rules.full_link_domains) == (LinkRule.DOMAIN, True, frozenset())
    assert (rules.history, rules.image_alt, rules.calendar, rules.neutralise) == (HistoryRule.KEEP, False, True, True)
    assert (rules.mark_hidden, rules.keep_joiners, rules.spotlight) == (False, False, Spotlight.FIELDS)
    assert rules.detectors == {
        **dict.fromkeys(("otp", "reset_link", "secret", "private_key", "jwt", "password", "card"), Finding.REDACT),
        "iban": Finding.FLAG,
    }


def test_a_restriction_says_nothing_of_what_it_leaves_out() -> None:
    assert content(OPEN, "{content: {body: text+html, links: {mode: full}}}") == content(OPEN)


@pytest.mark.parametrize(
    ("restriction", "field", "value"),
    [
        ("body: none", "body", BodyRule.NONE),
        ("max_chars: 10", "max_chars", 10),
        ("max_chars: 99000", "max_chars", 90_000),
        ("headers: [x-kind, to]", "headers", frozenset({"x-kind"})),
        ("raw: false", "raw", False),
        ("hidden_text: remove", "mark_hidden", False),
        ("quoted_history: collapse", "history", HistoryRule.COLLAPSE),
        ("links: {mode: remove}", "links", LinkRule.REMOVE),
        ("links: {unwrap: true}", "unwrap", True),
        ("images: placeholder", "image_alt", False),
        ("calendar: none", "calendar", False),
        ("unicode: strict", "keep_joiners", False),
        ("markup: neutralise", "neutralise", True),
        ("spotlight: fence", "spotlight", Spotlight.DATAMARK),
    ],
)
def test_of_each_key_the_stricter_counts(restriction: str, field: str, value: object) -> None:
    assert getattr(content(OPEN, f"{{content: {{{restriction}}}}}"), field) == value


def test_detectors_are_laid_over_the_defaults_and_each_restricted_by_itself() -> None:
    found = content("{content: {detectors: {iban: withhold}}}", "{content: {detectors: {otp: hide, card: 'off'}}}")
    assert found.detectors["iban"] is Finding.WITHHOLD
    assert found.detectors["otp"] is Finding.HIDE
    assert found.detectors["card"] is Finding.REDACT
    assert "phone" not in found.detectors


def test_patterns_of_all_policies_look() -> None:
    one = "{content: {patterns: [{name: a, re2: a+, action: redact, where: body}]}}"
    other = "{content: {patterns: [{name: b, re2: B, action: hide, case: true}]}}"
    first, second = content(one, other).patterns
    assert (first.name, first.action, first.in_subject, first.in_body) == ("a", Finding.REDACT, False, True)
    assert first.pattern.spans("xAAx") == [(1, 3)]
    assert second.pattern.spans("b") == []


@pytest.mark.parametrize(
    ("policies", "mode", "domains"),
    [
        (
            ["{links: {allow_domains: [a.example], show_full_for: [b.example]}}"],
            LinkRule.DOMAIN,
            {"a.example", "b.example"},
        ),
        (
            ["{links: {mode: full}}", "{links: {mode: domain, allow_domains: [a.example]}}"],
            LinkRule.DOMAIN,
            {"a.example"},
        ),
        (["{links: {allow_domains: [a.example]}}", "{links: {mode: full}}"], LinkRule.DOMAIN, {"a.example"}),
        (
            ["{links: {allow_domains: [a.example]}}", "{links: {allow_domains: [x.a.example, b.example]}}"],
            LinkRule.DOMAIN,
            {"x.a.example"},
        ),
        (["{links: {allow_domains: [a.example]}}", "{links: {mode: domain}}"], LinkRule.DOMAIN, set()),
    ],
)
def test_links_in_full_are_those_that_every_policy_shows_in_full(
    policies: list[str], mode: LinkRule, domains: set[str]
) -> None:
    rules = content(*(f"{{content: {one}}}" for one in policies))
    assert (rules.links, rules.full_link_domains) == (mode, domains)


def test_domains_cover_what_lies_below_them() -> None:
    assert common_domains(["a.example", "b.example"], ["x.a.example", "b.example", "notb.example"]) == {
        "x.a.example",
        "b.example",
    }
