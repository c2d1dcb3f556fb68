"""Whom a message may go to: one recipient who may not refuses it, and is named only if the caller named him."""

from __future__ import annotations

import pytest

from postroom.base.levels import Outcome
from postroom.mail.outgoing.address import strict_address
from postroom.mail.outgoing.compose import compose
from postroom.mail.outgoing.identity import Identities
from postroom.policy.outbound.clearing import clear
from postroom.policy.outbound.plan import Operation
from tests.policy.outbound.sending import BOB, CAROL, EVE, judged, message, opened, person, plan, rules

SELF = "ana@corp.example"


@pytest.mark.parametrize(
    ("changes", "to", "rule"),
    [
        ("recipients: {allow: [internal]}", (CAROL, BOB), "outbound.recipients.allow"),
        ("recipients: {allow: [internal]}", ("carol@mail.corp.example",), "outbound.recipients.allow"),
        ('recipients: {allow: ["list:partners"]}', ("bob@partner.example.evil.example",), "outbound.recipients.allow"),
        ("recipients: {allow: [bob@partner.example]}", ("bob+x@partner.example",), "outbound.recipients.allow"),
        ("recipients: {deny: [bob@partner.example]}", ("BOB+x@Partner.Example",), "outbound.recipients.deny"),
        ("recipients: {deny: [all@corp.example]}", (CAROL, "all@corp.example"), "outbound.recipients.deny"),
        ("recipients: {max: 1}", (CAROL, BOB), "outbound.recipients.max"),
        ("recipients: {internal_only: true}", (CAROL, BOB), "outbound.recipients.internal_only"),
        ("recipients: {allow: [internal]}", (SELF,), "outbound.recipients.allow"),
    ],
)  # fmt: skip
def test_who_may_not_be_written_to_refuses_the_message(changes: str, to: tuple[str, ...], rule: str) -> None:
    found = judged(plan(*to), opened(changes))
    assert found.outcome is Outcome.DENY
    assert [one.rule for one in found.reasons] == [rule]


@pytest.mark.parametrize(
    ("changes", "to"),
    [
        ("recipients: {allow: [internal]}", (CAROL, SELF)),
        ("recipients: {allow: [internal, self]}", (SELF,)),
        ("recipients: {allow: [anyone]}", (SELF,)),
        ('recipients: {allow: ["list:partners"]}', ("bob@mail.partner.example", BOB)),
        ("recipients: {deny: [bob+x@partner.example]}", (BOB,)),
        ("recipients: {max: 1}", (BOB, "BOB@partner.example")),
        ("recipients: {internal_only: true}", (CAROL, SELF)),
    ],
)
def test_who_may_be_written_to_is(changes: str, to: tuple[str, ...]) -> None:
    assert judged(plan(*to), opened(changes)).outcome is Outcome.SEND


@pytest.mark.parametrize("operation", [Operation.SEND, Operation.SAVE])
def test_answers_may_be_led_nowhere_else(operation: Operation) -> None:
    """Else a message to somebody who may be written to fetches an answer for somebody who may not."""
    anyone = opened("recipients: {allow: [anyone]}, reply_only: off")
    led = judged(plan(CAROL, reply_to=(person(SELF), person(EVE)), operation=operation), anyone)
    assert {(one.rule, one.outcome) for one in led.decisive} == {("outbound.from", Outcome.DENY)}
    assert EVE not in led.decisive[0].sentence
    home = judged(plan(CAROL, reply_to=(person(SELF),), operation=operation), anyone)
    assert home.outcome is (Outcome.SEND if operation is Operation.SEND else Outcome.DRAFT)


@pytest.mark.parametrize("operation", [Operation.SEND, Operation.SAVE])
def test_a_route_through_the_own_domain_is_no_internal_address(operation: Operation) -> None:
    """A server of corp.example may take evil.example!eve for eve@evil.example, as Postfix does for its own domains."""
    routed = "evil.example!eve@corp.example"
    found = judged(plan(routed, CAROL, operation=operation), opened("recipients: {allow: [internal]}"))
    assert found.outcome is Outcome.DENY
    assert {one.addresses for one in found.decisive} == {(routed,)}


