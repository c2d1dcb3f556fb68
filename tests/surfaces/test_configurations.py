"""A request is answered by the configuration that it began under, whatever is taken in force meanwhile."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from postroom.base.caller import Toolset
from postroom.base.clock import HandClock
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.base.seal import KeyRing, Seal
from postroom.base.token import token_hash
from postroom.config import LimitsConfig, TokenConfig
from postroom.mailbox.directory import Directory
from postroom.operations.perform import Corridor
from postroom.store.database import Database
from postroom.surfaces.application import Application
from postroom.surfaces.authenticate import Authenticator
from postroom.surfaces.documents import Documents
from postroom.surfaces.guard import Guard

pytestmark = pytest.mark.anyio
TOKEN = "a-token-0123456789"
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def posted(application: Application, while_sent: Callable[[], None]) -> tuple[int, bytes]:
    """The answer to `tools/list`; `while_sent` happens after the head of the request was read and before its body."""
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode())]
    headers.append((b"content-type", b"application/json"))
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    told: list[dict[str, Any]] = []
    bodies = [json.dumps(LISTING).encode()]

    async def receive() -> dict[str, Any]:
        if not bodies:
            await asyncio.Event().wait()  # the client stays
        while_sent()
        return {"type": "http.request", "body": bodies.pop(), "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    await application({**scope, "raw_path": b"/mcp", "client": ("127.0.0.1", 1)}, receive, send)
    return told[0]["status"], b"".join(message.get("body", b"") for message in told[1:])


async def test_a_request_ends_as_it_began_and_the_next_one_is_answered_anew(tmp_path: Path) -> None:
    clock = HandClock()
    directory = Directory((), Seal(KeyRing(0, {0: bytes(32)})), clock)
    database = await Database.open(tmp_path / "postroom.sqlite3", insecure_permissions=True)
    log = Log(clock, io.StringIO())
    known = TokenConfig.model_validate({"name": "a", "token_hash": token_hash(TOKEN), "scopes": ["read"]})
    before = Corridor(directory, clock, log, LimitsConfig())
    after = Corridor(directory, clock, log, LimitsConfig(), catalogues={Toolset.MAILBOX: {}, Toolset.RELAY: {}})
    application = Application(
        Guard("http://localhost", (), ()),
        Authenticator([known], (), database, clock),
        before,
        Documents("http://localhost"),
        LimitsConfig(request_max_bytes=1_000_000),
        log,
        Meters(),
    )

    def exchanged() -> None:
        application.serve(Authenticator([], (), database, clock), after)

    try:
        status, body = await posted(application, exchanged)
        assert (status, b"list_messages" in body) == (200, True)
        assert (await posted(application, lambda: None))[0] == 401
    finally:
        await database.close()
