"""From the configuration to rules: a grant says everything, a restriction only what its text says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from postroom.base.levels import Outcome
from postroom.policy.outbound.compiling import acquainted
from postroom.policy.outbound.rules import (
    Circle,
    Forwarding,
    LoopRules,
    OutboundRules,
    RateLimit,
    RecipientRules,
    ReplyTo,
    UntrustedReads,
    WordRules,
)
from postroom.policy.people import People
from tests.policy.outbound.sending import CAROL, EVE, OPEN, opened, person, rules

NOTHING = OutboundRules()


def restriction(text: str) -> OutboundRules:
    """Without what is asked of all policies together."""
    return replace(opened(text)[-1], files=NOTHING.files, scan_chars=NOTHING.scan_chars)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode: hold", replace(NOTHING, mode=Outcome.HOLD)),
        ("recipients: {max: 3}", replace(NOTHING, recipients=RecipientRules(most=3))),
        ("recipients: {bcc: deny}", replace(NOTHING, recipients=RecipientRules(bcc=False))),
        ("recipients: {internal_only: true}", replace(NOTHING, recipients=RecipientRules(internal_only=True))),
        ("reply_only: thread", replace(NOTHING, circle=Circle.THREAD)),
        ("reply_all: hold", replace(NOTHING, reply_all=Outcome.HOLD)),
        ("reply_to: never", replace(NOTHING, reply_to=ReplyTo.NEVER)),
        ("forward: sanitized", replace(NOTHING, forward=Forwarding.SANITIZED)),
        ("require_draft: true", replace(NOTHING, require_draft=True)),
        ("draft_recipients: any", replace(NOTHING, draft_recipients_any=True)),
        (
            "after_untrusted_read: {window: 1h}",
            replace(NOTHING, untrusted=UntrustedReads(timedelta(hours=1), Outcome.HOLD, True, True)),
        ),
        ("content: {max_chars: 9}", replace(NOTHING, words=WordRules(max_chars=9))),
        ("content: {html: deny}", replace(NOTHING, words=WordRules(html=False))),
        (
            "content: {detectors: {jwt: hold, otp: 'off'}}",
            replace(NOTHING, words=WordRules(detectors={"jwt": Outcome.HOLD})),
        ),
        (
            "rate: {messages: {per_hour: 3}}",
            replace(NOTHING, rates=(RateLimit("outbound.rate.messages.per_hour", "messages", 3, timedelta(hours=1)),)),
        ),
        ("loop: {max_turns: 2}", replace(NOTHING, loop=LoopRules(max_turns=2))),
        ("loop: {no_reply_to: [list]}", replace(NOTHING, loop=LoopRules(no_reply_to=frozenset({"list"})))),
    ],
)
def test_a_restriction_has_an_opinion_on_what_its_text_says_alone(text: str, said: OutboundRules) -> None:
    assert restriction(text) == said


def test_a_policy_that_says_nothing_of_sending_restricts_nothing() -> None:
    silent = rules(OPEN, "")[-1]
    assert replace(silent, files=NOTHING.files, scan_chars=NOTHING.scan_chars) == NOTHING


def test_a_grant_has_the_defaults_of_what_it_leaves_out() -> None:
    grant = rules("mode: send")[0]
    assert (grant.circle, grant.reply_all, grant.forward) == (Circle.CORRESPONDENT, Outcome.DENY, Forwarding.SANITIZED)
    assert (grant.reply_to, grant.files.mode) == (ReplyTo.SAME_DOMAIN, Outcome.DENY)
    assert (grant.recipients.most, grant.recipients.bcc, grant.recipients.allows_self) == (5, False, False)
    assert grant.untrusted == UntrustedReads(timedelta(hours=24), Outcome.HOLD, True, True)
    assert grant.words.detectors["otp"] is Outcome.DENY
    assert grant.words.detectors["iban"] is Outcome.SEND
    assert "phone" not in grant.words.detectors
    assert {one.rule.removeprefix("outbound.rate."): one.most for one in grant.rates} == {
        "messages.per_minute": 2,
        "messages.per_hour": 20,
        "messages.per_day": 100,
        "recipients.per_day": 150,
        "same_recipient.per_hour": 4,
        "same_recipient.per_day": 12,
        "bytes.per_day": 50 << 20,
    }


def test_the_configuration_tells_who_is_inside_and_who_is_a_contact() -> None:
    people = People(frozenset({"corp.example"}), frozenset({"ana@gmail.example"}), {"contacts": (EVE,)})
    internal, own, contacts = acquainted(people)
    addresses = [person(one) for one in (CAROL, "ana@gmail.example", EVE)]
    assert list(map(internal.holds, addresses)) == [True, True, False]
    assert list(map(own.holds, addresses)) == [False, True, False]
    assert list(map(contacts.holds, addresses)) == [False, False, True]
    assert not acquainted(People()).contacts.holds(addresses[2])


def test_self_is_allowed_where_it_stands_in_so_many_words() -> None:
    assert rules("recipients: {allow: [internal, self]}")[0].recipients.allows_self
    assert rules("recipients: {allow: [anyone]}")[0].recipients.allows_self
    assert not rules("recipients: {allow: [internal, ana@corp.example]}")[0].recipients.allows_self
