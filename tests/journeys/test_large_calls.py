"""Calls with files in them: up to `limits.request_max_bytes` on every way in, and nobody else waits for them."""

from __future__ import annotations

import base64
import gc
import threading
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from postroom.operations.outgoing import Data
from tests.bridge.stdio import bridging, call
from tests.journeys.correspondence import Writer, writing
from tests.journeys.test_heavy_mail import others_are_served
from tests.servers.dovecot import Dovecot
from tests.servers.gateway import running_gateway
from tests.servers.ports import refusing_port
from tests.surfaces.wire import JSON

FILE = bytes(range(256)) * 40_000
"""Ten megabytes."""


def letter(size: int = len(FILE)) -> dict[str, Any]:
    file = {"filename": "a.bin", "data_base64": base64.b64encode(FILE[:size]).decode()}
    return {"to": ["ben@example.org"], "subject": "A file", "body_text": "See file.", "attachments": [file]}


def delivered(writer: Writer) -> bytes:
    """The file of the last message that the submission server was given."""
    content = writer.letters[-1].content
    assert isinstance(content, bytes)
    (part,) = [part for part in message_from_bytes(content).walk() if part.get_filename()]
    return bytes(part.get_payload(decode=True))


@pytest.mark.parametrize("surface", ["http", "mcp"])
def test_a_file_of_megabytes_is_sent_while_others_are_served(dovecot: Dovecot, tmp_path: Path, surface: str) -> None:
    with writing(dovecot, tmp_path, surface) as writer:
        with others_are_served(writer.gateway):
            answer = writer.ask("send", **letter())
        assert answer["outcome"] == "accepted"
        assert delivered(writer) == FILE


@pytest.mark.anyio
async def test_a_file_of_megabytes_goes_over_the_bridge(dovecot: Dovecot, tmp_path: Path) -> None:
    with writing(dovecot, tmp_path, "mcp") as writer:
        async with bridging(writer.gateway.url, writer.gateway.tokens["all"]) as bridge:
            await bridge.says(call("send", letter()))
            answer = await bridge.hears()
        assert answer["result"]["structuredContent"]["outcome"] == "accepted"
        assert delivered(writer) == FILE


def test_more_large_calls_than_have_a_place_wait_for_one(dovecot: Dovecot, tmp_path: Path) -> None:
    with writing(dovecot, tmp_path) as writer:
        outcomes: list[str] = []

        def send(number: int) -> None:
            outcomes.append(writer.ask("send", **letter(1_500_000 + number))["outcome"])

        senders = [threading.Thread(target=send, args=(number,)) for number in range(9)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        assert outcomes == ["accepted"] * 9


@pytest.mark.parametrize("path", ["/mcp", "/mailboxes/work/send"])
@pytest.mark.parametrize("filler", [b"[],", b"{},", b"1,", b'",",'])
def test_a_large_call_of_many_values_is_refused_before_it_is_understood(
    dovecot: Dovecot, tmp_path: Path, path: str, filler: bytes
) -> None:
    body = b'{"to": [' + filler * (8_000_000 // len(filler)) + b"1]}"
    with writing(dovecot, tmp_path) as writer, writer.gateway.http() as client, others_are_served(writer.gateway):
        answer = client.post(path, content=body, headers=JSON)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
        assert answer.json()["error"]["message"].startswith("A request of more than 1,000,000 octets may hold 500,000")


def test_the_bound_of_the_configuration_holds(dovecot: Dovecot, tmp_path: Path) -> None:
    with writing(dovecot, tmp_path, limits="limits: {request_max_bytes: 2000000}") as writer:
        assert writer.ask("send", **letter(1_200_000))["outcome"] == "accepted"
        error = writer.ask("send", **letter(1_600_000))["error"]
        assert (error["code"], error["details"]) == ("too_large", {"limit": 2_000_000})


@pytest.mark.parametrize("argument", ["to", "attachments"])
@pytest.mark.parametrize("filler", [r"1\u002c", r"\u005b\u005d\u002c"])
def test_many_values_within_a_text_are_refused_too(
    dovecot: Dovecot, tmp_path: Path, argument: str, filler: str
) -> None:
    body = f'{{"{argument}": "[{filler * (8_000_000 // len(filler))}1]"}}'
    with writing(dovecot, tmp_path) as writer, writer.gateway.http() as client, others_are_served(writer.gateway):
        answer = client.post("/mailboxes/work/send", content=body.encode(), headers=JSON)
        error = answer.json()["error"]
    assert (error["code"], error["details"]["argument"]) == ("validation_error", argument)
    assert error["details"]["reason"] == "must be a list, not a text of very many values"


@pytest.mark.parametrize(
    ("argument", "filler"),
    [
        ("body_text", "word "),
        ("body_text", "é\n"),
        ("body_html", "<b>"),
        ("body_html", "&amp;"),
        ("subject", "é\n"),
        ("to", "word "),
        ("idempotency_key", "x"),
    ],
)
def test_a_very_long_text_holds_nobody_up(dovecot: Dovecot, tmp_path: Path, argument: str, filler: str) -> None:
    text = filler * (8_000_000 // len(filler))
    with writing(dovecot, tmp_path) as writer, others_are_served(writer.gateway):
        answer = writer.ask("send", **(letter(10) | {argument: text}))
    if argument.startswith("body"):
        assert answer["outcome"] == "accepted"
        assert len(writer.letters) == 1
    else:
        assert answer["error"]["code"] == "validation_error"


@pytest.mark.parametrize("surface", ["http", "mcp"])
def test_a_call_that_failed_leaves_nothing_of_itself_behind(tmp_path: Path, surface: str) -> None:
    closed = f"{{host: 127.0.0.1, port: {refusing_port()}, tls: none, username: a, password: b}}"
    mailboxes = f"  - {{name: work, address: ana@example.org, imap: {closed}, smtp: {closed}}}"
    with running_gateway(tmp_path, mailboxes, {"all": ("read, send", "work")}) as gateway, gateway.http() as client:
        gc.collect()
        gc.disable()  # what waits for it would be megabytes for each call
        try:
            sent = letter(300_000)
            if surface == "mcp":
                client.post("/mcp", json=call("send", sent))
            else:
                assert client.post("/mailboxes/work/send", json=sent).status_code == 502
            client.get("/health")
            assert [one for one in gc.get_objects() if isinstance(one, Data)] == []
        finally:
            gc.enable()
