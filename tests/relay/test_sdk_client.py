"""The official client with a relay's token, in each of its modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.surfaces.test_sdk_client import ERAS, connected

pytestmark = pytest.mark.anyio
SEVEN = [
    *("list_folders", "list_messages", "search_messages", "read_message", "read_messages"),
    *("send_message", "update_message_flags"),
]
POLICY = """
  desk:
    folders: {default: readable}
    messages: {rules: [{id: payroll, match: {from: "*@payroll.example"}, action: hide}]}
    content: {detectors: {otp: redact}}
"""


@pytest.fixture(scope="module")
def desk(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    with post(tmp_path_factory.mktemp("sdk"), dovecot, Wanted(POLICY)) as standing:
        salary = plain("Salary", sender="Pay <pay@payroll.example>")
        dovecot.deliver(standing.user, [plain("Sign in", "Your verification code is 493817."), salary])
        yield standing


@pytest.mark.parametrize("mode", ERAS)
async def test_it_reads_what_the_policy_shows_and_hears_of_nothing_else(desk: Post, mode: str) -> None:
    async with connected(desk.gateway, mode, token="relay") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == SEVEN

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error
            return result.structured_content or {}

        (row,) = (await call("list_messages", folder="INBOX"))["messages"]
        read = await call("read_message", folder="INBOX", uid=row["uid"])
        assert row["subject"] == "Sign in"
        assert read["text"] == "Your verification code is [redacted:otp]."
        assert (await call("search_messages", folder="INBOX", query='from "payroll"'))["messages"] == []
        unknown = await client.call_tool("get_message", {"uid": row["uid"]})
        assert unknown.is_error
