"""All parts and all policies have their say, and the least counts: nothing that is added lets more through."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from postroom.base.levels import Outcome
from postroom.policy.outbound.judging import judge
from postroom.policy.outbound.plan import Operation, Plan, SendEvidence
from postroom.policy.outbound.rules import OutboundRules
from tests.policy.outbound.sending import (
    BOB,
    CAROL,
    EVE,
    NOON,
    OPEN,
    PDF,
    answer,
    known,
    opened,
    plan,
    record,
    rules,
)

RESTRICTIONS = (
    "mode: hold",
    "mode: draft",
    "mode: deny",
    "from: [ana@corp.example]",
    "from: [bea@corp.example]",
    "recipients: {allow: [internal]}",
    'recipients: {allow: ["list:partners"]}',
    "recipients: {deny: [bob@partner.example]}",
    "recipients: {max: 1}",
    "recipients: {bcc: deny}",
    "recipients: {internal_only: true}",
    "reply_only: correspondent",
    "reply_only: thread",
    "reply_all: hold",
    "forward: deny",
    "require_draft: true",
    "after_untrusted_read: {action: draft}",
    "hold_when: [{external: true, new_recipient: true}]",
    "hold_when: [{external: false}]",
    "hold_when: [{rolling: {recipients: 2, per: 1h}}, {links: true}, {pattern: code}]",
    "content: {detectors: {otp: deny}}",
    "content: {detectors: {otp: hold}, max_chars: 10}",
    "content: {patterns: [{name: code, re2: code, action: hold}]}",
    "content: {links: {allow_domains: [corp.example], others: deny}}",
    "attachments: {mode: hold}",
    'attachments: {types: {allow: ["image/*"]}}',
    "rate: {messages: {per_minute: 1}}",
    "rate: {same_recipient: {per_hour: 1}}",
    "quiet_hours: {timezone: UTC, windows: [11:00-13:00]}",
    "loop: {no_reply_to: [auto]}",
    "loop: {max_turns: 1}",
    "draft_recipients: same",
)
COMPILED = {one: rules(OPEN, one)[-1] for one in RESTRICTIONS}
GRANTS = (opened("mode: send")[0], rules("mode: send")[0], rules("mode: draft")[0])
AUTOMATIC = answer("From: bob@partner.example\nAuto-Submitted: auto-replied", BOB, CAROL)
FILE = {"files": (PDF,)}

PLANS = st.builds(
    lambda to, text, bcc, operation, answered, file, draft: plan(
        *to, text=text, bcc=bcc, operation=operation, answered=answered, own_draft=draft, **(FILE if file else {})
    ),
    st.lists(st.sampled_from([BOB, CAROL, EVE, "ana@corp.example"]), min_size=1, max_size=3, unique=True),
    st.sampled_from(["Hello.", "Your code is 123456.", "See https://evil.example/x", "See https://corp.example/x"]),
    st.sampled_from([(), ("dan@corp.example",)]),
    st.sampled_from(Operation),
    st.sampled_from([None, AUTOMATIC]),
    st.booleans(),
    st.booleans(),
)
EVIDENCE = st.builds(
    lambda sent, read, wrote: known(
        sent=sent, untrusted_read=read, correspondents={BOB: wrote}, written_to=frozenset({BOB} if wrote else ())
    ),
    st.sampled_from([(), (record(timedelta(seconds=30)),), (record(timedelta(minutes=50), BOB, CAROL),)]),
    st.sampled_from([None, NOON - timedelta(hours=1)]),
    st.booleans(),
)
NAMES = st.lists(st.sampled_from(RESTRICTIONS), max_size=4)


@given(PLANS, EVIDENCE, st.sampled_from(GRANTS), NAMES, st.sampled_from(RESTRICTIONS))
def test_a_restriction_never_raises_an_outcome(
    wanted: Plan, evidence: SendEvidence, grant: OutboundRules, names: list[str], more: str
) -> None:
    policies = (grant, *(COMPILED[one] for one in names))
    before = judge(wanted, evidence, policies)
    after = judge(wanted, evidence, (*policies, COMPILED[more]))
    assert after.outcome <= before.outcome
    assert set(before.reasons) <= set(after.reasons)


@given(PLANS, EVIDENCE, st.sampled_from(GRANTS), NAMES)
def test_the_outcome_is_the_least_that_any_policy_comes_to_alone(
    wanted: Plan, evidence: SendEvidence, grant: OutboundRules, names: list[str]
) -> None:
    policies = (grant, *(COMPILED[one] for one in names))
    alone = [judge(wanted, evidence, (one,)).outcome for one in policies]
    assert judge(wanted, evidence, policies).outcome is min(alone)


@given(PLANS, EVIDENCE, st.sampled_from(GRANTS), NAMES)
def test_what_cannot_be_told_never_raises_an_outcome(
    wanted: Plan, evidence: SendEvidence, grant: OutboundRules, names: list[str]
) -> None:
    policies = (grant, *(COMPILED[one] for one in names))
    told = judge(wanted, evidence, policies)
    unknown = known(sent=None, correspondents={}, written_to=None, reads_known=False)
    assert judge(wanted, unknown, policies).outcome <= told.outcome


def test_each_restriction_says_something_of_some_message() -> None:
    """So that the properties above are about something."""
    busy = plan(BOB, EVE, text="Your code: 123456 https://evil.example/", bcc=[CAROL], answered=AUTOMATIC, **FILE)
    seen = {
        name
        for name in RESTRICTIONS
        for operation in Operation
        for evidence in (known(sent=None, reads_known=False), known())
        for one in (busy, plan(CAROL))
        if judge(Plan(one.outgoing, 1, operation, one.answered, files=one.files), evidence, (COMPILED[name],)).reasons
    }
    assert set(RESTRICTIONS) - seen == {"from: [ana@corp.example]", "draft_recipients: same"}


def test_without_a_policy_nothing_is_sent() -> None:
    assert judge(plan(CAROL), known(), ()).outcome is Outcome.DENY


def test_the_newcomers_policy_lets_drafts_be_prepared_and_nothing_be_sent() -> None:
    newcomer = rules("mode: draft")
    assert judge(plan(EVE, operation=Operation.SAVE), known(), newcomer).outcome is Outcome.DRAFT
    assert judge(plan(EVE), known(), newcomer).outcome is Outcome.DRAFT
    assert judge(plan(EVE, operation=Operation.SEND_DRAFT), known(), newcomer).outcome is Outcome.DENY
    assert judge(plan(EVE), known(), rules("mode: draft, draft_recipients: same")).outcome is Outcome.DENY
    assert judge(plan(EVE, operation=Operation.SAVE), known(), rules("mode: deny")).outcome is Outcome.DENY


def test_a_draft_saved_after_mail_from_outside_was_read_bears_a_note() -> None:
    saved = judge(plan(EVE, operation=Operation.SAVE), known(untrusted_read=NOON), rules("mode: send"))
    assert saved.outcome is Outcome.DRAFT
    assert [(one.rule, one.outcome) for one in saved.reasons] == [("drafted_after_untrusted_read", Outcome.SEND)]
    assert saved.decisive == ()


def test_the_reasons_that_decide_are_those_of_the_outcome() -> None:
    found = judge(plan(EVE, text="Code 123456"), known(), opened("mode: hold, reply_only: correspondent"))
    assert [one.rule for one in found.reasons] == ["outbound.reply_only", "outbound.mode"]
    assert [(one.rule, one.policy) for one in found.decisive] == [("outbound.reply_only", 2)]
