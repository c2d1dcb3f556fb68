"""Gateways over one store: who is alive, whose a message is, and what is exact though several ask at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from postroom.base.clock import HandClock
from postroom.store import audit, callrates, gateways, leases, sends
from postroom.store.audit import Event
from postroom.store.database import Database
from postroom.store.lock import one_gateway
from postroom.store.own import Own, OwnMessage
from postroom.store.sends import Claim, Claimed, State
from postroom.store.worker import StoreError

pytestmark = pytest.mark.anyio
START = HandClock().now()
LATER = START + timedelta(seconds=16)
ONE = Claim("r_1", "agent", "key", False, "print", "work", "<a@example.org>")
AGAIN = replace(ONE, request="r_2")
ANSWER = {"outcome": "accepted"}


async def begun(db: Database, *names: str) -> None:
    for name in names:
        await gateways.renew(db, name, START)


async def state(db: Database, request: str = "r_1") -> State | None:
    known = await sends.of_request(db, request)
    return known.state if known else None


async def test_who_died_before_the_clock_was_set_back_keeps_nothing_from_the_others(db: Database) -> None:
    before = START + timedelta(hours=1)
    await gateways.renew(db, "dead", before)
    assert [one.mailbox for one in await leases.take(db, ["work"], "dead", before)] == ["work"]
    await gateways.renew(db, "alive", START)
    assert await gateways.living(db, START) == 1
    assert [one.owner for one in await leases.take(db, ["work"], "alive", START)] == ["alive"]
    assert await leases.take(db, ["work"], "third", START - timedelta(minutes=9)) == [], "clocks differ"


@pytest.mark.parametrize("handed", [False, True])
async def test_what_another_living_gateway_is_sending_is_under_way(db: Database, handed: bool) -> None:
    await begun(db, "a", "b")
    await sends.claim(db, ONE, 0, START, "a")
    if handed:
        await sends.handing(db, "r_1", ANSWER, "a")
    assert await sends.claim(db, AGAIN, 0, START, "b") == Claimed(is_under_way=True)
    await sends.accepted_soon(db, "r_1", ANSWER)
    known = (await sends.claim(db, AGAIN, 0, START, "b")).known
    assert known is not None
    assert known.state is State.ACCEPTED


async def test_what_a_dead_gateway_had_only_begun_is_begun_anew_and_the_dead_one_hands_nothing_over(
    db: Database,
) -> None:
    await begun(db, "a", "b")
    await sends.claim(db, ONE, 0, START, "a")
    assert await sends.claim(db, AGAIN, 0, LATER, "b") == Claimed()
    with pytest.raises(StoreError, match="lost a message"):
        await sends.handing(db, "r_1", ANSWER, "a")
    await sends.handing(db, "r_2", ANSWER, "b")


async def test_what_a_dead_gateway_was_handing_over_is_unknown(db: Database) -> None:
    await begun(db, "a", "b")
    await sends.claim(db, ONE, 0, START, "a")
    await sends.handing(db, "r_1", ANSWER, "a")
    assert (await sends.claim(db, AGAIN, 0, LATER, "b")).known is not None
    assert await state(db) is State.UNKNOWN
    with pytest.raises(StoreError, match="lost a message"):
        await sends.handing(db, "r_1", ANSWER, "a")


async def test_a_gateway_hands_over_what_it_claimed_itself_and_nothing_of_another(db: Database) -> None:
    await begun(db, "a", "b")
    await sends.claim(db, ONE, 0, START, "a")
    with pytest.raises(StoreError, match="lost a message"):
        await sends.handing(db, "r_1", ANSWER, "b")
    await sends.handing(db, "r_1", ANSWER, "a")


async def test_those_who_look_after_the_dead_leave_the_living_alone_and_themselves(db: Database) -> None:
    await begun(db, "a", "b", "c")
    for number, gateway in enumerate("abc"):
        one = replace(ONE, request=f"begun_{gateway}", key=f"begun {number}")
        await sends.claim(db, one, 0, START, gateway)
        await sends.claim(db, replace(one, request=f"handed_{gateway}", key=f"handed {number}"), 0, START, gateway)
        await sends.handing(db, f"handed_{gateway}", ANSWER, gateway)
    await gateways.renew(db, "b", LATER)
    await sends.recover(db, LATER, "c")  # which was slow itself
    assert [await state(db, f"begun_{one}") for one in "abc"] == [None, State.BEGUN, State.BEGUN]
    assert [await state(db, f"handed_{one}") for one in "abc"] == [State.UNKNOWN, State.HANDING, State.HANDING]


async def test_a_gateway_that_ended_or_whose_folder_another_has_is_dead_at_once(db: Database) -> None:
    await begun(db, "a", "b")
    await gateways.end(db, "a")
    await gateways.begin(db, "c", "b", START)
    for number, gateway in enumerate("abc"):
        await sends.claim(db, replace(ONE, request=gateway, key=str(number)), 0, START, gateway)
    await sends.recover(db, START, "d")
    assert [await state(db, gateway) for gateway in "abc"] == [None, None, State.BEGUN]


async def test_alone_with_its_store_a_gateway_knows_that_all_others_are_gone(db: Database, kind: str) -> None:
    await begun(db, "a")
    await gateways.begin(db, "b", "", START)
    alive = await db.read(lambda connection: gateways.is_alive(connection, "a", START))
    assert alive is (kind == "postgresql")


async def test_an_intent_of_a_dead_gateway_gets_one_outcome_whoever_finds_it(db: Database) -> None:
    await begun(db, "a", "b", "c")
    intents = [Event("intent", "mcp.move_messages", START, f"r_{name}", "agent", "work") for name in "abc"]
    for intent, gateway in zip(intents, "abc", strict=True):
        await audit.record(db, [intent], gateway)
    await gateways.renew(db, "b", LATER)
    found = [await audit.unsettled(db, LATER, "c") for _ in range(2)]
    assert [[intent["request"] for intent in one] for one in found] == [["r_a"], ["r_a"]]
    outcome = replace(intents[0], phase="outcome", outcome="unknown", at=LATER)
    await asyncio.gather(*(audit.settle(db, [outcome]) for _ in range(2)))
    assert (await audit.tip(db)).seq == 4
    assert await audit.unsettled(db, LATER, "c") == []


async def test_what_was_judged_by_what_was_there_counts_only_if_nothing_was_counted_since(db: Database) -> None:
    one, other = Own(db, "ana/desk", "work"), Own(db, "ana/desk", "work")
    message = OwnMessage("<1@a>", START, ("bo@example.com",), 1, 100)
    seen = await one.count(), await other.count()
    assert await one.note_sent(message, after=seen[0])
    assert not await other.note_sent(replace(message, message_id="<2@a>"), after=seen[1])
    assert await other.note_sent(replace(message, message_id="<2@a>"), after=await other.count())
    assert await Own(db, "ana/desk", "home").count() == 0
    assert len(await one.sent(START)) == 2


async def test_the_bucket_of_a_token_is_one_refills_steadily_and_the_wait_is_enough_and_not_too_long(
    db: Database,
) -> None:
    async def take(seconds: float, token: str = "agent") -> int:
        return await callrates.take(db, token, 30, 5, START + timedelta(seconds=seconds))

    assert await asyncio.gather(*(take(0) for _ in range(7))) == [0] * 5 + [2] * 2
    assert await take(0, "other") == 0
    assert await take(1.9) == 1
    assert await take(2) == 0
    assert await take(2) == 2
    assert [await take(600) for _ in range(6)] == [0] * 5 + [2]
    assert await take(590) == 12  # the clock of another host is late
    assert [await take(400) for _ in range(6)] == [0] * 5 + [2]  # the clock was set back


async def test_whoever_has_the_folder_knows_who_had_it_before(tmp_path: Path) -> None:
    with one_gateway(tmp_path, "g_first") as before:
        assert before == ""
        with pytest.raises(StoreError, match="in use by another gateway"), one_gateway(tmp_path, "g_third"):
            pass
    with one_gateway(tmp_path) as before:
        assert before == "g_first"
    with one_gateway(tmp_path, "g_2") as before:
        assert before == "g_first"
    with one_gateway(tmp_path, "g_3") as before:
        assert before == "g_2"
