"""How much is sent: sums over sliding windows, this message included, exact at their ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from postroom.base.levels import Outcome
from tests.policy.outbound.sending import BOB, CAROL, EVE, judged, opened, plan, record

SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1))


@pytest.mark.parametrize(("key", "window"), [("per_minute", MINUTE), ("per_hour", HOUR), ("per_day", DAY)])
def test_a_message_counts_until_it_is_as_old_as_the_window(key: str, window: timedelta) -> None:
    rule = opened(f"rate: {{messages: {{{key}: 2}}}}")
    young, old = record(window - timedelta(microseconds=1)), record(window)
    assert judged(plan(BOB), rule, sent=(young, old)).outcome is Outcome.SEND
    found = judged(plan(BOB), rule, sent=(young, young))
    assert found.outcome is Outcome.DENY
    assert [one.rule for one in found.reasons] == [f"outbound.rate.messages.{key}"]


def test_a_message_of_the_future_counts() -> None:
    assert judged(plan(BOB), opened("rate: {messages: {per_hour: 1}}"), sent=(record(-HOUR),)).outcome is Outcome.DENY


@pytest.mark.parametrize(
    ("limit", "fits", "exceeds"),
    [
        ("recipients: {per_day: 3}", (BOB, CAROL), (BOB, CAROL, EVE)),
        ("same_recipient: {per_day: 1}", (CAROL, EVE), (CAROL, BOB)),
        ("same_recipient: {per_hour: 1}", (CAROL, EVE), (CAROL, "BOB@partner.example")),
    ],
)
def test_recipients_are_summed(limit: str, fits: tuple[str, ...], exceeds: tuple[str, ...]) -> None:
    rule, sent = opened(f"rate: {{{limit}}}"), (record(SECOND, BOB),)
    assert judged(plan(*fits), rule, sent=sent).outcome is Outcome.SEND
    assert judged(plan(*exceeds), rule, sent=sent).outcome is Outcome.DENY


def test_octets_are_summed_to_the_last_one() -> None:
    rule, sent = opened("rate: {bytes: {per_day: 1000}}"), (record(HOUR, octets=600), record(DAY, octets=999))
    assert judged(plan(BOB, octets=400), rule, sent=sent).outcome is Outcome.SEND
    assert judged(plan(BOB, octets=401), rule, sent=sent).outcome is Outcome.DENY


def test_many_small_sends_trip_what_one_large_one_would() -> None:
    rule = opened("rate: {recipients: {per_day: 29}}")
    sent = tuple(record(at * MINUTE, f"p{at}@partner.example") for at in range(29))
    assert judged(plan(BOB), rule, sent=sent[:28]).outcome is Outcome.SEND
    assert judged(plan(BOB), rule, sent=sent).outcome is Outcome.DENY


def test_without_records_there_is_no_room() -> None:
    assert judged(plan(BOB), opened("rate: {messages: {per_day: 100}}"), sent=None).outcome is Outcome.DENY


def test_a_rate_of_nothing_sends_nothing() -> None:
    assert judged(plan(BOB), opened("rate: {messages: {per_day: 0}}")).outcome is Outcome.DENY


@pytest.mark.parametrize(
    ("rolling", "fits", "sent"),
    [
        ("messages: 2", 1, record(DAY - SECOND)),
        ("recipients: 4", 1, record(SECOND, BOB, CAROL)),
        ("new_recipients: 2", 1, record(SECOND, BOB, new_recipients=1)),
        ("bytes: 1100", 1, record(SECOND, BOB, octets=500)),
    ],
)
def test_a_rolling_sum_that_exceeds_its_number_holds(rolling: str, fits: int, sent: object) -> None:
    rule = opened(f"hold_when: [{{rolling: {{{rolling}, per: 1d}}}}]")
    assert judged(plan(EVE), rule, sent=(sent,) * fits).outcome is Outcome.SEND
    assert judged(plan(EVE), rule, sent=(sent,) * (fits + 1)).outcome is Outcome.HOLD
    assert judged(plan(EVE), rule[-1:], sent=None).outcome is Outcome.HOLD
