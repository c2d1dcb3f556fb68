"""Servers that break, hang or lie: each costs one clear error within its deadline, and the next request works."""

from __future__ import annotations

import asyncio
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.servers.gateway import Gateway, running_gateway
from tests.servers.mail import plain
from tests.servers.peer import Conversation, Listening, Peer, listening

COMMAND_SECONDS = 2
LIMITS = f"limits: {{connect_seconds: 2, command_seconds: {COMMAND_SECONDS}}}"


@contextmanager
def peer_thread(*conversations: Conversation) -> Iterator[Listening]:
    """The scripted peer in an event loop of its own, since the gateway has another."""
    ready, stop = threading.Event(), threading.Event()
    states: list[Listening] = []

    async def run() -> None:
        async with listening(*conversations) as state:
            states.append(state)
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait()
    try:
        yield states[0]
    finally:
        stop.set()
        thread.join()


@contextmanager
def gateway_before(folder: Path, *conversations: Conversation) -> Iterator[tuple[Gateway, Listening]]:
    with peer_thread(*conversations) as peer:
        login = "username: u, password: p, connections: 1"
        mailbox = f"  - name: work\n    imap: {{host: 127.0.0.1, port: {peer.port}, tls: none, {login}}}"
        with running_gateway(folder, mailbox, {"all": ("read, admin", "work")}, LIMITS) as gateway:
            yield gateway, peer


async def ordinary(peer: Peer) -> None:
    """A server with one message, UID 5."""
    await peer.lets_in()
    message = plain("Ordinary")
    header, _, _ = message.partition(b"\r\n\r\n")
    while True:
        line = await peer.hears()
        tag, _, command = line.partition(b" ")
        if command.startswith(b"EXAMINE"):
            await peer.says(b"* 1 EXISTS", b"* OK [UIDVALIDITY 17] ok", b"* OK [UIDNEXT 6] ok")
        elif b"HEADER.FIELDS" in command:
            block = header + b"\r\n\r\n"
            start = b"* 1 FETCH (UID 5 FLAGS () RFC822.SIZE %d BODY[HEADER.FIELDS (FROM)] {%d}\r\n"
            peer.writer.write(start % (len(message), len(block)) + block + b")\r\n")
        elif b"BODY.PEEK[]" in command:
            start = b"* 1 FETCH (UID 5 FLAGS () RFC822.SIZE %d BODY[]<0> {%d}\r\n"
            peer.writer.write(start % (len(message), len(message)) + message + b")\r\n")
        await peer.says(tag + b" OK done")


