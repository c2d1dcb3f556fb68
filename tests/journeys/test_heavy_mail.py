"""Mail made to be heavy: it may cost its reader time, never everybody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.dovecot import Dovecot
from tests.servers.gateway import Gateway

PATIENCE = 1.5
"""Seconds that /health may take meanwhile, on a busy machine of two cores."""


@contextmanager
def others_are_served(gateway: Gateway) -> Iterator[None]:
    """Ask for /health all the while; the slowest answer must stay within `PATIENCE`."""
    slowest, stop = [0.0], threading.Event()

    def ask() -> None:
        with gateway.http(None) as client:
            while not stop.is_set():
                started = time.monotonic()
                client.get("/health")
                slowest[0] = max(slowest[0], time.monotonic() - started)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        stop.set()
        asking.join()
    assert slowest[0] < PATIENCE


def many_files(count: int) -> bytes:
    part = b'--b\r\nContent-Type: application/pdf; name="a.pdf"\r\nContent-Disposition: attachment\r\n\r\nx\r\n'
    return b"Subject: Files\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + part * count + b"--b--\r\n"


def test_a_page_of_messages_with_hundreds_of_files_each_is_listed_and_holds_nobody_up(
    gateway: Gateway, dovecot: Dovecot
) -> None:
    dovecot.create("work", "Files")
    dovecot.deliver("work", [many_files(900)] * 80, "Files")
    with others_are_served(gateway):
        page = gateway.get("/mailboxes/work/messages", folder="Files", limit=100).json()
    assert (len(page["messages"]), page["complete"]) == (80, True)
    assert all(row["has_attachments"] for row in page["messages"])


def test_rows_with_thousands_of_recipients_are_cut_and_say_so_and_the_message_has_all(
    gateway: Gateway, dovecot: Dovecot
) -> None:
    people = b",\r\n ".join(b"p%d@example.org" % number for number in range(1_500))
    letter = b"Subject: Crowd\r\nTo: " + people + b"\r\n\r\nHello.\r\n"
    dovecot.create("work", "Crowd")
    dovecot.deliver("work", [letter] * 100, "Crowd")
    with others_are_served(gateway):
        rows = gateway.get("/mailboxes/work/messages", folder="Crowd", limit=100).json()["messages"]
    assert {(len(row["to"]), row["left_out"]["to"]) for row in rows} == {(200, 1_300)}
    message = gateway.get(f"/mailboxes/work/messages/{rows[0]['uid']}", folder="Crowd").json()
    assert len(message["to"]) == 1_500


def test_a_call_of_megabytes_is_refused_before_it_is_understood(gateway: Gateway) -> None:
    with gateway.http() as client, others_are_served(gateway):
        for path in ("/mcp", "/mailboxes/work/messages/read"):
            body = b'{"uids": [' + b"[]," * 1_000_000 + b"[]]}"
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
        long_list = client.post("/mailboxes/work/messages/read", json={"uids": "1," * 20_000})
    assert long_list.json()["error"]["code"] == "validation_error"
