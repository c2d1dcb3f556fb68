"""What is measured: each job once as raw IMAP and once as a call of the product, and how far apart they may be."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from bench import corpus
from bench.clients import Http, Mcp
from bench.corpus import Places
from bench.floor import Floor


@dataclass(frozen=True, slots=True)
class Get:
    """A call over HTTP. `{sample}`, `{file}` and `{root}` in its path are UIDs in the large mailbox."""

    path: str

    def __call__(self, http: Http, places: Places) -> bytes:
        return http.get(self.path.format(sample=places.sample, file=places.file, root=places.thread[0]))


@dataclass(frozen=True, slots=True)
class Tool:
    """A call of a tool over MCP, or a look at the list of tools without a name."""

    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, http: Http, _places: Places) -> bytes:
        mcp = Mcp(http)
        return mcp.call(self.name, dict(self.arguments)) if self.name else mcp.request("tools/list")


@dataclass(frozen=True, slots=True)
class Post:
    """A call over HTTP with the same arguments each time."""

    path: str
    arguments: Mapping[str, Any]

    def __call__(self, http: Http, _places: Places) -> bytes:
        return http.post(self.path, json.dumps(self.arguments).encode())


@dataclass(frozen=True, slots=True)
class Toggle:
    """A call over HTTP that says yes and no by turns, so that there is something to change each time."""

    path: str
    argument: str
    turns: Iterator[bool] = field(default_factory=lambda: itertools.cycle((True, False)))

    def __call__(self, http: Http, _places: Places) -> bytes:
        return http.post(self.path, json.dumps({self.argument: next(self.turns)}).encode())


@dataclass(slots=True)
class RelayRead:
    """The relay's reading of the sample message, which it finds in its own lists by its subject."""

    uid: str = ""

    def __call__(self, http: Http, _places: Places) -> bytes:
        mcp = Mcp(http)
        self.uid = self.uid or _relay_uid(mcp, corpus.SAMPLE_SUBJECT)
        return mcp.call("read_message", {"folder": "INBOX", "uid": self.uid})


def _relay_uid(mcp: Mcp, subject: str) -> str:
    arguments: dict[str, Any] = {"folder": "INBOX"}
    while True:
        page = mcp.answer("list_messages", arguments)
        for row in page["messages"]:
            if row.get("subject") == subject:
                return str(row["uid"])
        arguments["cursor"] = page["next_cursor"]


@dataclass(frozen=True, slots=True)
class Sample:
    """The reading of the same message by a token whose mailboxes are whole."""

    def __call__(self, http: Http, places: Places) -> bytes:
        return Mcp(http).call("get_message", {"mailbox": "big", "uid": str(places.sample)})


Ask = Callable[[Http, Places], bytes]


@dataclass(frozen=True, slots=True)
class Job:
    """One line of the table; a job is added by adding it to `JOBS`, and a method to the floor."""

    name: str
    what: str
    ask: Ask
    floor: Callable[[Floor], None] | None = None
    """None where there is no mail in it: then the product's own time counts."""
    at_most: float | None = None
    """Times the floor's median, or milliseconds where there is no floor."""
    caches: bool = True
    relay: bool = False
    """It is a call of a relay token."""
    beside: Ask | None = None
    """A call of a token whose mailboxes are whole, which stands for the floor."""
    commits: int | None = None
    """What must be on the disk, one after the other, before the answer; None where that is not looked at."""
    rows: int = 0
    """Messages that must be in the answer, if the mailboxes have so many."""


def _newest_small(floor: Floor) -> None:
    floor.newest("u01")


_SEARCH = urlencode({"from": corpus.FOUND_FROM, "subject": corpus.FOUND_SUBJECT, "since": corpus.FOUND_SINCE})
_LIST = Get("/mailboxes/big/messages?limit=50")
_SEND = {"to": [corpus.SENT_TO], "subject": "A plain message", "body_text": corpus.SENT_TEXT}
_SMALL = "mailbox=" + "%2C".join(f"u{number:02}" for number in range(1, 11))

WITHOUT_MAIL = Get("/mailboxes")
"""A call that asks no mail server: what every call goes through."""

JOBS = (
    Job("J1", "newest 50 of a large inbox", _LIST, Floor.newest, 2, rows=50),
    Job("J1 uncached", "the same, with caches that keep nothing", _LIST, Floor.newest, 12, caches=False, rows=50),
    Job("J1 small", "newest 50 of a small inbox", Get("/mailboxes/u01/messages?limit=50"), _newest_small, 2, rows=50),
    Job("J2", "read a message: text, 40 kB of HTML, and a file that stays", Get("/mailboxes/big/messages/{sample}"),
        Floor.read, 8),
    Job("J3", "search by sender, subject and day, newest 50", Get(f"/mailboxes/big/search?limit=50&{_SEARCH}"),
        Floor.search, rows=1),
    Job("J4", "newest 50 of ten inboxes as one", Get(f"/inbox?limit=50&{_SMALL}"), Floor.newest_of_each, 1, rows=50),
    Job("J5", "send a message and keep a copy in Sent", Post("/mailboxes/u01/send", _SEND), Floor.send, 2.5, commits=3),
    Job("J6", "mark a message as seen, or as unseen", Toggle(f"/mailboxes/u02/messages/{corpus.MARKED}/seen", "seen"),
        Floor.mark, 6, commits=1),
    Job("J7", "download a file of 5 MB", Get("/mailboxes/big/messages/{file}/attachments/2"), Floor.download),
    Job("J8", "read a conversation of 20, asking two folders for news", Get("/mailboxes/big/messages/{root}/thread"),
        Floor.thread, 2, commits=0, rows=1),
    Job("J10", "MCP: list the tools", Tool(), at_most=1),
    Job("J11", "relay: newest 20 of a large inbox; the floor is the same for a whole token",
        Tool("list_messages", {"folder": "INBOX"}), at_most=3, relay=True,
        beside=Tool("list_messages", {"mailbox": "big"}), rows=20),
    Job("J12", "relay: read a message of text, 40 kB of HTML and a file; the floor likewise", RelayRead(), at_most=3,
        relay=True, beside=Sample()),
    Job("J10 call", "MCP: a call that needs no mail server", Tool("mailboxes")),
)  # fmt: skip
