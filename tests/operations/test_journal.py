"""What the journal does with a message that is sent by a call, and with everything that may come between."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from postroom.base.clock import HandClock
from postroom.base.errors import Code, GatewayError
from postroom.base.logs import Log
from postroom.operations.debts import Debts
from postroom.operations.journal import PATIENCE, Entry, Facts, Journal
from postroom.operations.trail import Trail
from postroom.store import gateways, sends
from postroom.store.auditlist import Wanted, listing
from postroom.store.database import Database
from postroom.store.sends import Claim, State
from postroom.store.worker import StoreError
from tests.servers import stores

pytestmark = pytest.mark.anyio
CLAIM = Claim("r_1", "agent", "key", False, "print", "work", "<a@example.org>")
ANSWER = {"outcome": "accepted", "message_id": "<a@example.org>"}


class Server:
    """What a submission server does with one message, and how often it was asked."""

    def __init__(self, ends: Exception | None = None, *, before: Exception | None = None) -> None:
        self.ends, self.before, self.taken = ends, before, 0
        self.in_sent = False

    async def attempt(self, entry: Entry) -> Facts:
        if self.before is not None:
            raise self.before
        await entry.handing(ANSWER)
        self.taken += 1
        if self.ends is not None:
            raise self.ends
        await entry.accepted(ANSWER)
        return ANSWER

    async def found(self, _: str) -> bool:
        return self.in_sent


@pytest.fixture
async def database(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Database]:
    opened = await stores.opened(tmp_path / "state")
    yield opened
    await opened.close()


@pytest.fixture
def journal(database: Database) -> Journal:
    return Journal(database, HandClock(), sends_per_hour=0)


def failure(outcome: str | None) -> GatewayError:
    return GatewayError(Code.SMTP_ERROR, "no", **({"outcome": outcome} if outcome else {}))


async def ask(journal: Journal, server: Server, request: str = "r_1") -> tuple[Facts, bool] | str:
    """The answer and whether it was repeated, or the outcome that an error tells."""
    try:
        return await journal.once(replace(CLAIM, request=request), server.attempt, server.found)
    except GatewayError as error:
        return str(error.details.get("outcome"))


async def test_a_repeat_is_answered_and_does_nothing(journal: Journal) -> None:
    server = Server()
    assert await ask(journal, server) == (ANSWER, False)
    assert await ask(journal, server, "r_2") == (ANSWER, True)
    assert server.taken == 1


async def test_of_a_call_cut_off_before_the_copy_a_repeat_tells_what_stands_in_sent(journal: Journal) -> None:
    begun = ANSWER | {"sent_copy": "pending", "warnings": []}

    async def attempt(entry: Entry) -> Facts:
        await entry.handing(begun)
        await entry.accepted(begun)
        raise failure(None)

    with pytest.raises(GatewayError):
        await journal.once(CLAIM, attempt, (server := Server()).found)
    told, _ = await journal.once(replace(CLAIM, request="r_2"), attempt, server.found)
    assert (told["sent_copy"], len(told["warnings"])) == ("failed", 1)
    server.in_sent = True
    assert await ask(journal, server, "r_3") == (begun | {"sent_copy": "filed"}, True)
    server.in_sent = False
    assert await ask(journal, server, "r_4") == (begun | {"sent_copy": "filed"}, True)
    assert server.taken == 0


@pytest.mark.parametrize("server", [Server(failure("rejected")), Server(before=failure(None))])
async def test_what_the_server_does_not_have_may_be_tried_again(journal: Journal, server: Server) -> None:
    await ask(journal, server)
    assert await ask(journal, again := Server(), "r_2") == (ANSWER, False)
    assert again.taken == 1


@pytest.mark.parametrize("ends", [failure("unknown"), failure(None), RuntimeError("a fault of ours")])
async def test_whatever_goes_wrong_once_the_server_may_have_it_leaves_it_unknown(
    journal: Journal, ends: Exception
) -> None:
    server = Server(ends)
    with pytest.raises(type(ends)):
        await journal.once(CLAIM, server.attempt, server.found)
    assert await ask(journal, server, "r_2") == "unknown"
    server.in_sent = True
    assert await ask(journal, server, "r_3") == (ANSWER | {"sent_copy": "by_server"}, True)
    assert server.taken == 1


async def test_a_call_that_is_cancelled_while_the_server_may_have_it_leaves_it_unknown(journal: Journal) -> None:
    at_it = asyncio.Event()

    async def attempt(entry: Entry) -> Facts:
        await entry.handing(ANSWER)
        at_it.set()
        await asyncio.Event().wait()
        return ANSWER

    running = asyncio.ensure_future(journal.once(CLAIM, attempt, Server().found))
    await at_it.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await ask(journal, server := Server(), "r_2") == "unknown"
    assert server.taken == 0


async def test_nothing_leaves_when_the_journal_cannot_be_written(journal: Journal, database: Database) -> None:
    server = Server()

    async def attempt(entry: Entry) -> Facts:
        await database.close()
        return await server.attempt(entry)

    with pytest.raises(GatewayError) as told:
        await journal.once(CLAIM, attempt, server.found)
    assert (told.value.code, server.taken) == (Code.UNAVAILABLE, 0)


async def test_a_message_that_left_is_told_so_though_the_journal_cannot_be_written_any_more(
    journal: Journal, database: Database
) -> None:
    async def attempt(entry: Entry) -> Facts:
        await entry.handing(ANSWER)
        await database.close()
        await entry.accepted(ANSWER)
        return ANSWER

    assert await journal.once(CLAIM, attempt, Server().found) == (ANSWER, False)


async def test_what_may_have_left_is_looked_for_in_sent_now_and_then_and_the_audit_tells_when_it_is_found(
    database: Database, tmp_path: Path
) -> None:
    clock = HandClock()
    journal, trail = Journal(database, clock, 0), Trail(database, tmp_path, clock, Log(clock, io.StringIO()))
    looked: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    answers = iter((False, True))

    async def is_in_sent(mailbox: str, message_id: str) -> bool:
        looked.put_nowait((mailbox, message_id))
        return next(answers)

    await ask(journal, Server(failure("unknown")))
    settling = asyncio.ensure_future(journal.keep_settling(is_in_sent, trail))
    for _ in range(2):
        while looked.empty():
            clock.wind(1)
            await asyncio.sleep(0)
        assert looked.get_nowait() == ("work", CLAIM.message_id)
    assert await ask(journal, Server(), "r_2") == (ANSWER | {"sent_copy": "by_server"}, True)
    await trail.flush()
    (found,) = (await listing(database, Wanted(["work"], 10, action="send.settled"))).records
    assert (found["token"], found["outcome"], found["facts"]["request"]) == ("agent", "ok", "r_1")
    settling.cancel()


@pytest.mark.parametrize(
    ("tool", "facts", "outcome"),
    [
        ("send", {}, ("failed", {})),
        ("send_draft", {}, ("failed", {})),
        ("reply", {"draft": False}, ("failed", {})),
        ("reply", {"draft": True}, None),
        ("move_messages", {}, None),
    ],
)
async def test_a_call_that_the_journal_never_heard_of_has_sent_nothing(
    journal: Journal, tool: str, facts: Facts, outcome: object
) -> None:
    assert await journal.settled({"request": "r_9", "action": f"mcp.{tool}", "facts": facts}) == outcome


async def test_how_a_call_ended_that_was_cut_off(journal: Journal) -> None:
    intent = {"request": "r_1", "action": "http.send", "facts": {}}
    told = {"message_id": "<a@example.org>"}
    await ask(journal, Server(failure("unknown")))
    assert await journal.settled(intent) == ("unknown", told)
    accepted = Server()
    await journal.once(replace(CLAIM, request="r_5", key="other"), accepted.attempt, accepted.found)
    assert await journal.settled(intent | {"request": "r_5"}) == ("ok", told)


async def test_a_repeat_at_another_gateway_waits_for_the_one_that_is_at_it_and_not_for_ever(database: Database) -> None:
    clock = HandClock()
    one, other = Journal(database, clock, 0, "a"), Journal(database, clock, 0, "b")
    await gateways.renew(database, "a", clock.now() + timedelta(hours=1))
    at_it, go_on = asyncio.Event(), asyncio.Event()

    async def attempt(entry: Entry) -> Facts:
        await entry.handing(ANSWER)
        at_it.set()
        await go_on.wait()
        await entry.accepted(ANSWER)
        return ANSWER

    async def repeated(request: str) -> tuple[Facts, bool]:
        claim = replace(CLAIM, request=request)
        asking = asyncio.ensure_future(other.once(claim, attempt, Server().found))
        while not asking.done():
            clock.wind(0.5)
            await asyncio.sleep(0.001)
        return await asking

    first = asyncio.ensure_future(one.once(CLAIM, attempt, Server().found))
    await at_it.wait()
    began = clock.monotonic()
    with pytest.raises(GatewayError) as told:
        await repeated("r_2")
    assert (told.value.code, told.value.details) == (Code.CONFLICT, {"reason": "in_progress", "retryable": True})
    assert clock.monotonic() - began >= PATIENCE
    go_on.set()
    assert await repeated("r_3") == (ANSWER, True)
    assert await first == (ANSWER, False)


async def test_what_could_not_be_written_while_the_store_was_away_is_written_when_it_is_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = HandClock()
    journal = Journal(database, clock, 0, "a")
    await gateways.renew(database, "a", clock.now())

    async def attempt(entry: Entry) -> Facts:
        await entry.handing(ANSWER)
        monkeypatch.setattr(database, "post", away)
        raise failure("unknown")

    def away(_: object) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.set_exception(StoreError("away"))
        return future

    with pytest.raises(GatewayError):
        await journal.once(CLAIM, attempt, Server().found)
    await journal.recover()
    monkeypatch.undo()
    before = await sends.of_request(database, "r_1")
    await journal.recover()
    await journal.recover()
    after = await sends.of_request(database, "r_1")
    assert [one and one.state for one in (before, after)] == [State.HANDING, State.UNKNOWN]


async def test_of_what_is_owed_the_newest_is_paid_and_only_once() -> None:
    debts, written = Debts(), list[str]()
    works = False

    def writing(name: str) -> Callable[[], asyncio.Future[bool]]:
        def begin() -> asyncio.Future[bool]:
            future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            if works:
                written.append(name)
                future.set_result(True)
            else:
                future.set_exception(StoreError("away"))
            return future

        return begin

    for name in ("old", "new"):
        debts.write("r_1", writing(name))
    await asyncio.sleep(0)
    debts.pay()
    await asyncio.sleep(0)
    works = True
    for _ in range(2):
        debts.pay()
        await asyncio.sleep(0)
    assert written == ["new"]


async def test_what_was_said_later_is_owed_though_what_was_said_before_it_is_written_after_all() -> None:
    debts, futures, again = Debts(), list[asyncio.Future[bool]](), list[str]()

    def writing(name: str) -> Callable[[], asyncio.Future[bool]]:
        def begin() -> asyncio.Future[bool]:
            again.append(name)
            futures.append(asyncio.get_running_loop().create_future())
            return futures[-1]

        return begin

    for name in ("old", "new"):
        debts.write("r_1", writing(name))
    futures[1].set_exception(StoreError("away"))
    futures[0].set_result(True)
    await asyncio.sleep(0)
    debts.pay()
    assert again == ["old", "new", "new"]
