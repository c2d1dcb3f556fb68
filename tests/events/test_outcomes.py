"""Who is told how a message ended: in the transaction that writes it down, and nobody whom it does not concern."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pytest

from postroom.base.errors import Code, GatewayError
from postroom.base.logs import Log
from postroom.events.outcomes import outcomes_for
from postroom.operations.journal import Entry, Facts, Journal
from postroom.operations.trail import Trail
from postroom.store import endpoints, sends
from postroom.store.deliveries import DELIVERIES, Due, body_of
from postroom.store.endpoints import Registered
from postroom.store.sends import Claim, Known
from postroom.store.worker import StoreError
from tests.events.posts import Office, endpoint

pytestmark = pytest.mark.anyio
CLAIM = Claim("r_1", "agent", "key", False, "print", "work", "<a@example.org>", identity="ana/assistant")
SENT = {"outcome": "accepted", "message_id": "<a@example.org>"}
DATA = {"mailbox": "work", "message_id": "<a@example.org>", "outcome": "accepted"}
BOUND = {"user": "ana", "profile": "assistant"}


@dataclass
class Told:
    """A journal, and who was told what by it."""

    office: Office
    journal: Journal
    woken: list[int]

    async def now(self) -> dict[str, list[str]]:
        """The outcomes that each endpoint is to be told, once all is written; what was told is forgotten."""
        taken = "DELETE FROM deliveries RETURNING endpoint, body"
        rows = await self.office.database.write(lambda db: sorted(db.execute(taken).fetchall()))
        found: dict[str, list[str]] = {}
        for name, body in rows:
            told = orjson.loads(body)
            assert told["type"] == "send.outcome"
            assert told["data"].keys() == {"mailbox", "message_id", "outcome"}
            assert (told["data"]["mailbox"], told["data"]["message_id"]) == ("work", "<a@example.org>")
            found.setdefault(name, []).append(told["data"]["outcome"])
        return found


@pytest.fixture
async def told(office: Office, tmp_path: Path) -> AsyncIterator[Told]:
    url = "http://127.0.0.1/"
    known = [
        endpoint(tmp_path, "whole", url),
        endpoint(tmp_path, "deaf", url, events=["message.received"]),
        endpoint(tmp_path, "hers", url, **BOUND),
        endpoint(tmp_path, "his", url, user="ben", profile="assistant"),
        endpoint(tmp_path, "other", url, user="ana", profile="other"),
        endpoint(tmp_path, "elsewhere", url, mailbox="home"),
    ]
    registered = [Registered(one.mailbox, one.name, "", gaps=False) for one in known]
    await office.database.write(lambda db: endpoints.register(db, registered, office.clock.now()))
    woken: list[int] = []
    with office.database.listening(DELIVERIES, lambda _: woken.append(1)):
        yield Told(office, Journal(office.database, office.clock, 0, due=outcomes_for(known, office.clock)), woken)


async def found(_: str) -> bool:
    return True


async def lost(_: str) -> bool:
    return False


def failing(outcome: str | None, *, handed: bool) -> Sequence[object]:
    async def attempt(entry: Entry) -> Facts:
        if handed:
            await entry.handing(SENT)
        raise GatewayError(Code.SMTP_ERROR, "no", **({"outcome": outcome} if outcome else {}))

    return [attempt]


async def accepting(entry: Entry) -> Facts:
    await entry.handing(SENT)
    await entry.accepted(SENT)
    entry.more(SENT | {"sent_copy": "filed"})
    return SENT


@pytest.mark.parametrize("identity", ["ana/assistant", ""])
async def test_a_bound_endpoint_is_told_of_its_own_identitys_messages_and_an_unbound_one_of_all(
    told: Told, identity: str
) -> None:
    await told.journal.once(replace(CLAIM, identity=identity), accepting, found)
    whom = {"whole": ["accepted"]} | ({"hers": ["accepted"]} if identity else {})
    assert await told.now() == whom
    assert told.woken
    await told.journal.once(replace(CLAIM, request="r_2", identity=identity), accepting, found)
    assert await told.now() == {}, "a repeat sends nothing"


@pytest.mark.parametrize(
    ("outcome", "handed", "expected"),
    [("rejected", True, ["rejected"]), ("rejected", False, ["rejected"]), (None, True, ["unknown"]), (None, False, [])],
)
async def test_what_failed_is_told_as_what_it_is(
    told: Told, outcome: str | None, handed: bool, expected: list[str]
) -> None:
    (attempt,) = failing(outcome, handed=handed)
    with pytest.raises(GatewayError):
        await told.journal.once(CLAIM, attempt, lost)  # type: ignore[arg-type]
    assert await told.now() == ({"hers": expected, "whole": expected} if expected else {})


async def test_what_nobody_knew_the_end_of_is_told_once_more_when_it_is_found_in_sent(told: Told) -> None:
    (attempt,) = failing("unknown", handed=True)
    with pytest.raises(GatewayError):
        await told.journal.once(CLAIM, attempt, lost)  # type: ignore[arg-type]
    assert await told.now() == {"hers": ["unknown"], "whole": ["unknown"]}
    for _ in range(2):
        await told.journal.once(replace(CLAIM, request="r_2"), accepting, found)
    assert await told.now() == {"hers": ["accepted"], "whole": ["accepted"]}


async def test_looking_in_sent_now_and_then_tells_too(told: Told) -> None:
    (attempt,) = failing("unknown", handed=True)
    with pytest.raises(GatewayError):
        await told.journal.once(CLAIM, attempt, lost)  # type: ignore[arg-type]
    await told.now()
    clock = told.office.clock

    async def is_in_sent(mailbox: str, message_id: str) -> bool:
        return (mailbox, message_id) == ("work", "<a@example.org>")

    trail = Trail(told.office.database, Path(), clock, Log(clock, io.StringIO()))
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(told.journal.keep_settling(is_in_sent, trail))
        while not (heard := await told.now()):
            clock.wind(300)
        keeping.cancel()
    assert heard == {"hers": ["accepted"], "whole": ["accepted"]}


async def test_a_start_tells_that_nobody_knows_of_what_was_cut_off(told: Told) -> None:
    await sends.claim(told.office.database, CLAIM, 0, told.office.clock.now())
    await sends.handing(told.office.database, CLAIM.request, SENT)
    await sends.claim(told.office.database, replace(CLAIM, request="r_2", key="2"), 0, told.office.clock.now())
    await told.journal.recover()
    assert await told.now() == {"hers": ["unknown"], "whole": ["unknown"]}
    await told.journal.recover()
    assert await told.now() == {}


async def test_drafts_are_no_sends_neither_a_callers_nor_those_that_a_policy_keeps(told: Told) -> None:
    async def kept(entry: Entry) -> Facts:
        await entry.accepted({"outcome": "drafted", "uid": "1"})
        return {}

    async def saved(entry: Entry) -> Facts:
        await entry.handing({"message_id": "<a@example.org>", "uid": None})
        if entry.state == "handing":
            raise GatewayError(Code.IMAP_ERROR, "no", outcome="rejected")
        return {}

    async def cut_off(entry: Entry) -> Facts:
        await entry.handing({"message_id": "<a@example.org>", "uid": None})
        raise GatewayError(Code.IMAP_ERROR, "no", outcome="unknown")

    await told.journal.once(CLAIM, kept, found)
    for number, attempt in enumerate((saved, cut_off)):
        with pytest.raises(GatewayError):
            await told.journal.once(replace(CLAIM, request=f"d_{number}", key=f"{number}"), attempt, lost, counts=False)
    await told.journal.once(replace(CLAIM, request="d_3", key="1"), saved, found, counts=False)
    assert await told.now() == {}


async def test_that_it_was_taken_and_that_somebody_is_told_are_one_transaction(told: Told) -> None:
    failures = [StoreError("the disk is full")]

    def due(known: Known, outcome: str) -> list[Due]:
        if failures:
            raise failures.pop()
        return [Due("work", "whole", "send.outcome", body_of("send.outcome", told.office.clock.now(), DATA))]

    journal = Journal(told.office.database, told.office.clock, 0, due=due)

    async def checks(entry: Entry) -> Facts:
        await entry.handing(SENT)
        await entry.accepted(SENT)
        assert await told.office.ask("SELECT state FROM sends") == [("handing",)]
        entry.more(SENT)
        return SENT

    await journal.once(CLAIM, checks, found)
    assert await told.now() == {"whole": ["accepted"]}