def answering_fetch_with(*octets: bytes, then: Callable[[Peer], object] = Peer.hangs) -> Conversation:
    """A server that lets in, opens INBOX with one message, and answers the next FETCH as told."""

    async def conversation(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens(exists=1, uid_next=6)
        await peer.hears()
        for chunk in octets:
            peer.writer.write(chunk)
            await peer.writer.drain()
        await then(peer)  # type: ignore[misc]

    return conversation


BREAKS = {
    "drops-inside-a-literal": (answering_fetch_with(b"* 1 FETCH (UID 5 BODY[] {100}\r\nhalf", then=Peer.goes), "lost"),
    "hangs": (answering_fetch_with(), "timeout"),
    "sends-a-line-of-10-mb": (
        answering_fetch_with(*[b"* 1 FETCH (UID 5 BODYSTRUCTURE " + b"x" * 65536] * 160),
        "protocol",
    ),
    "announces-4-gb": (answering_fetch_with(b"* 1 FETCH (UID 5 BODY[] {4294967295}\r\n"), "protocol"),
    "says-bye": (answering_fetch_with(b"* BYE shutting down\r\n", then=Peer.goes), "lost"),
    "answers-another-tag": (answering_fetch_with(b"P999 OK done\r\n"), "protocol"),
    "speaks-something-else": (answering_fetch_with(b"\x16\x03\x01\x02\r\n"), "protocol"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_server_that_breaks_costs_one_clear_error_and_the_next_request_works(name: str, tmp_path: Path) -> None:
    conversation, reason = BREAKS[name]
    with gateway_before(tmp_path, conversation, ordinary) as (gateway, _):
        started = time.monotonic()
        failed = gateway.get("/mailboxes/work/messages/5")
        assert time.monotonic() - started < COMMAND_SECONDS + 2
        assert failed.status_code == 502
        error = failed.json()["error"]
        assert (error["code"], error["details"]["reason"]) == ("imap_error", reason)
        assert error["details"]["mailbox"] == "work"
        assert gateway.get("/mailboxes/work/messages/5").json()["subject"] == "Ordinary"


def test_a_server_that_never_greets_costs_the_connect_deadline_and_the_next_request_works(tmp_path: Path) -> None:
    with gateway_before(tmp_path, Peer.hangs, ordinary) as (gateway, _):
        assert gateway.get("/mailboxes/work/messages").json()["error"]["details"]["reason"] == "timeout"
        assert gateway.get("/mailboxes/work/messages").json()["messages"][0]["subject"] == "Ordinary"


def test_a_refused_login_is_told_with_what_to_do_and_is_not_tried_again(tmp_path: Path) -> None:
    async def refuses(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] hi")
        await peer.answers(status=b"NO [AUTHENTICATIONFAILED] no")

    with gateway_before(tmp_path, refuses) as (gateway, peer):
        for _ in range(5):
            error = gateway.get("/mailboxes/work/messages").json()["error"]
            assert error["details"] == {"reason": "login_refused", "mailbox": "work", "retryable": False}
            assert "app password" in error["message"]
        assert peer.connections == 1


def test_one_garbled_message_is_listed_as_unreadable_and_takes_no_other_with_it(tmp_path: Path) -> None:
    async def garbles(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens(exists=2, uid_next=6)
        row = b"Subject: Fine\r\n\r\n"
        await peer.answers(
            b"* 1 FETCH (UID 4 FLAGS () BODY[HEADER.FIELDS (FROM)] {%d}" % len(row),
            row + b")",
            b"* 2 FETCH (UID 5 FLAGS () BODYSTRUCTURE ((NIL)",
        )
        await peer.answers(b"* 2 FETCH (UID 5 FLAGS ()")
        await peer.answers(b"* SEARCH")

    with gateway_before(tmp_path, garbles) as (gateway, _):
        answer = gateway.get("/mailboxes/work/messages").json()
    assert [(row["uid"], row["subject"]) for row in answer["messages"]] == [("5-17", None), ("4-17", "Fine")]
    assert answer["complete"] is False
    assert "could not be read" in answer["incomplete_reason"]


def many_parts(count: int) -> bytes:
    head = b"From: d@example.org\r\nSubject: Many parts\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    return head + b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n" * count + b"--b--\r\n"


def nested_parts(count: int) -> bytes:
    head = b"From: d@example.org\r\nSubject: Nested\r\n"
    opened = b"".join(b"Content-Type: multipart/mixed; boundary=x%dx\r\n\r\n--x%dx\r\n" % (n, n) for n in range(count))
    closed = b"".join(b"--x%dx--\r\n" % n for n in reversed(range(count)))
    return head + opened + b"Content-Type: text/plain\r\n\r\nBottom.\r\n" + closed


@pytest.mark.parametrize(
    ("message", "subject"),
    [(many_parts(50_000), "Many parts"), (nested_parts(2_000), "Nested")],
    ids=["50000-parts", "2000-nested"],
)
def test_a_message_of_too_many_parts_still_gives_its_head_in_bounded_time_and_memory(
    message: bytes, subject: str, gateway: Gateway, dovecot: object, request: pytest.FixtureRequest
) -> None:
    dovecot.deliver("strict", [message])  # type: ignore[attr-defined]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    (row,) = gateway.get("/mailboxes/strict/messages", limit=1).json()["messages"]
    assert row["subject"] == subject
    answer = gateway.get(f"/mailboxes/strict/messages/{row['uid']}").json()
    assert answer["subject"] == subject
    assert time.monotonic() - started < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024
    assert gateway.get("/mailboxes/strict/messages").status_code == 200


def test_a_server_that_leaves_at_id_and_knows_no_noop_is_healthy_and_can_be_read_twice(tmp_path: Path) -> None:
    async def odd(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 ID")
        message = plain("Odd")
        header, _, _ = message.partition(b"\r\n\r\n")
        while True:
            tag, _, command = (await peer.hears()).partition(b" ")
            if command.startswith(b"ID"):
                return
            if command.startswith(b"EXAMINE"):
                await peer.says(b"* OK [UIDVALIDITY 17] ok", b"* 1 EXISTS", b"", b"* OK [UIDNEXT 0] ok")
            elif b"FETCH" in command:
                start = b"* 9 FETCH (body[header.fields (from)] {%d}\r\n%s flags \\Seen uid 5)\r\n"
                peer.writer.write(start % (len(header) + 4, header + b"\r\n\r\n"))
            await peer.says(tag + (b" BAD unknown" if command == b"NOOP" else b" OK"))

    with gateway_before(tmp_path, odd) as (gateway, _):
        assert gateway.get("/health/mailboxes").json()["mailboxes"][0]["imap"]["ok"] is True
        for _ in range(2):
            (row,) = gateway.get("/mailboxes/work/messages").json()["messages"]
            assert (row["uid"], row["subject"]) == ("5-17", "Odd")


@pytest.mark.parametrize("path", ["/mailboxes/work/messages/5", "/mcp"])
def test_who_hangs_up_leaves_the_connection_to_the_next(path: str, tmp_path: Path) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call |= {"params": {"name": "get_message", "arguments": {"uid": "5"}}}
    with gateway_before(tmp_path, answering_fetch_with(), ordinary) as (gateway, _), gateway.http() as impatient:
        impatient.timeout = 0.3
        with pytest.raises(httpx2.ReadTimeout):
            impatient.post(path, json=call) if path == "/mcp" else impatient.get(path)
        started = time.monotonic()
        assert gateway.get("/mailboxes/work/messages/5").json()["subject"] == "Ordinary"
        assert time.monotonic() - started < COMMAND_SECONDS - 0.5


def test_who_still_waits_when_the_gateway_stops_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.surfaces.serving.GRACE_SECONDS", 1)
    monkeypatch.setattr(f"{__name__}.LIMITS", "limits: {command_seconds: 20}")
    answers: list[httpx2.Response] = []
    asked = threading.Event()

    async def hangs_when_asked(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens(exists=1, uid_next=6)
        await peer.hears()
        asked.set()
        await peer.hangs()

    with gateway_before(tmp_path, hangs_when_asked) as (gateway, _):
        asking = threading.Thread(target=lambda: answers.append(gateway.get("/mailboxes/work/messages/5")))
        asking.start()
        assert asked.wait(timeout=10)
    asking.join()
    (answer,) = answers
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "5"
