"""A send over the bridge: whoever stops waiting for it, it happens once, and is told when it is asked for again."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import Envelope

from tests.bridge.stdio import bridging, call, modern, request
from tests.journeys.correspondence import writing
from tests.servers.dovecot import Dovecot
from tests.servers.smtp import Letterbox

pytestmark = pytest.mark.anyio

LETTER = {"to": ["ben@example.org"], "subject": "Once", "body_text": "Only once.", "idempotency_key": "k-1"}


class SlowLetterbox(Letterbox):
    """Takes a message, and answers for it when it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.taken, self.go_on = threading.Event(), threading.Event()

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        told = await super().handle_DATA(server, session, envelope)
        self.taken.set()
        await asyncio.to_thread(self.go_on.wait)
        return told


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_send_that_is_cancelled_on_its_way_is_delivered_once_audited_and_told_again(
    dovecot: Dovecot, tmp_path: Path, era: str
) -> None:
    def send(identifier: int) -> dict[str, Any]:
        params = {"name": "send", "arguments": LETTER}
        return modern("tools/call", params, identifier) if era == "modern" else call("send", LETTER, identifier)

    letterbox = SlowLetterbox()
    with writing(dovecot, tmp_path, "mcp", letterbox=letterbox) as writer:
        async with bridging(writer.gateway.url, writer.gateway.tokens["all"]) as bridge:
            await bridge.says(send(1))
            assert await asyncio.to_thread(letterbox.taken.wait, 20)
            await bridge.says({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            assert (await bridge.asks("ping", identifier=2))["id"] == 2
            await bridge.says(send(3))
            letterbox.go_on.set()
            answer = await bridge.hears()
            assert await bridge.ends() == (0, b"", b"")
        assert answer["id"] == 3
        told = answer["result"]["structuredContent"]
        assert (told["outcome"], told["repeated"]) == ("accepted", True)
        assert len(writer.letters) == 1
        outcomes = [one["outcome"] for one in writer.ask("audit_log", action="mcp.send")["records"]]
        assert outcomes == ["ok", "ok"]


async def test_a_client_that_goes_in_the_middle_of_a_send_still_gets_its_answer(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    letterbox = SlowLetterbox()
    with writing(dovecot, tmp_path, "mcp", letterbox=letterbox) as writer:
        async with bridging(writer.gateway.url, writer.gateway.tokens["all"]) as bridge:
            await bridge.says(request("ping", identifier=1), call("send", LETTER, 2))
            assert await asyncio.to_thread(letterbox.taken.wait, 20)
            assert bridge.process.stdin is not None
            bridge.process.stdin.close()
            letterbox.go_on.set()
            status, out, err = await bridge.ends()
    answers = {message["id"]: message["result"] for message in map(json.loads, out.splitlines())}
    assert (status, err) == (0, b"")
    assert answers[2]["structuredContent"]["outcome"] == "accepted"
