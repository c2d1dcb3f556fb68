"""The product itself, started from a configuration file in a thread of its own and asked over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import io
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from postroom.app import run as run_program
from postroom.app import running
from postroom.base.clock import Clock, SystemClock
from postroom.base.logs import Log
from postroom.base.token import mint, token_hash
from postroom.config import load
from postroom.policy.trials import faults_of
from tests.servers import stores

_SECONDS = 60.0
_UNUSED_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""No TLS is spoken; without this each client reads the system's certificates, which takes 30 ms."""


@dataclass
class Gateway:
    url: str
    tokens: Mapping[str, str]
    log: io.StringIO = field(default_factory=io.StringIO)
    reload: Callable[[], None] = lambda: None
    """Has the configuration's file read again, as SIGHUP does."""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def mcp_url(self) -> str:
        return f"{self.url}/mcp"

    def http(self, token: str | None = "all") -> httpx2.Client:
        """A client with that token's bearer; None sends none."""
        headers = {"Authorization": f"Bearer {self.tokens[token]}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=_SECONDS, verify=_UNUSED_TLS)

    def get(self, path: str, token: str | None = "all", **query: Any) -> httpx2.Response:
        with self.http(token) as client:
            return client.get(path, params=query)

    def mcp(self, method: str, params: dict[str, Any] | None = None, token: str = "all") -> dict[str, Any]:
        """One legacy-era MCP request; the answer's result."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        with self.http(token) as client:
            response = client.post("/mcp", json=body, headers={"Accept": "application/json, text/event-stream"})
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        message = httpx2.Response(200, text=response.text.split("data: ", 1)[1].strip()).json()
        return dict(message["result"])

    def call(self, tool: str, arguments: dict[str, Any], token: str = "all") -> dict[str, Any]:
        """A tool call's answer, which both channels give alike."""
        result = self.mcp("tools/call", {"name": tool, "arguments": arguments}, token)
        text = httpx2.Response(200, text=result["content"][0]["text"]).json()
        assert text == result["structuredContent"]
        return dict(result["structuredContent"])


@contextlib.contextmanager
def running_gateway(
    folder: Path, mailboxes: str, tokens: Mapping[str, tuple[str, str]], limits: str = "", server: str = ""
) -> Iterator[Gateway]:
    """A gateway from YAML: `mailboxes` is a list's text, `tokens` are scopes and mailboxes by name."""
    with gateway_thread(*written(folder, mailboxes, tokens, limits, server)) as gateway:
        yield gateway


def written(
    folder: Path, mailboxes: str, tokens: Mapping[str, tuple[str, str]], limits: str = "", server: str = ""
) -> tuple[Path, Mapping[str, str]]:
    """The configuration file of such a gateway, and its tokens by name."""
    minted = {name: mint().text.reveal() for name in tokens}
    lines = [
        f"  - {{name: {name}, token_hash: '{token_hash(minted[name])}', scopes: [{scopes}], mailboxes: [{boxes}]}}"
        for name, (scopes, boxes) in tokens.items()
    ]
    path = folder / "postroom.yaml"
    path.write_text(
        f"server: {{listen: '127.0.0.1:0', public_url: 'http://localhost:8000'{server}}}\n{limits}\n"
        f"{stores.setting_of(folder / 'state')}\n"
        f"mailboxes:\n{mailboxes}\ntokens:\n" + "\n".join(lines) + "\n"
    )
    path.chmod(0o600)
    return path, minted


@contextlib.contextmanager
def gateway_thread(config_file: Path, tokens: Mapping[str, str], clock: Clock | None = None) -> Iterator[Gateway]:
    """The gateway of a configuration file in an event loop of its own; whatever it raises is raised here."""
    started: list[Gateway] = []
    failed: list[BaseException] = []
    ready, stop = threading.Event(), threading.Event()

    async def run() -> None:
        log = io.StringIO()
        time = clock or SystemClock()
        read = partial(load, config_file, trials=faults_of)
        async with running(read(), clock=time, log=Log(time, log), read_again=read) as process:
            loop = asyncio.get_running_loop()

            async def again() -> None:
                await process.reload()

            started.append(
                Gateway(process.url, tokens, log, lambda: asyncio.run_coroutine_threadsafe(again(), loop).result())
            )
            ready.set()
            await asyncio.to_thread(stop.wait)

    def main() -> None:
        try:
            run_program(run())
        except BaseException as error:  # noqa: BLE001 - told to the test's thread below
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=main)
    thread.start()
    ready.wait()
    try:
        if failed:
            raise failed[0]
        yield started[0]
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]
