"""After mail from outside was read, a message to a third party waits; to the thread and to colleagues it goes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from postroom.base.levels import Outcome
from tests.policy.outbound.sending import BOB, CAROL, EVE, NOON, answer, judged, opened, plan

THREAD = answer("From: bob@partner.example", BOB)


@pytest.mark.parametrize(
    ("ago", "outcome"),
    [
        (timedelta(0), Outcome.HOLD),
        (timedelta(hours=24) - timedelta(microseconds=1), Outcome.HOLD),
        (timedelta(hours=24), Outcome.SEND),
        (timedelta(hours=-1), Outcome.HOLD),
    ],
    ids=["now", "within", "at the end", "by a clock set back"],
)
def test_the_window_is_half_open(ago: timedelta, outcome: Outcome) -> None:
    rule = opened("after_untrusted_read: {window: 24h}")
    assert judged(plan(BOB), rule, untrusted_read=NOON - ago).outcome is outcome


def test_nothing_read_holds_nothing_and_nothing_known_does() -> None:
    rule = opened("after_untrusted_read: {window: 1h}")
    assert judged(plan(BOB), rule).outcome is Outcome.SEND
    assert judged(plan(BOB), rule, reads_known=False).outcome is Outcome.HOLD


@pytest.mark.parametrize(
    ("except_to", "to", "outcome"),
    [
        ("[thread, internal]", (BOB, CAROL), Outcome.SEND),
        ("[thread, internal]", (BOB, EVE), Outcome.DRAFT),
        ("[thread]", (BOB, CAROL), Outcome.DRAFT),
        ("[internal]", (CAROL, "ana@corp.example"), Outcome.SEND),
        ("[internal]", (BOB,), Outcome.DRAFT),
        ("[]", (CAROL,), Outcome.DRAFT),
    ],
)
def test_every_recipient_must_be_excepted(except_to: str, to: tuple[str, ...], outcome: Outcome) -> None:
    rule = opened(f"after_untrusted_read: {{action: draft, except_to: {except_to}}}")
    found = judged(plan(*to, answered=THREAD), rule, untrusted_read=NOON)
    assert found.outcome is outcome
