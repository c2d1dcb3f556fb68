"""Automatic mail, lists and senders that take no answers are not answered, and a thread not without end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from postroom.base.levels import Outcome
from postroom.policy.outbound.plan import Answered, Operation
from tests.policy.outbound.sending import BOB, CAROL, answer, judged, opened, plan, record

HIS = "From: bob@partner.example\nMessage-ID: <his@partner.example>\n"
HOUR = timedelta(hours=1)


def kinds(answered: Answered, *to: str, operation: Operation = Operation.REPLY) -> list[str]:
    return [
        kind
        for kind in ("auto", "list", "noreply")
        if judged(
            plan(*(to or (BOB,)), operation=operation, answered=answered), opened(f"loop: {{no_reply_to: [{kind}]}}")
        ).outcome
        is Outcome.DENY
    ]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("Subject: Hello", []),
        ("Auto-Submitted: no", []),
        ("Auto-Submitted: NO; owner-email=x", []),
        ("Auto-Submitted: auto-replied", ["auto"]),
        ("Auto-Submitted: auto-generated; x=y", ["auto"]),
        ("Auto-Submitted:", ["auto"]),
        ("Precedence: bulk", ["auto"]),
        ("Precedence: Junk", ["auto"]),
        ("Precedence: list", ["list"]),
        ("List-Id: Developers <dev.corp.example>", ["list"]),
        ("Return-Path: <>", ["auto"]),
        ("Return-Path: <bob@partner.example>", []),
        ("Reply-To: no-reply@partner.example", ["noreply"]),
    ],
)
def test_what_kind_of_mail_it_is_its_head_tells(head: str, found: list[str]) -> None:
    assert kinds(answer(HIS + head)) == found


@pytest.mark.parametrize(
    ("local", "is_nobody"),
    [
        ("mailer-daemon", True),
        ("MAILER-DAEMON", True),
        ("postmaster", True),
        ("noreply", True),
        ("no-reply+7", True),
        ("donotreply", True),
        ("bounces-42", True),
        ("nora.reply", False),
        ("support", False),
    ],
)
def test_some_local_parts_take_no_answers(local: str, is_nobody: bool) -> None:
    address = f"{local}@partner.example"
    assert kinds(answer(f"From: {address}"), CAROL) == (["noreply"] if is_nobody else [])
    assert kinds(answer(HIS), address) == (["noreply"] if is_nobody else [])


def test_a_head_that_is_not_at_hand_may_be_of_any_kind() -> None:
    assert kinds(answer("")) == ["auto", "list", "noreply"]


def test_what_answers_nothing_and_what_is_forwarded_begins_no_loop() -> None:
    automatic = answer(f"{HIS}Auto-Submitted: auto-replied")
    assert kinds(automatic, CAROL, operation=Operation.FORWARD) == []
    assert judged(plan("noreply@partner.example"), opened("loop: {no_reply_to: [noreply]}")).outcome is Outcome.SEND


def test_a_thread_has_so_many_turns_within_its_window() -> None:
    rule = opened("loop: {max_turns: 2, window: 6h}")
    wanted = plan(BOB, operation=Operation.REPLY, answered=answer(HIS, BOB, thread="t"))
    turns = [record(age, thread="t", message_id=f"<{age}@corp.example>") for age in (HOUR, 2 * HOUR)]
    others = (record(HOUR, thread="u"), record(HOUR), record(6 * HOUR, thread="t"))
    assert judged(wanted, rule, sent=(turns[0], *others)).outcome is Outcome.SEND
    found = judged(wanted, rule, sent=(*turns, *others))
    assert found.outcome is Outcome.DENY
    assert [one.rule for one in found.reasons] == ["outbound.loop.max_turns"]
    assert judged(wanted, rule, sent=None).outcome is Outcome.DENY


def test_our_own_messages_that_come_back_in_references_are_turns_whatever_thread_they_were_in() -> None:
    rule = opened("loop: {max_turns: 2}")
    sent = tuple(record(HOUR, thread=f"t{at}", message_id=f"<{at}@corp.example>") for at in range(3))
    one = answer(f"{HIS}References: <0@corp.example>\n", BOB, thread="new")
    two = answer(f"{HIS}References: <0@corp.example>\nIn-Reply-To: <2@corp.example>\n", BOB, thread="new")
    assert judged(plan(BOB, answered=one), rule, sent=sent).outcome is Outcome.SEND
    assert judged(plan(BOB, answered=two), rule, sent=sent).outcome is Outcome.DENY