def test_copies_count_as_recipients() -> None:
    internal = opened("recipients: {allow: [internal], bcc: deny}")
    assert [one.addresses for one in judged(plan(CAROL, cc=[BOB]), internal).reasons] == [(BOB,)]
    found = judged(plan(CAROL, bcc=[BOB]), internal)
    assert [one.rule for one in found.reasons] == ["outbound.recipients.bcc", "outbound.recipients.allow"]


def test_a_recipient_that_the_gateway_took_from_a_message_is_not_named() -> None:
    derived = plan(EVE, BOB, operation=Operation.REPLY_ALL, derived=frozenset({EVE}))
    (found,) = judged(derived, opened("recipients: {allow: [internal]}")).reasons
    assert found.addresses == (BOB,)
    assert EVE not in found.sentence
    assert "a recipient that the answered message names" in found.sentence


@pytest.mark.parametrize(
    ("grant", "sender", "outcome"),
    [
        ("mode: send", SELF, Outcome.SEND),
        ("mode: send", "bea@corp.example", Outcome.DENY),
        ('mode: send, from: ["*@corp.example"]', "bea@corp.example", Outcome.SEND),
        ('mode: send, from: ["*@corp.example"]', "bea@mail.corp.example", Outcome.DENY),
        ("mode: send, from: [bea@corp.example]", SELF, Outcome.DENY),
    ],
)
def test_the_sender_must_be_one_that_the_policy_names(grant: str, sender: str, outcome: Outcome) -> None:
    allowed = rules(f"{grant}, recipients: {{allow: [internal]}}")
    assert judged(plan(CAROL, from_=person(sender)), allowed).outcome is outcome


CONFUSED = (
    "carol@corp.example)eve@evil.example",
    "carol@corp.example,eve@evil.example",
    "carol@corp.example;eve@evil.example",
    "carol@corp.example eve@evil.example",
    "carol@corp.example@evil.example",
    "carol@evil.example@corp.example",
    "carol%corp.example@evil.example",
    "carol%evil.example@corp.example",
    "carol!evil.example@corp.example",
    "<carol@corp.example>eve@evil.example",
    "carol@corp.example <eve@evil.example>",
    '"carol@corp.example" <eve@evil.example>',
    "eve@evil.example <carol@corp.example>",
    '"eve@evil.example"@corp.example',
    "carol@corp.example(eve@evil.example)",
    "carol(@evil.example)@corp.example",
    "@evil.example:carol@corp.example",
    "<@evil.example:carol@corp.example>",
    "Team: carol@corp.example, eve@evil.example;",
    "carol@corp.example.",
    "carol@corp.example.evil.example",
    "carol@evil.example.corp.example",
    "carol@corp.example\\@evil.example",
    "carol@corp.example\x00@evil.example",
    "carol@corp.example\r\nBcc: eve@evil.example",
    "carol@corp.example\u2028eve@evil.example",
    "carol@ｃｏｒｐ.example",
    "carol@corp。example",
    "carol@corp\u00ad.example",
    "carol@c\u043erp.example",
    "carol@xn--corp-.example",
    "carol@[127.0.0.1]",
    "carol@127.0.0.1",
    "carol@corp",
    "carol..x@corp.example",
    ".carol@corp.example",
    "carol.@corp.example",
    "`carol`@corp.example",
    "carol@corp_.example",
    "carol@-corp.example",
    "=?utf-8?q?carol?=@corp.example",
    "carol@corp.example?bcc=eve@evil.example",
    "mailto:carol@corp.example",
    "CAROL@CORP.EXAMPLE",
)
"""Spellings that somebody could read as a colleague and somebody else as a stranger, or as nobody."""


@pytest.mark.parametrize("text", CONFUSED)
def test_an_address_that_can_be_read_twice_is_refused_or_judged_as_it_is_delivered(text: str) -> None:
    try:
        address = strict_address(text)
    except ValueError:
        return
    outcome = judged(plan(text), opened("recipients: {allow: [internal]}")).outcome
    outgoing = message(text)
    delivered = clear(outgoing, compose(outgoing), Identities.read(["ana@corp.example"], SELF)).recipients
    assert delivered == (address.address,)
    assert (outcome is Outcome.SEND) is (delivered[0].endswith("@corp.example") and "!" not in delivered[0])


def test_most_of_those_spellings_are_refused() -> None:
    def is_refused(text: str) -> bool:
        try:
            strict_address(text)
        except ValueError:
            return True
        return False

    assert sum(map(is_refused, CONFUSED)) > 30
