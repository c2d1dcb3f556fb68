"""Several gateways over one PostgreSQL keep every promise that one alone keeps, also when one of them dies."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from postroom.cli import main
from postroom.store.auditcheck import verify
from postroom.store.times import to_text
from tests.journeys.test_sent_once import Waiting
from tests.servers import stores
from tests.servers.dovecot import Dovecot
from tests.servers.fleet import Fleet, Member, fleet
from tests.servers.gateway import Gateway
from tests.servers.mail import many
from tests.servers.postgresql import Postgresql, running_postgresql

_RETRIES = 300
MAIL = {"to": ["bo@example.com"], "subject": "Once", "body_text": "Hello.", "idempotency_key": "one"}
Answer = dict[str, Any]
POLICY = """
policies:
  desk:
    limits: {requests_per_minute: 40, burst: 40, concurrent: 32}
    folders: {rules: [{match: INBOX, access: readable}]}
    outbound:
      mode: send
      require_draft: false
      reply_only: off
      recipients: {allow: [anyone]}
      rate: {messages: {per_minute: 4, per_hour: 100, per_day: 100}}
profiles:
  desk: {policy: desk}
"""


@pytest.fixture(scope="module")
def three(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("three")
    limits = "limits: {sends_per_hour: 10, moves_per_hour: 10, requests_per_minute: 0}"
    with fleet(folder, dovecot, 3, limits + POLICY) as running:
        yield running


def send(gateway: Gateway, token: str = "all", **changes: Any) -> Answer:
    with gateway.http(token) as client:
        return dict(client.post("/mailboxes/work/send", json=MAIL | changes).json())


def command(member: Member, *words: str) -> str:
    done = CliRunner().invoke(main, [*words, "--config", str(member.config_file)])
    assert done.exit_code == 0, done.output
    return done.stdout


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def alive(state: Path) -> int:
    """How many gateways others count as alive."""
    now = to_text(datetime.now(UTC))
    return sum(last > now for (last,) in stores.sql(state, "SELECT until FROM gateways", kind="postgresql"))


def whole(state: Path) -> bool:
    async def read() -> bool:
        database = await stores.opened(state, "postgresql")
        verdict = await verify(database, [])
        await database.close()
        return not verdict.findings and verdict.records > 0

    return asyncio.run(read())


@pytest.mark.anyio
async def test_retries_over_three_gateways_are_one_message(three: Fleet) -> None:
    async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=_RETRIES)) as client:

        async def retry(number: int) -> Answer:
            gateway = three.gateways[number % 3]
            headers = {"Authorization": f"Bearer {gateway.tokens['all']}"}
            return dict((await client.post(f"{gateway.url}/mailboxes/work/send", json=MAIL, headers=headers)).json())

        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(retry(number)) for number in range(_RETRIES)]
    told = [task.result() for task in running]
    assert Counter(one["repeated"] for one in told) == {True: _RETRIES - 1, False: 1}
    assert len({one["message_id"] for one in told}) == 1
    assert sum(b"Subject: Once" in (letter.content or b"") for letter in three.letterbox.envelopes) == 1


def test_what_a_token_may_send_or_move_in_an_hour_is_counted_over_all_of_them(three: Fleet) -> None:
    three.dovecot.deliver(three.user, many(30))
    uids = [row["uid"] for row in three.gateways[0].get("/mailboxes/work/messages", limit=30).json()["messages"]]

    def move(number: int) -> Answer:
        with three.gateways[number % 3].http("other") as client:
            body = {"uids": [uids[number]], "folder": "INBOX", "destination": "Trash"}
            return dict(client.post("/mailboxes/work/messages/move", json=body).json())

    with ThreadPoolExecutor(15) as callers:
        sent = list(callers.map(lambda n: send(three.gateways[n % 3], "other", idempotency_key=f"k{n}"), range(30)))
        moved = list(callers.map(move, range(30)))
    for answers in (sent, moved):
        refused = [answer["error"]["code"] for answer in answers if "error" in answer]
        assert refused == ["rate_limited"] * 20


def test_what_a_policy_lets_out_and_how_often_its_token_may_call_is_counted_over_all_of_them(three: Fleet) -> None:
    with ThreadPoolExecutor(24) as callers:
        sent = list(callers.map(lambda n: send(three.gateways[n % 3], "bound", idempotency_key=f"b{n}"), range(24)))
        asked = list(callers.map(lambda n: three.gateways[n % 3].get("/mailboxes", "bound").status_code, range(40)))
    ended = Counter(answer["error"]["code"] if "error" in answer else "sent" for answer in sent)
    assert ended == {"sent": 4, "policy_denied": 6, "rate_limited": 14}  # of ten in an hour four in a minute
    assert 16 <= Counter(asked)[200] <= 22  # some come back while all this takes
    assert Counter(asked)[200] + Counter(asked)[429] == 40


def test_a_revoked_token_and_a_stop_take_effect_everywhere_on_the_next_call(three: Fleet) -> None:
    token = command(three.members[0], "token", "create", "script", "--scopes", "read", "--mailboxes", "work", "--print")
    callers = [Gateway(gateway.url, {"script": token.strip()}) for gateway in three.gateways]
    for round_ in range(3):
        assert [caller.get("/mailboxes", "script").status_code for caller in callers] == [200] * 3
        command(three.members[round_], "stop", "--all")
        stopped = [caller.get("/mailboxes", "script").json()["error"]["details"] for caller in callers]
        assert stopped == [{"reason": "stopped"}] * 3
        command(three.members[round_], "resume")
    assert [caller.get("/mailboxes", "script").status_code for caller in callers] == [200] * 3
    command(three.members[2], "token", "revoke", "script")
    assert [caller.get("/mailboxes", "script").status_code for caller in callers] == [401] * 3


def test_the_trail_of_all_of_them_is_one_and_whole(three: Fleet) -> None:
    assert whole(three.state)
    for member in three.members:
        assert command(member, "audit", "verify").startswith("The trail is whole")


def test_what_a_gateway_was_sending_when_it_died_is_brought_to_its_end_by_another(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    letterbox = Waiting()
    with fleet(tmp_path, dovecot, 2, letterbox=letterbox) as two, ThreadPoolExecutor(2) as callers:
        dying, other = two.members
        first = callers.submit(send, dying.gateway)
        assert letterbox.reached.wait(20)
        again = callers.submit(send, other.gateway)  # waits for the one that is at it
        dying.kill()
        with pytest.raises(httpx2.TransportError):
            first.result()
        details = again.result()["error"]["details"]
        assert (details["outcome"], details.get("repeated")) == ("unknown", True)
        letterbox.go_on.set()
        assert send(other.gateway)["error"]["details"]["outcome"] == "unknown"

        def settled() -> bool:
            records = other.gateway.get("/audit", limit=500).json()["records"]
            return all(record["outcome"] for record in records if record["request"])

        until(settled)
        records = other.gateway.get("/audit", limit=500, action="http.send").json()["records"]
        assert {record["outcome"] for record in records} == {"unknown"}
        assert len(two.letterbox.envelopes) <= 1
        assert not send(other.gateway, idempotency_key="two")["repeated"]
        assert whole(two.state)


def test_a_gateway_that_was_paused_too_long_goes_on_and_what_was_taken_from_it_is_not_sent(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    with fleet(tmp_path, dovecot, 2) as two:
        paused, other = two.members
        paused.pause()
        gone = (
            "SELECT count(*) FROM gateways WHERE until < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS')"
        )
        until(lambda: stores.sql(two.state, gone, kind="postgresql") == [(1,)])
        assert not send(other.gateway)["repeated"]
        paused.wake()
        assert send(paused.gateway)["repeated"]
        assert not send(paused.gateway, idempotency_key="two")["repeated"]
        assert len(two.letterbox.envelopes) == 2


@pytest.fixture(scope="module")
def mortal() -> Iterator[Postgresql]:
    with running_postgresql() as server:
        yield server


def test_a_database_that_dies_under_load_makes_calls_unavailable_and_no_message_leaves_twice(
    dovecot: Dovecot, tmp_path: Path, mortal: Postgresql
) -> None:
    limits = "limits: {sends_per_hour: 0}"
    with fleet(tmp_path, dovecot, 2, limits, url=mortal.new_database()) as two, ThreadPoolExecutor(8) as callers:
        ended: Counter[str] = Counter()

        def insist(number: int) -> str:
            """As a caller does: again, under the same key, until it is sent or nobody knows."""
            for attempt in range(200):
                told = send(
                    two.gateways[(number + attempt) % 2], idempotency_key=f"k{number}", subject=f"No. {number};"
                )
                if "error" not in told:
                    return "sent"
                ended[told["error"]["code"]] += 1
                if told["error"]["details"].get("outcome") == "unknown":
                    return "unknown"
                time.sleep(0.1)
            return "never"

        running = [callers.submit(insist, number) for number in range(60)]
        until(lambda: len(two.letterbox.envelopes) >= 10)
        mortal.kill()
        until(lambda: ended["unavailable"] >= 10)
        mortal.start()
        told = [one.result() for one in running]
        letters = b"\n".join(letter.content or b"" for letter in two.letterbox.envelopes)
        times = [letters.count(f"Subject: No. {number};".encode()) for number in range(60)]
        assert "never" not in told
        assert all(number == 1 or (how == "unknown" and number == 0) for how, number in zip(told, times, strict=True))
        assert set(ended) <= {"unavailable", "smtp_error", "conflict"}
        assert two.gateways[0].get("/mailboxes").status_code == 200
