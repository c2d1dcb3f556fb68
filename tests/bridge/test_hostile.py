"""Whatever a client writes and whatever a server answers: each line out is one JSON-RPC message, and nothing falls."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.bridge.answer import check_notice, client_lines
from postroom.bridge.carrying import Carrier
from postroom.bridge.exchange import HttpAnswer
from postroom.bridge.faults import Unanswered
from postroom.bridge.message import Headers, Request, Unusable, read_message

DEEP = b'{"a":' * 400 + b"1" + b"}" * 400
"""orjson reads it and does not write it."""

texts = st.text(st.characters(codec="utf-8"), max_size=12)
leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | texts
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
ids = st.sampled_from([0, 1, -1, "1", "", True, None, 1.0, 2**63, [], {}]) | leaves


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """Nearly JSON-RPC, in every way that it can be wrong."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2, None]),
        "id": ids,
        "method": st.sampled_from(["ping", "initialize", "tools/call", "notifications/cancelled", "notifications/x", 5])
        | texts,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "requestId": ids,
                "name": values,
                "_meta": st.dictionaries(st.just("io.modelcontextprotocol/protocolVersion"), values) | values,
                "protocolVersion": values,
            },
        )
        | values,
        "result": values,
        "error": st.fixed_dictionaries({"code": values, "message": values}) | values,
    }
    told = draw(st.fixed_dictionaries({}, optional=fields))
    line = json.dumps(told).encode()
    return draw(st.sampled_from([line, line[:-1], line.replace(b"null", DEEP), b"[" + line + b"]"]) | st.binary())


def one_message(line: bytes) -> dict[str, Any]:
    assert b"\n" not in line
    assert b"\r" not in line
    message: dict[str, Any] = orjson.loads(line)
    assert message["jsonrpc"] == "2.0"
    return message


@settings(max_examples=300, deadline=None)
@given(line=messages())
def test_a_line_is_a_message_or_a_refusal_and_headers_are_headers(line: bytes) -> None:
    refused, message = b"", None
    try:
        message = read_message(line, "2025-11-25")
    except Unusable as fault:
        refused = fault.line
    assert not refused or one_message(refused)["error"]["code"] in (-32700, -32600)
    for _, value in getattr(message, "headers", ()):
        assert value.isascii()
        assert value.isprintable()
        assert value.strip() == value


@settings(max_examples=300, deadline=None)
@given(
    status=st.sampled_from([200, 202, 204, 307, 400, 401, 404, 421, 429, 500, 503]),
    kind=st.sampled_from(["application/json", "text/event-stream", "text/html", ""]),
    body=messages() | st.lists(messages().map(lambda line: b"data: " + line + b"\n\n")).map(b"".join),
    identifier=st.sampled_from([1, "1", ""]),
)
def test_an_answer_is_whole_lines_of_which_the_last_is_the_answer(
    status: int, kind: str, body: bytes, identifier: str | int
) -> None:
    answer = HttpAnswer(status, kind, body)
    with suppress(Unanswered):
        check_notice(answer)
    try:
        lines = client_lines(answer, identifier)
    except Unanswered as fault:
        lines = [fault.line(identifier)]
    *notices, last = [one_message(line) for line in lines]
    assert all("id" not in notice for notice in notices)
    assert (type(last["id"]), last["id"]) == (type(identifier), identifier)
    assert ("result" in last) != ("error" in last)


@settings(max_examples=300, deadline=None)
@given(lines=st.lists(messages() | st.none(), max_size=20), bodies=st.lists(messages(), min_size=1, max_size=4))
def test_any_conversation_ends_and_each_call_has_at_most_one_answer(
    lines: list[bytes | None], bodies: list[bytes]
) -> None:
    written: list[bytes] = []

    async def given_lines() -> AsyncIterator[bytes | None]:
        for line in lines:
            yield line
            await asyncio.sleep(0)

    async def post(headers: Headers, line: bytes) -> HttpAnswer:
        await asyncio.sleep(0)
        return HttpAnswer(200, "application/json", bodies[len(line) % len(bodies)])

    async def write(line: bytes) -> None:
        written.extend(line.split(b"\n"))

    asyncio.run(Carrier(post, write, lambda sentence: None).carry(given_lines()))
    asked: Counter[str] = Counter()
    for line in lines:
        with suppress(Unusable):
            message = read_message(line or b"", None)
            if isinstance(message, Request):
                asked[repr(message.id)] += 1
    answered = Counter(
        repr(message["id"]) for message in map(one_message, written) if "id" in message and message["id"] is not None
    )
    errors = [one_message(line).get("error") for line in written]
    refused = sum(isinstance(error, dict) and error.get("code") == -32600 for error in errors)
    assert (answered - asked).total() <= refused


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":null,"error":' + DEEP + b"}",
        b'{"error":{"code":"x","message":"y","details":' + DEEP + b"}}",
        b'{"jsonrpc":"2.0","id":1,"error":' + DEEP + b"}",
    ],
)
def test_an_answer_that_is_too_deep_to_be_written_again_is_still_an_answer(body: bytes) -> None:
    answer = HttpAnswer(400, "application/json", body)
    try:
        (line,) = client_lines(answer, 1)
    except Unanswered as fault:
        line = fault.line(1)
    assert one_message(line)["id"] == 1
