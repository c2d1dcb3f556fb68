"""The table of sends: what is claimed, for how long a key answers, and what a restart makes of what was cut off."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from postroom.base.clock import HandClock
from postroom.store import sends
from postroom.store.database import Database
from postroom.store.sends import Claim, Claimed, State
from postroom.store.worker import StoreError

pytestmark = pytest.mark.anyio
START = HandClock().now()
ONE = Claim("r_1", "agent", "key", False, "print", "work", "<a@example.org>")
ANSWER = {"outcome": "accepted"}


async def known(db: Database, claim: Claim, after: timedelta = timedelta(0)) -> State | None:
    claimed = await sends.claim(db, claim, 0, START + after)
    return claimed.known.state if claimed.known else None


async def test_what_was_only_begun_is_begun_anew(db: Database) -> None:
    assert await known(db, ONE) is None
    assert await known(db, replace(ONE, request="r_2")) is None
    assert await sends.of_request(db, "r_1") is None


@pytest.mark.parametrize(
    ("automatic", "minutes"),
    [(False, 7 * 24 * 60), (True, 10)],
)
async def test_a_key_answers_so_long_and_no_longer(db: Database, automatic: bool, minutes: int) -> None:
    one = replace(ONE, automatic=automatic)
    await known(db, one)
    await sends.accepted_soon(db, "r_1", ANSWER)
    assert await known(db, replace(one, request="r_2"), timedelta(minutes=minutes, seconds=-1)) is State.ACCEPTED
    assert await known(db, replace(one, request="r_2"), timedelta(minutes=minutes)) is None


@pytest.mark.parametrize("one", [replace(ONE, automatic=True), ONE, replace(ONE, key=None, draft="7-1")])
async def test_what_is_unknown_stands_in_the_way_until_it_is_settled_and_then_like_others(
    db: Database, one: Claim
) -> None:
    await known(db, one)
    await sends.handing(db, "r_1", ANSWER)
    sends.unknown_soon(db, "r_1", START)
    much_later, again = START + timedelta(days=400), replace(one, request="r_2")
    assert await known(db, again, timedelta(days=400)) is State.UNKNOWN
    assert await sends.unknown(db, 9, much_later) == []
    sends.settled_soon(db, "r_1", ANSWER, much_later)
    assert await known(db, again, timedelta(days=406)) is State.ACCEPTED
    assert await known(db, again, timedelta(days=407)) is None


async def test_what_is_on_its_way_keeps_its_key_however_long_that_takes(db: Database) -> None:
    one = replace(ONE, automatic=True)
    await known(db, one)
    await sends.handing(db, "r_1", ANSWER)
    assert await known(db, replace(one, request="r_2"), timedelta(hours=1)) is State.HANDING


async def test_what_nobody_can_ask_for_again_is_looked_for_and_then_forgotten(db: Database) -> None:
    await known(db, replace(ONE, key=None))
    await sends.handing(db, "r_1", ANSWER)
    await sends.recover(db, START)
    assert [one.request for one in await sends.unknown(db, 9, START + timedelta(days=6))] == ["r_1"]
    await known(db, replace(ONE, request="r_2"), timedelta(days=7))
    assert await sends.of_request(db, "r_1") is None


async def test_keys_are_of_a_token_and_drafts_of_a_mailbox(db: Database) -> None:
    await known(db, replace(ONE, draft="7-1"))
    await sends.accepted_soon(db, "r_1", ANSWER)
    assert await known(db, replace(ONE, request="r_2", token="other")) is None
    assert await known(db, replace(ONE, request="r_3", token="third", key="k", draft="7-1")) is State.ACCEPTED
    assert await known(db, replace(ONE, request="r_4", token="fourth", draft="7-1", mailbox="home")) is None


async def test_messages_without_a_key_are_all_different(db: Database) -> None:
    for number in range(3):
        assert await known(db, replace(ONE, request=f"r_{number}", key=None)) is None


async def test_a_rejected_message_frees_its_key(db: Database) -> None:
    await known(db, ONE)
    await sends.handing(db, "r_1", ANSWER)
    sends.forget_soon(db, "r_1")
    assert await known(db, replace(ONE, request="r_2")) is None


async def test_claims_are_counted_and_repeats_are_not(db: Database) -> None:
    assert await sends.claim(db, ONE, 1, START) == Claimed()
    await sends.accepted_soon(db, "r_1", ANSWER)
    assert (await sends.claim(db, replace(ONE, request="r_2"), 1, START)).known is not None
    assert await sends.claim(db, replace(ONE, request="r_3", key="other"), 1, START) == Claimed(wait=3600)
    assert await sends.of_request(db, "r_3") is None
    assert await sends.claim(db, replace(ONE, request="r_4", key="other"), 0, START) == Claimed()


async def test_a_restart_frees_what_was_begun_and_knows_nothing_of_what_was_handed_over(db: Database) -> None:
    requests = ("r_1", "r_2", "r_3")
    for request in requests:
        await known(db, replace(ONE, request=request, key=request))
    await sends.handing(db, "r_2", ANSWER)
    await sends.accepted_soon(db, "r_3", ANSWER)
    await sends.recover(db, START)
    left = [await sends.of_request(db, request) for request in requests]
    assert [one and one.state for one in left] == [None, State.UNKNOWN, State.ACCEPTED]


async def test_nothing_is_handed_over_that_is_not_claimed_any_more(db: Database) -> None:
    await known(db, ONE)
    await sends.recover(db, START)
    with pytest.raises(StoreError, match="lost a message"):
        await sends.handing(db, "r_1", ANSWER)
