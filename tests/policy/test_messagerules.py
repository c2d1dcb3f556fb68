"""Rules on messages: what is unknown, what is excepted, what restrictions do, and what a list may rely on."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.kleene import Truth
from postroom.base.levels import Verdict
from postroom.policy.condition import Condition
from postroom.policy.effective import compile_policy
from postroom.policy.evidence import Evidence
from postroom.policy.messagerules import Rule, Rules
from tests.policy.declaring import NOW, declared, granted, mail

ACTIONS = ("hide", "withhold", "allow")


def ruled(action: str, *, exempt: str = "", default: str = "allow", match: str = "{flags: seen}") -> str:
    rule = f"{{id: r, match: {match}, action: {action}{', except: ' + exempt if exempt else ''}}}"
    return f"{{messages: {{default: {default}, rules: [{rule}]}}}}"


SEEN, UNSEEN, UNTOLD = (mail(flags=flags) for flags in (frozenset({"\\Seen"}), frozenset[str](), None))


@pytest.mark.parametrize(
    ("policy", "verdicts"),
    [
        (ruled("hide"), "hide allow hide"),
        (ruled("withhold"), "withhold allow withhold"),
        (ruled("allow", default="hide"), "allow hide hide"),
        (ruled("hide", exempt="{size_over: 1}"), "allow allow allow"),
        (ruled("hide", match="{size_over: 1}", exempt="{flags: seen}"), "allow hide hide"),
        (ruled("allow", default="hide", match="{size_over: 1}", exempt="{flags: seen}"), "hide allow hide"),
    ],
)
def test_what_is_unknown_counts_against_the_message(policy: str, verdicts: str) -> None:
    found = [granted(policy).messages.verdict(message).name.lower() for message in (SEEN, UNSEEN, UNTOLD)]
    assert found == verdicts.split()


@pytest.mark.parametrize(
    ("policy", "hidden"),
    [
        (ruled("hide", match="{from: bob@x.example}"), True),
        (ruled("allow", match="{from: bob@x.example}", default="hide"), True),
        (ruled("hide", match="{not: {from: bob@x.example}}"), True),
        (ruled("hide", match="{size_over: 1}", exempt="{from: bob@x.example}"), True),
        (ruled("allow", match="{size_over: 1}", exempt="{from: bob@x.example}", default="hide"), True),
        (ruled("hide", match="{not: {not: {from: bob@x.example}}}"), True),
    ],
)
def test_an_address_with_a_tag_is_the_other_one_only_where_that_restricts(policy: str, hidden: bool) -> None:
    assert (granted(policy).messages.verdict(mail("From: bob+a@x.example")) is Verdict.HIDE) is hidden


def test_a_detector_that_hides_or_withholds_decides_on_the_message() -> None:
    policy = granted(
        "{content: {detectors: {otp: withhold, card: redact},"
        " patterns: [{name: x, re2: x, action: hide, where: subject}]}}"
    )
    messages = policy.messages
    assert messages.needs_body
    assert messages.detectors == {"otp", "x"}

    def verdict(subject: set[str] | None, body: set[str] | None) -> Verdict:
        return messages.verdict(
            mail(
                found_in_subject=None if subject is None else frozenset(subject),
                found_in_body=None if body is None else frozenset(body),
            )
        )

    assert verdict(set(), set()) is Verdict.ALLOW
    assert verdict(set(), {"x", "card"}) is Verdict.ALLOW
    assert verdict({"x"}, set()) is Verdict.HIDE
    assert verdict(set(), {"otp"}) is Verdict.WITHHOLD
    assert verdict(set(), None) is Verdict.WITHHOLD
    assert verdict(None, set()) is Verdict.HIDE


def test_an_error_in_a_rule_hides_the_message_and_is_reported() -> None:
    def broken(_: Evidence) -> Truth:
        raise ZeroDivisionError

    reported: list[Exception] = []
    messages = granted("{}").messages
    rules = Rules(Verdict.ALLOW, (Rule("p", "r", Verdict.WITHHOLD, Condition(broken)),))
    messages = replace(messages, policies=(rules,), report=reported.append)
    assert messages.verdict(mail()) is messages.ceiling(mail()) is Verdict.HIDE
    assert [type(one) for one in reported] == [ZeroDivisionError, ZeroDivisionError]


def test_explaining_names_the_policy_the_rule_and_its_truth() -> None:
    told = granted(ruled("withhold"), ruled("hide")).messages.explain(UNTOLD)
    assert [(one.policy, one.rule, one.truth, one.action) for one in told] == [
        ("granted", "r", None, Verdict.WITHHOLD),
        ("r0", "r", None, Verdict.HIDE),
    ]


def test_the_stricter_of_two_opinions_on_withheld_subjects_counts() -> None:
    open_ = "{messages: {withhold_subject: false, explain_to_agent: true}}"
    assert not granted(open_).messages.withhold_subject
    assert granted(open_).messages.explain_to_agent
    assert granted(open_, "{messages: {withhold_subject: true}}").messages.withhold_subject
    assert not granted(open_, "{messages: {explain_to_agent: false}}").messages.explain_to_agent
    assert not granted(open_, "{messages: {default: pass}}").messages.withhold_subject


def test_a_restriction_of_a_token_counts_as_those_of_its_profile() -> None:
    file = declared(f"policies: {{a: {{}}, b: {ruled('hide')}}}\nprofiles: {{p: {{policy: a}}}}")
    assert compile_policy(file, "p", "work").messages.verdict(SEEN) is Verdict.ALLOW
    assert compile_policy(file, "p", "work", ["b"]).messages.verdict(SEEN) is Verdict.HIDE


leaves = st.sampled_from(
    [
        "{flags: seen}",
        "{size_over: 500}",
        "{from: '*@x.example'}",
        "{subject: hello}",
        "{older_than: 2d}",
        "{list_id: present}",
        "{contains: {pattern: secret}}",
        "{contains: {detector: otp}}",
        "{attachment: {any: true}}",
        "{anomaly: [hidden_text]}",
        "{internal: true}",
    ]
)
matches = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds("{{any: [{}, {}]}}".format, inner, inner),
        st.builds("{{all: [{}, {}]}}".format, inner, inner),
        st.builds("{{not: {}}}".format, inner),
    ),
    max_leaves=3,
)
rules = st.lists(
    st.builds(
        lambda match, exempt, action: f"match: {match}, action: {action}" + (f", except: {exempt}" if exempt else ""),
        matches,
        st.none() | leaves,
        st.sampled_from(ACTIONS),
    ),
    max_size=4,
)
policies = st.tuples(st.sampled_from(ACTIONS), rules)
restrictions = st.tuples(st.sampled_from((*ACTIONS, "pass")), rules)


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    """A message, with more or less of it at hand."""
    senders = ["From: a@x.example", "From: a@x.example, b@y.example", "From: bo@corp.example", "To: a@x.example"]
    head = draw(st.sampled_from(senders))
    head += draw(st.sampled_from(["", "\nSubject: Hello", "\nList-Id: <l.x>", "\nSubject: Hello\nList-Id: x"]))
    known: dict[str, Any] = {
        "flags": draw(st.sampled_from([None, frozenset[str](), frozenset({"\\Seen"})])),
        "size": draw(st.sampled_from([None, 100, 1_000])),
        "received_at": draw(st.sampled_from([None, NOW])),
        "signals": draw(st.sampled_from([None, frozenset[str](), frozenset({"hidden_text"})])),
        "parts": draw(st.sampled_from([None, ()])),
        "subject": draw(st.sampled_from([None, "", "secret"])),
        "text": draw(st.sampled_from([None, "", "secret"])),
        "found_in_subject": draw(st.sampled_from([None, frozenset[str]()])),
        "found_in_body": draw(st.sampled_from([None, frozenset({"otp"}), frozenset[str]()])),
    }
    return mail(head, **known)


def spelled(policy: tuple[str, list[str]]) -> str:
    numbered = ", ".join(f"{{id: r{at}, {rule}}}" for at, rule in enumerate(policy[1]))
    return f"{{messages: {{default: {policy[0]}, rules: [{numbered}]}}}}"


@given(policies, evidence(), st.randoms())
def test_the_order_of_rules_decides_nothing(policy: tuple[str, list[str]], message: Evidence, random: Random) -> None:
    shuffled = list(policy[1])
    random.shuffle(shuffled)
    other = spelled((policy[0], shuffled))
    assert granted(spelled(policy)).messages.verdict(message) is granted(other).messages.verdict(message)


@given(policies, st.lists(restrictions, min_size=1, max_size=3), evidence())
def test_no_restriction_shows_a_message(
    policy: tuple[str, list[str]], restricting: list[tuple[str, list[str]]], message: Evidence
) -> None:
    texts = [spelled(one) for one in restricting]
    before = granted(spelled(policy), *texts[:-1]).messages
    after = granted(spelled(policy), *texts).messages
    assert after.verdict(message) <= before.verdict(message)


@given(policies, st.lists(restrictions, max_size=2), evidence())
def test_the_head_alone_gives_an_upper_bound(
    policy: tuple[str, list[str]], restricting: list[tuple[str, list[str]]], message: Evidence
) -> None:
    messages = granted(spelled(policy), *map(spelled, restricting)).messages
    assert messages.verdict(message) <= messages.ceiling(message)
    if not messages.needs_body:
        assert messages.verdict(message) is messages.ceiling(message)


def test_of_what_the_head_hides_nothing_more_need_be_known() -> None:
    secret = "{id: s, match: {contains: {pattern: secret}}, action: hide}"
    seen = "{id: r, match: {flags: seen}, action: hide}"
    both = "{id: b, match: {contains: {pattern: x}, flags: seen}, action: hide}"
    messages = granted(f"{{messages: {{rules: [{secret}, {seen}, {both}]}}}}").messages
    assert messages.ceiling(SEEN) is Verdict.HIDE
    assert messages.ceiling(UNSEEN) is Verdict.ALLOW
    assert messages.verdict(UNSEEN) is Verdict.HIDE
    assert granted("{messages: {default: hide}}").messages.ceiling(SEEN) is Verdict.HIDE
