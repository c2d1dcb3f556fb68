"""A message leaves at most once, whatever callers and servers do, and what may not have left is never said to have."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from postroom.store import switch
from postroom.store.switch import Stopped
from tests.journeys.correspondence import Writer, writing
from tests.servers import stores
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.servers.smtp import Letterbox

_RETRIES = 1_000
MAIL = {"to": ["bo@example.com"], "subject": "Once", "body_text": "Hello.", "idempotency_key": "one"}


class Dropping(Letterbox):
    """Takes a message, and loses the connection before it can say so."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # type: ignore[override]  # noqa: N802 - aiosmtpd's
        self.envelopes.append(envelope)
        assert server.transport is not None
        server.transport.abort()
        return "250 2.0.0 nobody hears it"


class Waiting(Letterbox):
    """Takes a message only when it is told to."""

    def __init__(self, messages: int = 1) -> None:
        super().__init__()
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.missing = messages

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        self.missing -= 1
        if self.missing == 0:
            self.reached.set()
        await asyncio.to_thread(self.go_on.wait)
        return await super().handle_DATA(server, session, envelope)


@pytest.fixture
def writer(dovecot: Dovecot, tmp_path: Path) -> Iterator[Writer]:
    with writing(dovecot, tmp_path, limits="limits: {requests_per_minute: 0, sends_per_hour: 3}") as one:
        yield one


@pytest.mark.anyio
async def test_a_thousand_concurrent_retries_on_both_surfaces_are_one_message(writer: Writer) -> None:
    headers = {"Authorization": f"Bearer {writer.gateway.tokens['all']}"}
    limits = httpx2.Limits(max_connections=_RETRIES)
    async with httpx2.AsyncClient(base_url=writer.gateway.url, headers=headers, timeout=60, limits=limits) as client:

        async def retry(number: int) -> dict[str, Any]:
            if number % 2:
                return dict((await client.post("/mailboxes/work/send", json=MAIL)).json())
            params = {"name": "send", "arguments": {"mailbox": "work", **MAIL}}
            body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            text = (await client.post("/mcp", json=body)).text.partition("data: ")[2]
            return dict(httpx2.Response(200, text=text).json()["result"]["structuredContent"])

        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(retry(number)) for number in range(_RETRIES)]
    told = [task.result() for task in running]
    assert Counter(one["repeated"] for one in told) == {True: _RETRIES - 1, False: 1}
    assert len({one["message_id"] for one in told}) == 1
    assert len(writer.letters) == len(writer.octets("Sent")) == 1


def test_an_unknown_outcome_is_told_again_until_the_message_is_found_in_sent(dovecot: Dovecot, tmp_path: Path) -> None:
    with writing(dovecot, tmp_path, letterbox=Dropping()) as writer:
        for repeated in (False, True):
            error = writer.ask("send", **MAIL)["error"]
            assert (error["code"], error["details"]["outcome"]) == ("smtp_error", "unknown")
            assert (error["details"]["retryable"], error["details"].get("repeated", False)) == (False, repeated)
        message_id = error["details"]["message_id"]
        assert len(writer.letters) == 1
        assert writer.octets("Sent") == []
        copy = plain("Once").replace(b"Message-ID: <", f"Message-ID: {message_id}\r\nX-Was: <".encode())
        dovecot.deliver(writer.user, [copy], "Sent")
        told = writer.ask("send", **MAIL)
        assert (told["outcome"], told["repeated"], told["sent_copy"]) == ("accepted", True, "by_server")
        assert (told["accepted"], told["message_id"]) == (["bo@example.com"], message_id)
        records = writer.ask("audit_log", action="http.send")["records"]
        assert [record["outcome"] for record in records if record["outcome"]] == ["ok", "unknown", "unknown"]
        assert len(writer.letters) == 1


