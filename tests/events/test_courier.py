"""What the courier makes of receivers that take, refuse, ask for patience, hang, or are gone."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from postroom.base.webhooksecret import fresh_secret
from postroom.events import courier as couriers
from postroom.events.endpoint import Endpoint
from postroom.events.recheck import Sight
from postroom.events.schedule import DELAYS, MOST_TRIES, next_attempt
from postroom.mail.model import Named
from postroom.store import courierqueue, deliveries, endpoints
from postroom.store.worker import StoreError
from tests.events.posts import Office, couriering, endpoint, executed
from tests.servers.ports import refusing_port
from tests.servers.receiver import Receiver, receiving, status

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
MESSAGE = {"folder": "INBOX", "uid_validity": 7, "uid": 3}


def desk(folder: Path, receiver: Receiver, name: str = "desk", **changed: object) -> Endpoint:
    return endpoint(folder, name, receiver.url, ports=[str(receiver.port)], **changed)


async def test_what_is_enqueued_is_posted_signed_and_written_down(office: Office, tmp_path: Path) -> None:
    async with (
        receiving(lambda _: status(200, body=b"thanks")) as receiver,
        couriering(office, desk(tmp_path, receiver)),
    ):
        identifier = await office.tell("desk")
        await office.until(identifier, "delivered", tries=1)
    (post,) = receiver.posts
    assert post.id == identifier
    assert post.event == {
        "type": "message.received",
        "timestamp": "2026-03-03T09:00:00.000000Z",
        "data": {"mailbox": "work"},
    }
    secret = (tmp_path / "work-desk.secret").read_text()
    told = Webhook(secret).sign(identifier, office.clock.now(), post.body.decode())
    assert post.headers["webhook-signature"] == told
    assert await office.ask("SELECT status, said, ended IS NULL FROM deliveries") == [(200, "thanks", 0)]


async def test_attempts_are_counted_by_how_they_ended(office: Office, tmp_path: Path) -> None:
    silent = endpoint(tmp_path, "silent", f"http://127.0.0.1:{refusing_port()}/")
    async with (
        receiving(lambda _: status(200)) as taking,
        receiving(lambda _: status(500)) as refusing,
        couriering(office, desk(tmp_path, taking), desk(tmp_path, refusing, "other"), silent),
    ):
        await office.until(await office.tell("desk"), "delivered", tries=1)
        for name in ("other", "silent"):
            await office.until(await office.tell(name), "due", tries=1)
    page = office.meters.exposition().decode()
    for outcome in ("taken", "refused", "unanswered"):
        assert f'postroom_posts_total{{outcome="{outcome}"}} 1.0' in page


async def test_a_failure_is_attempted_ten_times_at_the_times_of_the_schedule(office: Office, tmp_path: Path) -> None:
    at: list[datetime] = []

    def refuses(_: object) -> bytes:
        at.append(office.clock.now())
        return status(500, body=b"out of order")

    async with receiving(refuses) as receiver, couriering(office, desk(tmp_path, receiver)):
        identifier = await office.tell("desk")
        for tries, delay in enumerate(DELAYS, 1):
            await office.until(identifier, "due", tries)
            office.wind(delay.total_seconds() - 1)
            office.wind(1)
        await office.until(identifier, "failed", MOST_TRIES)
    assert [later - earlier for earlier, later in pairwise(at)] == list(DELAYS)
    assert {(post.id, post.body) for post in receiver.posts} == {(identifier, receiver.posts[0].body)}
    assert await office.ask("SELECT status, said FROM deliveries") == [(500, "out of order")]
    assert office.log.getvalue().count("webhook.failing") == 1


@given(st.integers(1, 20), st.floats(0, 1), st.none() | st.floats(0, 1e9))
def test_a_delay_is_its_schedules_within_a_fifth_and_no_wish_makes_it_shorter(
    tries: int, chance: float, wish: float | None
) -> None:
    at = next_attempt(tries, NOW, chance, wish)
    if tries >= MOST_TRIES:
        assert at is None
        return
    delay, usual = at - NOW, DELAYS[tries - 1]  # type: ignore[operator]
    asked = timedelta(seconds=min(wish or 0, 86_400))
    assert delay >= max(usual * 0.8, asked) - timedelta(microseconds=1)
    assert delay <= max(usual * 1.2, asked) + timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [("7200", 7200), ("Tue, 03 Mar 2026 11:00:00 GMT", 7200), ("1", 5), ("9999999", 86_400), ("soon", 5)],
)
async def test_a_receivers_wish_to_be_left_alone_is_heeded(
    office: Office, tmp_path: Path, wish: str, seconds: int
) -> None:
    async with (
        receiving(lambda _: status(503, f"Retry-After: {wish}")) as receiver,
        couriering(office, desk(tmp_path, receiver)),
    ):
        identifier = await office.tell("desk")
        await office.until(identifier, "due", 1)
        ((next_at,),) = await office.ask("SELECT next_at FROM deliveries")
        assert datetime.fromisoformat(next_at) - office.clock.now() == timedelta(seconds=seconds)


async def test_410_disables_at_once_and_the_others_that_want_to_are_told(office: Office, tmp_path: Path) -> None:
    def gone(post: object) -> bytes:
        return status(410)

    async with receiving(gone) as leaving, receiving() as staying:
        known = (
            desk(tmp_path, leaving),
            desk(tmp_path, staying, "other"),
            desk(tmp_path, staying, "deaf", events=["gap"]),
            desk(tmp_path, staying, "elsewhere", mailbox="home"),
        )
        async with couriering(office, *known):
            await office.tell("desk")
            await staying.until(1)
            assert await office.ask("SELECT DISTINCT state FROM deliveries WHERE endpoint = 'desk'") == [("dropped",)]
            before = await office.ask("SELECT COUNT(*) FROM deliveries")
            await office.database.write(
                lambda db: deliveries.enqueue(db, [deliveries.Due("work", "desk", "gap", "{}")], office.clock.now())
            )
            assert await office.ask("SELECT COUNT(*) FROM deliveries") == before
    assert [(post.event["type"], post.event["data"]) for post in staying.posts] == [
        ("endpoint.disabled", {"mailbox": "work", "endpoint": "desk", "reason": "gone"})
    ]
    (record,) = map(json.loads, await office.audited())
    assert (record["action"], record["mailbox"]) == ("webhook.disabled", "work")
    assert record["facts"] == {"endpoint": "desk", "reason": "gone"}
    assert '"event":"webhook.disabled","mailbox":"work","webhook":"desk","status":410' in office.log.getvalue()


async def test_five_days_without_success_disable_and_one_success_begins_them_anew(
    office: Office, tmp_path: Path
) -> None:
    answers = {"now": 500}
    async with receiving(lambda _: status(answers["now"])) as receiver, couriering(office, desk(tmp_path, receiver)):

        async def fails(days: float) -> str:
            office.wind(days * 86_400)
            identifier = await office.tell("desk")
            await office.until_it(identifier, "(state = 'dropped' OR tries > 0) AND state <> 'running'")
            return await office.state(identifier)

        assert await fails(0) == "due"
        assert await fails(4.9) == "due"
        answers["now"] = 200
        assert await fails(0) == "delivered"
        await office.database.write(executed("DELETE FROM deliveries WHERE ended IS NULL"))
        answers["now"] = 500
        assert await fails(0.1) == "due"
        assert await fails(4.9) == "due"
        assert await fails(0.2) == "due", "it was hardly asked in these days, as by one who slept"
        await office.database.write(executed("UPDATE deliveries SET tries = 4 WHERE state = 'due'"))
        assert await fails(0.1) == "dropped"
        standing = await endpoints.standing(office.database, ("work", "desk"))
        assert standing.disabled is not None
        assert standing.waiting == 0
    assert office.log.getvalue().count("webhook.works_again") == 1


async def test_a_disabled_endpoint_stays_so_until_somebody_enables_it_or_it_becomes_another(
    office: Office, tmp_path: Path
) -> None:
    async def disabled() -> bool:
        return (await endpoints.standing(office.database, ("work", "desk"))).disabled is not None

    async with receiving() as receiver:
        hook = desk(tmp_path, receiver)
        async with couriering(office, hook):
            await office.database.write(lambda db: endpoints.disable(db, ("work", "desk"), "gone", office.clock.now()))
        async with couriering(office, hook):
            assert await disabled()
            await endpoints.enable(office.database, ("work", "desk"), office.clock.now())
            identifier = await office.tell("desk")
            await office.until(identifier, "delivered")
        for change in ("secret", "url"):
            await office.database.write(lambda db: endpoints.disable(db, ("work", "desk"), "gone", office.clock.now()))
            if change == "secret":
                (tmp_path / "work-desk.secret").write_text(fresh_secret().reveal())
            else:
                hook = endpoint(tmp_path, "desk", f"{receiver.url}/new", ports=[str(receiver.port)])
            async with couriering(office, hook):
                assert not await disabled()
    assert [json.loads(line)["action"] for line in await office.audited()][1] == "cli.webhook.enable"


async def test_what_waits_for_an_endpoint_that_the_configuration_lost_is_dropped(
    office: Office, tmp_path: Path
) -> None:
    here = endpoint(tmp_path, "desk", f"http://127.0.0.1:{refusing_port()}")
    async with couriering(office, here):
        identifier = await office.tell("desk")
        await office.until(identifier, "due", 1)
    async with couriering(office):
        assert await office.state(identifier) == "dropped"
    assert await office.ask("SELECT said FROM deliveries") == [("the configuration has this webhook no more",)]


async def test_an_endpoint_that_hangs_delays_no_other_and_gets_two_at_a_time(office: Office, tmp_path: Path) -> None:
    async with receiving() as hanging, receiving() as well:
        hanging.hangs = True
        async with couriering(office, desk(tmp_path, hanging, "slow"), desk(tmp_path, well, "quick")):
            slow = [await office.tell("slow") for _ in range(5)]
            await hanging.until(2)
            quick = [await office.tell("quick") for _ in range(5)]
            for identifier in quick:
                await office.until(identifier, "delivered")
            assert hanging.connections == 2
            assert sorted([await office.state(one) for one in slow]) == ["due"] * 3 + ["running"] * 2


async def test_where_all_places_are_taken_the_next_free_one_is_for_who_has_none(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(couriers, "AT_ONCE_IN_ALL", 3)
    arrived: list[int] = []

    def notes(_: object) -> bytes:
        arrived.append(hanging.connections)
        return status(204)

    async with receiving() as hanging, receiving(notes) as well:
        hanging.hangs = True
        slow = [desk(tmp_path, hanging, f"slow{number}") for number in range(3)]
        async with couriering(office, *slow, desk(tmp_path, well, "swift"), seconds=0.4):
            for name in ("slow0", "slow1", "slow2"):
                for _ in range(20):
                    await office.tell(name)
            await hanging.until(3)
            before = hanging.connections
            swift = await office.tell("swift")
            await office.until(swift, "delivered")
    assert arrived[0] - before <= 3, "it waited for one place to become free, and for no more"


async def test_the_oldest_are_pushed_out_and_one_event_says_how_many(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_WAITING", 5)
    answers = {"now": 500}
    async with receiving(lambda _: status(answers["now"])) as receiver:
        known = (desk(tmp_path, receiver), desk(tmp_path, receiver, "deaf", events=["message.received"]))
        async with couriering(office, *known):
            pass
        told = []
        for _ in range(9):
            told.append(await office.tell("desk"))
            await office.tell("deaf")
            office.clock.wind(1)
        open_ones = (
            "SELECT type, COUNT(*) FROM deliveries WHERE endpoint = ? AND ended IS NULL GROUP BY type ORDER BY type"
        )
        assert await office.ask(open_ones, "desk") == [("gap", 1), ("message.received", 4)]
        assert await office.ask(open_ones, "deaf") == [("message.received", 5)]
        assert [await office.state(one) for one in told] == ["dropped"] * 5 + ["due"] * 4
        answers["now"] = 200
        async with couriering(office, known[0]):
            await receiver.until(5)
    (gap,) = [post.event for post in receiver.posts if post.event["type"] == "gap"]
    assert gap["data"] == {"mailbox": "work", "dropped": 5}


async def test_a_gap_that_was_told_once_is_not_altered_and_the_next_one_counts_for_itself(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_WAITING", 3)
    async with receiving(lambda _: status(500)) as receiver:
        async with couriering(office, desk(tmp_path, receiver)):
            pass
        for _ in range(4):
            await office.tell("desk")
        async with couriering(office, desk(tmp_path, receiver)):
            await receiver.until(3)
        bodies = {post.id: post.body for post in receiver.posts}
        for _ in range(3):
            await office.tell("desk")
        office.clock.wind(3600)
        async with couriering(office, desk(tmp_path, receiver), owner="next"):
            await receiver.until(6)
    assert all(post.body == bodies.setdefault(post.id, post.body) for post in receiver.posts)
    told = {post.id: post.event["data"]["dropped"] for post in receiver.posts if post.event["type"] == "gap"}
    assert len(told) <= 2


async def test_gaps_of_an_endpoint_that_fails_for_days_take_the_place_of_few_events(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_WAITING", 20)
    port = refusing_port()
    known = endpoint(tmp_path, "desk", f"http://127.0.0.1:{port}", ports=[str(port)])
    async with couriering(office, known):
        for _ in range(80):
            await office.tell("desk")
            for (one,) in await office.ask("SELECT id FROM deliveries WHERE next_at <= created AND ended IS NULL"):
                await office.until_it(one, "tries > 0 OR ended IS NOT NULL")
            office.wind(60)
    waiting = dict(await office.ask("SELECT type, COUNT(*) FROM deliveries WHERE ended IS NULL GROUP BY type"))
    assert 1 <= waiting["gap"] <= 8
    assert sum(waiting.values()) == 20
    counted = [json.loads(body) for (body,) in await office.ask("SELECT body FROM deliveries WHERE type = 'gap'")]
    pushed = "SELECT COUNT(*) FROM deliveries WHERE said = 'too many events were waiting'"
    assert [(sum(one["data"]["dropped"] for one in counted),)] == await office.ask(pushed)


async def test_messages_that_cannot_be_looked_for_keep_no_others_of_the_endpoint_for_good(
    office: Office, tmp_path: Path
) -> None:
    async def still_shown(_: Endpoint, message: Named) -> Sight:
        return Sight.UNKNOWN if message.folder == "Locked" else Sight.SHOWN

    async with receiving() as receiver:
        bound = desk(tmp_path, receiver, user="ana", profile="all")
        async with couriering(office, bound, still_shown=still_shown):
            pass
        locked = [await office.tell("desk", **{**MESSAGE, "folder": "Locked"}) for _ in range(2)]
        others = [await office.tell("desk", **MESSAGE) for _ in range(5)]
        async with couriering(office, bound, still_shown=still_shown):
            for one in locked:
                await office.until_it(one, "state = 'due' AND next_at > created")
            office.wind(31)
            for one in others:
                await office.until(one, "delivered")
    assert not {await office.state(one) for one in locked} - {"due", "running"}


@pytest.mark.parametrize("profile", ["all", None])
async def test_before_each_attempt_for_a_bound_endpoint_its_message_is_looked_for(
    office: Office, tmp_path: Path, profile: str | None
) -> None:
    seen = {"sight": Sight.UNKNOWN, "asked": 0}

    async def still_shown(_: Endpoint, message: Named) -> Sight:
        assert message == Named("INBOX", 3, 7)
        seen["asked"] += 1  # type: ignore[operator]
        return seen["sight"]  # type: ignore[return-value]

    bound = {"user": "ana", "profile": profile} if profile else {}
    async with receiving() as receiver, couriering(office, desk(tmp_path, receiver, **bound), still_shown=still_shown):
        first = await office.tell("desk", **MESSAGE)
        if profile is None:
            await office.until(first, "delivered")
            assert seen["asked"] == 0
            return
        await office.until_it(first, "state = 'due' AND next_at > created AND tries = 0")
        ((next_at,),) = await office.ask("SELECT next_at FROM deliveries")
        assert datetime.fromisoformat(next_at) - office.clock.now() == timedelta(seconds=31)
        of_no_message = await office.tell("desk", "send.outcome")
        await office.until(of_no_message, "delivered")
        deleted = await office.tell("desk", "message.deleted", **MESSAGE)
        await office.until(deleted, "delivered")
        seen["sight"] = Sight.SHOWN
        office.wind(31)
        await office.until(first, "delivered", tries=1)
        seen["sight"] = Sight.HIDDEN
        hidden = [await office.tell("desk", event, **MESSAGE) for event in ("message.received", "message.flags")]
        for one in hidden:
            await office.until(one, "dropped")
    assert {post.id for post in receiver.posts} == {of_no_message, deleted, first}
    assert "hidden" not in office.log.getvalue()


async def test_at_the_end_running_attempts_end_or_are_given_back(office: Office, tmp_path: Path) -> None:
    async with receiving() as receiver:
        receiver.hangs = True
        async with couriering(office, desk(tmp_path, receiver)) as courier:
            identifier = await office.tell("desk")
            await receiver.until(1)
            office.stop()
            await courier.drain(0.01)
            assert await office.ask("SELECT state, owner, next_at FROM deliveries") == [
                ("due", None, "2026-03-03T09:00:00.000000Z")
            ]
        receiver.hangs = False
        async with couriering(office, desk(tmp_path, receiver), owner="next"):
            await office.until(identifier, "delivered", tries=2)


async def test_a_claim_that_ran_out_is_anothers_and_who_wakes_late_writes_nothing(
    office: Office, tmp_path: Path
) -> None:
    async with receiving() as receiver:
        async with couriering(office, desk(tmp_path, receiver)):
            pass
        identifier = await office.tell("desk")
        now = office.clock.now()
        (late,) = await office.database.write(lambda db: courierqueue.claim(db, ("work", "desk"), 2, "asleep", now))
        async with couriering(office, desk(tmp_path, receiver)):
            office.wind(29.9)
            later = await office.tell("desk")
            await office.until(later, "delivered")
            assert await office.state(identifier) == "running"
            office.wind(0.2)
            await office.until(identifier, "delivered", tries=2)
        how = (courierqueue.State.FAILED, courierqueue.Answered(500, "late"))
        assert not await office.database.write(lambda db: courierqueue.end(db, late, "asleep", how, now))
        assert await office.state(identifier) == "delivered"


async def test_a_clock_that_is_set_back_puts_nothing_off_that_was_never_attempted_or_was_left_behind(
    office: Office, tmp_path: Path
) -> None:
    place = ("work", "desk")
    async with receiving() as receiver:
        async with couriering(office, desk(tmp_path, receiver)):
            pass
        left = await office.tell("desk")
        now = office.clock.now()
        await office.database.write(lambda db: courierqueue.claim(db, place, 1, "dead", now))
        due = await office.tell("desk")
        office.clock.set_back(36_000)  # before the start
        async with couriering(office, desk(tmp_path, receiver)):
            await office.until(due, "delivered")
            owners = await office.ask("SELECT owner FROM deliveries WHERE id = ?", left)
            assert owners == [("dead",)], "nobody knows whether it is"
            office.wind(31)
            await office.until(left, "delivered", tries=2)
            ahead = office.clock.now() + timedelta(hours=10)
            told = deliveries.Due(*place, "message.received", "{}")
            await office.database.write(lambda db: deliveries.enqueue(db, [told], ahead))
            office.clock.set_back(0.1)  # while it runs
            office.wake()
            await receiver.until(3)


async def test_what_was_left_behind_too_often_is_attempted_no_more(office: Office, tmp_path: Path) -> None:
    async with receiving() as receiver:
        async with couriering(office, desk(tmp_path, receiver)):
            pass
        identifier = await office.tell("desk")
        await office.database.write(executed("UPDATE deliveries SET tries = ?", MOST_TRIES))
        async with couriering(office, desk(tmp_path, receiver)):
            await office.until(identifier, "failed")
    assert receiver.posts == []


async def test_a_secret_that_cannot_be_had_is_a_failure_that_is_told(office: Office, tmp_path: Path) -> None:
    async with receiving() as receiver, couriering(office, desk(tmp_path, receiver)):
        (tmp_path / "work-desk.secret").write_text("whsec_hunter2?")
        identifier = await office.tell("desk")
        await office.until(identifier, "due", 1)
    ((status_, said),) = await office.ask("SELECT status, said FROM deliveries")
    assert (status_, said) == (None, "the secret of webhook desk cannot be used: what follows whsec_ is no base64")
    assert "hunter2" not in office.log.getvalue()
    assert receiver.connections == 0


async def test_the_courier_goes_on_when_the_store_is_back_and_after_what_nobody_foresaw(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [StoreError("the disk is full"), StoreError("the disk is full"), ZeroDivisionError("words of mail")]
    earliest = courierqueue.earliest

    def failing(connection: object) -> object:
        if failures:
            raise failures.pop(0)
        return earliest(connection)  # type: ignore[arg-type]

    monkeypatch.setattr(courierqueue, "earliest", failing)
    async with receiving() as receiver, couriering(office, desk(tmp_path, receiver)):
        identifier = await office.tell("desk")
        async with asyncio.timeout(20):
            while await office.state(identifier) != "delivered":
                office.wind(1)
    assert office.log.getvalue().count("webhooks.stuck") == 1
    assert office.log.getvalue().count("webhooks.failed") == 1
    assert "words" not in office.log.getvalue()


async def test_what_nobody_foresaw_in_one_attempt_leaves_the_others_alone(office: Office, tmp_path: Path) -> None:
    async def breaks(_: Endpoint, message: Named) -> Sight:
        raise ZeroDivisionError

    async with receiving() as receiver:
        bound = desk(tmp_path, receiver, "bound", user="ana", profile="all")
        async with couriering(office, bound, desk(tmp_path, receiver), still_shown=breaks):
            broken = await office.tell("bound", **MESSAGE)
            well = await office.tell("desk", **MESSAGE)
            await office.until(well, "delivered")
            await office.until(broken, "running", 1)
    assert '"event":"webhooks.failed","mailbox":"work","webhook":"bound"' in office.log.getvalue()


async def test_the_gateways_own_address_is_never_posted_to(office: Office, tmp_path: Path) -> None:
    async with receiving() as receiver, couriering(office, desk(tmp_path, receiver), own_ports=[receiver.port]):
        identifier = await office.tell("desk")
        await office.until(identifier, "due", 1)
    assert receiver.connections == 0
    assert await office.ask("SELECT said FROM deliveries") == [
        ("nothing was sent: that is where this gateway itself listens",)
    ]


async def test_what_ended_is_kept_thirty_days_and_not_too_much_of_it(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courierqueue, "MOST_KEPT", 3)
    async with receiving() as receiver, couriering(office, desk(tmp_path, receiver)):
        ids = []
        for _ in range(6):
            office.wind(86_400)
            ids.append(await office.tell("desk"))
            await office.until(ids[-1], "delivered")

        async def left(days: float) -> list[str]:
            now = office.clock.now() + timedelta(days=days)
            await office.database.write(lambda db: courierqueue.forget(db, [("work", "desk")], now))
            return [one for (one,) in await office.ask("SELECT id FROM deliveries ORDER BY created")]

        assert await left(0) == ids[3:]
        assert await left(28.5) == ids[4:]
        assert await left(31) == []
