"""An answer is read to its bound and not past it."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from postroom.base.http1 import Reply, Request, ask

pytestmark = pytest.mark.anyio


class Wire:
    """Where a request is written to."""

    def __init__(self) -> None:
        self.octets = b""

    def write(self, octets: bytes) -> None:
        self.octets += octets


async def asked(answer: bytes, most: int) -> tuple[Reply, bytes]:
    reader, wire = asyncio.StreamReader(), Wire()
    reader.feed_data(answer)
    reader.feed_eof()
    request = Request("/a", [("Host", "h"), ("Content-Length", "2")], b"{}")
    reply = await ask(reader, cast("asyncio.StreamWriter", wire), request, longest_head=1_000, most=most)
    return reply, wire.octets


@pytest.mark.parametrize(("most", "whole"), [(9, False), (10, True), (11, True)])
@pytest.mark.parametrize("length", ["Content-Length: 10\r\n", ""])
async def test_a_body_past_the_bound_is_cut_and_said_to_be(most: int, whole: bool, length: str) -> None:
    reply, sent = await asked(f"HTTP/1.1 200 OK\r\n{length}X-A: 1\r\nX-A: 2\r\n\r\n0123456789".encode(), most)
    assert (reply.status, reply.body, reply.is_whole) == (200, b"0123456789"[:most], whole)
    assert reply.headers["x-a"] == "2"
    assert sent == b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
