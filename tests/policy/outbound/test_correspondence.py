"""Mail goes to those who wrote: what is unknown counts as never, and hidden mail tells nothing."""

from __future__ import annotations

import pytest

from postroom.base.kleene import Truth
from postroom.base.levels import Outcome
from postroom.policy.outbound.correspondence import asked_about
from postroom.policy.outbound.plan import Operation
from postroom.policy.people import compile_addresses
from tests.policy.outbound.sending import BOB, CAROL, EVE, PEOPLE, answer, judged, known, opened, plan

THREAD = answer("From: bob@partner.example", BOB, CAROL, "ana@corp.example")


@pytest.mark.parametrize(
    ("wrote", "outcome"),
    [({BOB: True}, Outcome.SEND), ({BOB: False}, Outcome.DENY), ({BOB: None}, Outcome.DENY), ({}, Outcome.DENY)],
)
def test_a_correspondent_is_one_of_whom_it_is_known_that_he_wrote(wrote: dict[str, Truth], outcome: Outcome) -> None:
    found = judged(plan("Bob <BOB@partner.example>"), opened("reply_only: correspondent"), correspondents=wrote)
    assert found.outcome is outcome


def test_colleagues_and_contacts_need_not_have_written() -> None:
    contacts = compile_addresses((EVE,), PEOPLE, tags=False)
    wanted, rule = plan(CAROL, EVE, "ana@corp.example"), opened("reply_only: correspondent")
    assert judged(wanted, rule, contacts=contacts).outcome is Outcome.SEND
    assert asked_about(wanted, rule, known(contacts=contacts)) == ()
    assert [one.address for one in asked_about(wanted, rule, known())] == [EVE]
    assert asked_about(wanted, opened("mode: hold"), known()) == ()


@pytest.mark.parametrize("operation", [Operation.SEND, Operation.SEND_DRAFT, Operation.REPLY])
def test_in_a_thread_only_its_people_are_written_to(operation: Operation) -> None:
    rule = opened("reply_only: thread")
    assert judged(plan(BOB, CAROL, operation=operation, answered=THREAD), rule).outcome is Outcome.SEND
    (found,) = judged(plan(BOB, EVE, operation=operation, answered=THREAD), rule).reasons
    assert (found.outcome, found.addresses) == (Outcome.DENY, (EVE,))
    assert judged(plan(BOB, operation=operation), rule).outcome is Outcome.DENY