def test_a_draft_of_unknown_fate_stays_and_is_not_sent_again(dovecot: Dovecot, tmp_path: Path) -> None:
    with writing(dovecot, tmp_path, letterbox=Dropping()) as writer:
        uid = writer.ask("create_draft", to=["bo@example.com"], subject="Once")["uid"]
        for token in ("all", "all", "other"):
            error = writer.ask("send_draft", token, uid=uid)["error"]
            assert error["code"] == ("conflict" if token == "other" else "smtp_error")
        assert (len(writer.letters), len(writer.octets("Drafts"))) == (1, 1)


def test_a_caller_that_hangs_up_has_sent_all_the_same(dovecot: Dovecot, tmp_path: Path) -> None:
    letterbox = Waiting()
    with writing(dovecot, tmp_path, letterbox=letterbox) as writer:
        with writer.gateway.http() as client, pytest.raises(httpx2.ReadTimeout):
            client.post("/mailboxes/work/send", json=MAIL, timeout=0.5)
        assert letterbox.reached.wait(20)
        letterbox.go_on.set()
        told = writer.ask("send", **MAIL)
        assert (told["repeated"], told["sent_copy"], len(writer.letters)) == (True, "filed", 1)


async def turned(state: Path, what: Stopped | None) -> None:
    """As another process does it."""
    database = await stores.opened(state)
    await switch.turn(database, what, datetime.now(UTC))
    await database.close()


def test_a_stop_holds_what_has_not_left_and_nothing_is_lost_by_it(writer: Writer, tmp_path: Path) -> None:
    uid = writer.ask("create_draft", to=["bo@example.com"], subject="Later")["uid"]
    asyncio.run(turned(tmp_path / "state", Stopped.SENDS))
    for tool, arguments in (("send", MAIL), ("send_draft", {"uid": uid})):
        assert writer.ask(tool, **arguments)["error"]["details"] == {"reason": "stopped"}
    asyncio.run(turned(tmp_path / "state", None))
    assert not writer.ask("send", **MAIL)["repeated"]
    assert not writer.ask("send_draft", uid=uid)["repeated"]
    assert len(writer.letters) == 2


def test_repeats_spend_nothing_and_refusals_free_the_key(writer: Writer) -> None:
    for _ in range(5):
        writer.ask("send", **MAIL)
    assert not writer.ask("send", **MAIL | {"idempotency_key": "two"})["repeated"]
    assert not writer.ask("send", **MAIL | {"idempotency_key": "three"})["repeated"]
    refused = writer.ask("send", **MAIL | {"idempotency_key": "four"})["error"]
    assert (refused["code"], refused["details"]["limit"]) == ("rate_limited", 3)
    assert writer.ask("send", **MAIL)["repeated"]
    assert len(writer.letters) == 3


def test_large_drafts_are_held_in_memory_two_at_a_time_and_small_ones_wait_for_none(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    large = plain("Large").replace(b"\r\n\r\n", b"\r\n\r\n" + b"All of it.\r\n" * 100_000)
    with writing(dovecot, tmp_path, letterbox=(letterbox := Waiting(2))) as writer, ThreadPoolExecutor(4) as callers:
        dovecot.deliver(writer.user, [large.replace(b"dana@example.org", b"ana@example.org")] * 4, "Drafts")
        uids = [row["uid"] for row in writer.ask("list_drafts")["drafts"]]
        small = writer.ask("create_draft", subject="Small")["uid"]
        sending = [callers.submit(writer.ask, "send_draft", uid=uid) for uid in uids[:2]]
        assert letterbox.reached.wait(20)
        changing = [callers.submit(writer.ask, "update_draft", uid=uid, subject="New") for uid in uids[2:]]
        assert "uid" in writer.ask("update_draft", uid=small, subject="Smaller")
        assert wait(changing, timeout=0.3, return_when=FIRST_COMPLETED).done == set()
        letterbox.go_on.set()
        assert [call.result().get("outcome") for call in sending] == ["accepted"] * 2
        assert all("uid" in call.result() for call in changing)
