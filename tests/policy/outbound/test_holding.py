"""The conditions of `hold_when`: all keys of an element must hold, any element holds, and unknown counts as yes."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.base.levels import Outcome
from postroom.policy.people import compile_addresses
from tests.policy.outbound.sending import BOB, CAROL, EVE, PDF, PEOPLE, judged, opened, plan

A_FILE = {"files": (PDF,)}
KNOWN = {"written_to": frozenset({BOB}), "contacts": compile_addresses((CAROL,), PEOPLE, tags=False)}


@pytest.mark.parametrize(
    ("condition", "to", "more", "holds"),
    [
        ("external: true", (CAROL, "ana@corp.example"), {}, False),
        ("external: true", (CAROL, BOB), {}, True),
        ("external: false", (CAROL,), {}, True),
        ("external: false", (CAROL, BOB), {}, False),
        ("new_recipient: true", (BOB, CAROL), {}, False),
        ("new_recipient: true", (BOB, EVE), {}, True),
        ("new_recipient: false", (BOB,), {}, True),
        ("recipients_over: 2", (BOB, CAROL), {}, False),
        ("recipients_over: 2", (BOB, CAROL, EVE), {}, True),
        ("attachments: true", (BOB,), {}, False),
        ("attachments: true", (BOB,), A_FILE, True),
        ("attachments: false", (BOB,), {}, True),
        ("detector: otp", (BOB,), {"text": "code 123456"}, True),
        ("detector: [iban, card]", (BOB,), {"text": "code 123456"}, False),
        ("pattern: zebra", (BOB,), {"text": "A ZEBRA."}, True),
        ("pattern: {re2: 'z.bra'}", (BOB,), {"subject": "zebra"}, True),
        ("pattern: {equals: zebra}", (BOB,), {"text": "zebras"}, False),
        ("links: true", (BOB,), {"text": "https://corp.example/"}, True),
        ("links: true", (BOB,), {}, False),
        ("links: false", (BOB,), {}, True),
        ("subject: [zebra, lion]", (BOB,), {"subject": "The Lion"}, True),
        ("subject: zebra", (BOB,), {"text": "zebra"}, False),
        ("always: true", (CAROL,), {}, True),
        ("always: false", (CAROL,), {}, False),
        ("external: true, attachments: true", (BOB,), {}, False),
        ("external: true, attachments: true", (CAROL,), A_FILE, False),
        ("external: true, attachments: true", (BOB,), A_FILE, True),
    ],
)
def test_a_condition(condition: str, to: tuple[str, ...], more: dict[str, Any], holds: bool) -> None:
    found = judged(plan(*to, **more), opened(f"hold_when: [{{{condition}}}]"), **KNOWN)
    assert found.outcome is (Outcome.HOLD if holds else Outcome.SEND)


@pytest.mark.parametrize("wanted", ["true", "false"])
def test_what_cannot_be_told_holds_either_way(wanted: str) -> None:
    rule = opened(f"hold_when: [{{new_recipient: {wanted}}}]")
    assert judged(plan(CAROL), rule, written_to=None).outcome is Outcome.HOLD


def test_a_part_that_does_not_hold_settles_an_element_whatever_is_unknown() -> None:
    rule = opened("hold_when: [{new_recipient: true, attachments: true}]")
    assert judged(plan(CAROL), rule, written_to=None).outcome is Outcome.SEND


def test_every_element_that_holds_is_told() -> None:
    found = judged(plan(BOB), opened("hold_when: [{external: true}, {attachments: true}, {always: true}]"), **KNOWN)
    assert [one.rule for one in found.reasons] == ["outbound.hold_when[0]", "outbound.hold_when[2]"]
    assert found.reasons[0].sentence == "The message waits for a person, because it goes outside."
