"""A case's mailbox watched for some seconds, by the event stream and by calls that wait: what was heard of."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from tests.cases.judge import Answer
from tests.cases.serving import Served


def streamed(mailbox: str, arguments: Mapping[str, Any], corpus: Served) -> Answer:
    """The first message that the event stream tells of, within the case's time."""
    until = time.monotonic() + arguments["seconds"]
    query = {"mailbox": mailbox, "folder": arguments["folder"]}
    with corpus.gateway.http() as client, client.stream("GET", "/events", params=query) as response:
        assert response.status_code == 200, response.read()
        for event in _events(response.iter_lines()):
            if event["type"] == "message.received":
                return {"events": [_read(mailbox, event["type"], event["data"]["uid"], corpus)]}
            if time.monotonic() > until:
                break
    return {"events": []}


def waited_for(mailbox: str, arguments: Mapping[str, Any], corpus: Served) -> Answer:
    """The first messages that an inbox call waits for."""
    where = {"mailbox": mailbox, "folder": arguments["folder"]}
    cursor = corpus.gateway.call("inbox", {**where, "checkpoint": True})["cursor"]
    page = corpus.gateway.call("inbox", {**where, "since_cursor": cursor, "wait_seconds": arguments["seconds"]})
    return {"events": [{"type": "message.received", "subject": row["subject"]} for row in page["messages"]]}


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """With each sign of life too, as an event of no type."""
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))
        elif line.startswith(":"):
            yield {"type": ""}


def _read(mailbox: str, kind: str, uid: str, corpus: Served) -> Answer:
    return {"type": kind, "subject": corpus.gateway.get(f"/mailboxes/{mailbox}/messages/{uid}").json()["subject"]}
