"""The official client as it comes, in each of its modes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from postroom.operations.catalogue import CATALOGUE
from tests.servers.gateway import Gateway

pytestmark = pytest.mark.anyio

ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@asynccontextmanager
async def connected(gateway: Gateway, mode: str, path: str = "/mcp", token: str = "all") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {gateway.tokens[token]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(gateway.url + path, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize("mode", ERAS)
async def test_it_lists_the_tools_and_reads_a_message(gateway: Gateway, mode: str, path: str) -> None:
    async with connected(gateway, mode, path) as client:
        assert client.protocol_version == ERAS[mode]
        assert [tool.name for tool in (await client.list_tools()).tools] == list(CATALOGUE)
        listed = await client.call_tool("list_messages", {"mailbox": "work", "limit": 1})
        assert listed.structured_content is not None
        (row,) = listed.structured_content["messages"]
        read = await client.call_tool("get_message", {"mailbox": "work", "uid": row["uid"]})
        assert not read.is_error
        assert read.structured_content is not None
        assert read.structured_content["subject"] == "Message 2000"
        assert read.structured_content["reader"].strip() == "See file."
        (content,) = read.content
        assert isinstance(content, TextContent)
        assert json.loads(content.text) == read.structured_content


@pytest.mark.parametrize("mode", ERAS)
async def test_it_is_told_of_an_error_as_a_result(gateway: Gateway, mode: str) -> None:
    async with connected(gateway, mode, token="read") as client:
        for name, arguments, code in (
            ("get_massage", {}, "not_found"),
            ("health_check", {}, "permission_denied"),
            ("list_messages", {"mailbox": "work", "limit": 0}, "validation_error"),
            ("list_folders", {"mailbox": "private"}, "not_found"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert result.structured_content is not None
            assert result.structured_content["error"]["code"] == code


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_it_is_told_who_answers_and_where_to_start(gateway: Gateway, mode: str) -> None:
    async with connected(gateway, mode) as client:
        assert client.instructions is not None
        assert client.instructions.startswith("Postroom gives you mailboxes. Start with mailboxes")
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.tools.list_changed is False
        assert client.server_capabilities.resources is None
