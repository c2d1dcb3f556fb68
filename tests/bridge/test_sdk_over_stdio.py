"""The official client starts the bridge as it starts any server, in each of its modes, before a real gateway."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from postroom.operations.catalogue import CATALOGUE
from tests.bridge.stdio import COMMAND
from tests.servers.gateway import Gateway

pytestmark = pytest.mark.anyio

ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@asynccontextmanager
async def connected(gateway: Gateway, mode: str, token: str = "all") -> AsyncIterator[Client]:
    environment = {"MAIL_TOKEN": gateway.tokens[token], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    arguments = [*COMMAND[1:], "--url", gateway.url, "--token-env", "MAIL_TOKEN"]
    parameters = StdioServerParameters(command=COMMAND[0], args=arguments, env=environment)
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", ERAS)
async def test_it_lists_the_tools_and_reads_a_message(gateway: Gateway, mode: str) -> None:
    async with connected(gateway, mode) as client:
        assert client.protocol_version == ERAS[mode]
        if mode != "2026-07-28":  # pinned to a version, the client does not ask who answers
            assert (client.instructions or "").startswith("Postroom gives you mailboxes.")
        assert [tool.name for tool in (await client.list_tools()).tools] == list(CATALOGUE)
        listed = await client.call_tool("list_messages", {"mailbox": "work", "limit": 1})
        assert listed.structured_content is not None
        (row,) = listed.structured_content["messages"]
        read = await client.call_tool("get_message", {"mailbox": "work", "uid": row["uid"]})
        assert read.structured_content is not None
        assert read.structured_content["subject"] == "Message 2000"


@pytest.mark.parametrize("mode", ERAS)
async def test_errors_of_calls_come_through_as_the_gateway_gives_them(gateway: Gateway, mode: str) -> None:
    async with connected(gateway, mode, "read") as client:
        for name, arguments in (
            ("get_massage", {}),
            ("health_check", {}),
            ("list_messages", {"mailbox": "work", "limit": 0}),
            ("list_folders", {"mailbox": "private"}),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert result.structured_content == gateway.call(name, arguments, "read")


@pytest.mark.parametrize("mode", ERAS)
async def test_calls_run_together_and_a_slow_one_holds_nobody_up(gateway: Gateway, mode: str) -> None:
    cursor = gateway.call("inbox", {"mailbox": "work", "checkpoint": True})["cursor"]
    async with connected(gateway, mode) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "inbox", {"mailbox": "work", "since_cursor": cursor, "wait_seconds": 60})
        for _ in range(3):
            assert not (await client.call_tool("list_folders", {"mailbox": "work"})).is_error
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_refused_token_is_told_with_what_to_do(gateway: Gateway, mode: str) -> None:
    stranger = replace(gateway, tokens={"wrong": "psr_a_0000000000_wrong"})
    with pytest.raises((MCPError, ExceptionGroup)) as caught:
        async with connected(stranger, mode, "wrong") as client:
            await client.list_tools()
    assert (
        caught.group_contains(MCPError, match="it is wrong, expired or revoked")
        if isinstance(caught.value, ExceptionGroup)
        else "it is wrong, expired or revoked" in str(caught.value)
    )
